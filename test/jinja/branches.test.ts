import { describe, expect, test } from 'vitest'
import { branchesOf, type Outcome, render } from '../../src/jinja/index.ts'

const greeting =
  '{% if contact.first_name %}Hello {{ contact.first_name | title }}{% else %}Good day{% endif %}, {% if visit.days == 0 %}today{% elif visit.days == 1 %}tomorrow{% else %}in {{ visit.days }} days{% endif %}'
const contact = { first_name: '[contact.first_name]', last_name: '[contact.last_name]' }

const said = ({ rendered }: Outcome) =>
  'text' in rendered ? rendered.text : `fails: ${rendered.error.message}`

const inWords = ({ ways, ...outcome }: Outcome) => {
  const texts = ways.map((way) =>
    [...way]
      .map(([path, values]) => {
        const all = values.map((one) => (one === 'absent' ? one : JSON.stringify(one.value)))
        return `${path}=${all.join('|')}`
      })
      .join(' '),
  )
  return `${texts.join(' or ')}: ${said(outcome as Outcome)}`
}

const branches = (template: string, given = {}) => branchesOf(template, given).outcomes.map(inWords)

describe('the branches of a template', () => {
  test('are all there, each with the values that lead to it', () => {
    const given = { contact: { ...contact, first_name: 'sam' }, visit: { days: 5 } }
    expect(branches(greeting, given)).toEqual([
      'contact.first_name="sam" visit.days=5: Hello Sam, in 5 days',
      'contact.first_name="sam" visit.days=0: Hello Sam, today',
      'contact.first_name="sam" visit.days=1: Hello Sam, tomorrow',
      'contact.first_name=absent|"" visit.days=5: Good day, in 5 days',
      'contact.first_name=absent|"" visit.days=0: Good day, today',
      'contact.first_name=absent|"" visit.days=1: Good day, tomorrow',
      "visit.days=absent: fails: 'visit' is undefined",
      'contact.first_name="sam" visit.days="": Hello Sam, in  days',
    ])
  })

  test('of variables that nobody gives a value have samples', () => {
    expect(branches(greeting, { contact })[0]).toBe(
      'contact.first_name="[contact.first_name]" visit.days=2: Hello [Contact.first_name], in 2 days',
    )
  })

  test.each([
    ['Hi', [': Hi']],
    ['Hi {{ a }}!', ['a="[a]": Hi [a]!', 'a=absent|"": Hi !']],
    ["{{ a | default('you') }}", ['a="[a]": [a]', 'a=absent: you', 'a="": ']],
    ["{{ a or 'you' }}", ['a="[a]": [a]', 'a=absent|"": you']],
    ["{{ 'A' if a else 'B' }}", ['a="[a]": A', 'a=absent|"": B']],
    ['{% if a or b %}A{% endif %}', ['b="[b]" or a="[a]": A', 'a=absent|"" b=absent|"": ']],
    ["{% if a in ['x', 'y'] %}A{% else %}B{% endif %}", ['a="[a]"|absent|"": B', 'a="x"|"y": A']],
    [
      '{% if 3 < a | int %}A{% else %}B{% endif %}',
      ['a=5|4: A', 'a=3|"": B', "a=absent: fails: 'a' is undefined"],
    ],
    ['{% set b = a == true %}{% if b %}A{% endif %}', ['a=true: A', 'a=absent|"": ']],
    [
      '{% if a is defined and a.b %}A{% else %}B{% endif %}',
      ['a={} a.b="[a.b]": A', 'a.b=absent|"" or a=absent: B'],
    ],
    [
      '{{ a is none }}{{ a.b }}',
      [
        'a={} a.b="[a.b]": False[a.b]',
        'a={} a.b=absent|"": False',
        "a=absent: fails: 'a' is undefined",
      ],
    ],
  ])('of %s', (template, expected) => {
    expect(branches(template)).toEqual(expected)
  })

  test('of a loop need a list', () => {
    const template = '{% for one in all %}{{ one }}{% else %}none{% endfor %}'
    expect(branches(template, { all: ['a', 'b'] })).toEqual([
      'all=["a","b"]: ab',
      'all=absent|[]: none',
    ])
    const withIf = '{% for one in all %}\n{% if one.hot %}A{% endif %}{% endfor %}'
    expect(branchesOf(withIf, {})).toMatchObject({
      ...{ variables: [], unreached: [1, 2], isPartial: false },
    })
  })

  test('that are not reached are named by their lines', () => {
    const template = '{% if a | length > 3 %}A\n{% elif b %}\nB{% else %}C{% endif %}'
    expect(branchesOf(template, { a: 'x' })).toMatchObject({ unreached: [1] })
  })

  test('vary only what may be without a value', () => {
    const template = "{% if direction == 'inbound' %}Thanks{% else %}Hi{% endif %}"
    const { outcomes } = branchesOf(template, { direction: 'any' }, { isOptional: () => false })
    expect(outcomes.map(inWords)).toEqual(['direction="any": Hi', 'direction="inbound": Thanks'])
  })

  test('are bounded, and say so', () => {
    const ifs = (count: number) =>
      Array.from({ length: count }, (_, i) => `{% if v${i} %}A${i}{% endif %}`).join('')
    expect(branchesOf(ifs(5), {})).toMatchObject({ isPartial: false, outcomes: { length: 32 } })
    expect(branchesOf(ifs(12), {})).toMatchObject({ isPartial: true })
    const before = process.cpuUsage()
    expect(branchesOf(ifs(3000), {}, { maxSteps: 500_000 }).isPartial).toBe(true)
    const loop = '{% for a in range(9999) %}{{ x }}{% if y %}{% endif %}{% endfor %}'
    expect(branchesOf(loop, {}, { maxSteps: 500_000 }).isPartial).toBe(true)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
  })
})

/** Variables of a call that takes this branch. */
function valuesOf(way: Outcome['ways'][number], given: Record<string, unknown>) {
  const values: Record<string, unknown> = { ...given }
  for (const [path, [first]] of [...way].sort(([a], [b]) => a.length - b.length)) {
    if (first === undefined || first === 'absent') continue
    const names = path.split('.')
    let at = values
    for (const name of names.slice(0, -1)) {
      at[name] = Object.assign({}, at[name])
      at = at[name] as Record<string, unknown>
    }
    at[names.at(-1) ?? ''] = first.value
  }
  return values
}

test.each([
  [greeting],
  ['{% if a > 3 and b %}A{% elif a == 1 or c.d %}B{{ c.d }}{% else %}C{{ b }}{% endif %}'],
  ["{{ 'A' if a is defined else b | default(c, true) }}{% if not a and c == 'x' %}!{% endif %}"],
  ['{% set n = a | int %}{% if 1 < n <= 5 %}A{% elif n != 7 %}B{% else %}C{% endif %}{{ b or c }}'],
])('of %s render as they say', (template) => {
  const { outcomes } = branchesOf(template, {})
  expect(outcomes.length).toBeGreaterThan(4)
  for (const outcome of outcomes) {
    for (const way of outcome.ways) {
      const rendered = () => render(template, valuesOf(way, {}))
      if ('error' in outcome.rendered) expect(rendered).toThrow(outcome.rendered.error.message)
      else expect(rendered(), inWords(outcome)).toBe(outcome.rendered.text)
    }
  }
})
