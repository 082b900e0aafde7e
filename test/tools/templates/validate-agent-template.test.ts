import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { analyse } from '../../../src/jinja/index.ts'
import { repairTemplate } from '../../../tools/templates/template-repair.ts'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'

const repairedOf = (template: string) => repairTemplate(template).repaired

describe('a repair', () => {
  // A repair blocks other requests. Patterns with quadratic time would take five seconds here.
  test.each([
    ['much space', `${'{{ a b }}\n'.repeat(20)}{{ x${' '.repeat(9500)}+y }}`],
    ['many operators', `${'{{ a b }}\n'.repeat(20)}{{ ${' '.repeat(9500)}& y }}`],
    ['an open block after much space', `{% if a %}${' '.repeat(9500)}y`],
    ['many unknown filters', '{{a|upr}}\n'.repeat(900)],
    ['many open tags', `${'{%\n'.repeat(3300)} b }}`],
  ])('stops in time: %s', (_, template) => {
    const before = process.cpuUsage()
    const { changes } = repairTemplate(template)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
    for (const change of changes) expect(change.length).toBeLessThan(100)
  })

  test.each([
    ['Hello {{ name', 'Hello {{ name }}'],
    ['Hello {{ name }, hi', 'Hello {{ name }}, hi'],
    ['Hello {{ name, welcome to {{ shop }}', 'Hello {{ name }}, welcome to {{ shop }}'],
    ["Hi {{ name | default('you') and {{ b }}", "Hi {{ name | default('you') }} and {{ b }}"],
    ['Hello {{ name %}', 'Hello {{ name }}'],
    ['{% if vip }}Dear{% endif %}', '{% if vip %}Dear{% endif %}'],
    ['{% if vip }Dear{% endif %}', '{% if vip %}Dear{% endif %}'],
    ['{% if vip\nDear{% endif %}', '{% if vip %}\nDear{% endif %}'],
    ['{% if a %}A{% else B{% endif %}', '{% if a %}A{% else %} B{% endif %}'],
    ['{{ name | uper }}', '{{ name | upper }}'],
    ['{{ name | uppercase }}', '{{ name | upper }}'],
    [
      '{% if a %}{{ name | captialize }}{% endif %}',
      '{% if a %}{{ name | capitalize }}{% endif %}',
    ],
    ['{% if a is defind %}x{% endif %}', '{% if a is defined %}x{% endif %}'],
    ['{% if a %}A{% elseif b %}B{% endif %}', '{% if a %}A{% elif b %}B{% endif %}'],
    ['{% if a %}A{% else if b %}B{% endif %}', '{% if a %}A{% elif b %}B{% endif %}'],
    [
      '{% if a %}A{% elsif b %}B{% esle %}C{% endif %}',
      '{% if a %}A{% elif b %}B{% else %}C{% endif %}',
    ],
    ['{% if a %}A{% end if %}', '{% if a %}A{% endif %}'],
    ['{% if a %}A{% end %}', '{% if a %}A{% endif %}'],
    [
      '{% for a in b %}{% if a %}A{% end %}{% end %}',
      '{% for a in b %}{% if a %}A{% endif %}{% endfor %}',
    ],
    ['{%- if a -%}A{%- endfi -%}', '{%- if a -%}A{%- endif -%}'],
    ['{% if a %}A\n', '{% if a %}A{% endif %}\n'],
    ['{% for a in b %}{% if a %}A', '{% for a in b %}{% if a %}A{% endif %}{% endfor %}'],
    ['{{ a | default(“there”) }}', '{{ a | default("there") }}'],
    ['{{ a | default(&quot;there&quot;) }}', '{{ a | default("there") }}'],
    ["{{ a | default('there) }}", "{{ a | default('there') }}"],
    ['{{ a | default(\'there") }}', "{{ a | default('there') }}"],
    ["{{ a | default('there' }}", "{{ a | default('there') }}"],
    ['{{ a) }}', '{{ a }}'],
    ['{% if a = 1 && b %}A{% endif %}', '{% if a == 1 and b %}A{% endif %}'],
    ["{{ a || 'you' }}", "{{ a or 'you' }}"],
    ['{% if !a %}A{% endif %}', '{% if not a %}A{% endif %}'],
    ['Hello {name}, {{ a }}', 'Hello {{ name }}, {{ a }}'],
    ['Hello { name }}', 'Hello {{ name }}'],
    [
      "{{ name | uper }}, {% if vip %}dear {{ b | default('x) }",
      "{{ name | upper }}, {% if vip %}dear {{ b | default('x') }}{% endif %}",
    ],
  ])('of %j is %j', (template, repaired) => {
    expect(repairedOf(template)).toBe(repaired)
    expect(analyse(repaired)).toMatchObject({ valid: true, warnings: [] })
    expect(repairTemplate(repaired).problems).toEqual([])
  })

  test.each([
    ['{{ }}'],
    ['{{ a b }}'],
    ['{{ name | xyzzyfilter }}'],
    ['{% xyzzy %}'],
    ['{% endif %}'],
    ['{% for a of b %}{% endfor %}'],
    ["{{ 'it's' }}"],
    ['{% if vip Dear {{ a }}'],
    [`{{ ${'a'.repeat(11_000)}`],
  ])('of %.40j is not offered', (template) => {
    expect(repairedOf(template)).toBeUndefined()
  })

  test.each([
    ['Hello {{ contact.first_name }}'],
    ['{% raw %}{{ name }{% endraw %}'],
    ['{# {name} and {{ a #}x'],
    ["{{ {'a': 1}['a'] }} {{ '}}' }} {{ \"{name}\" }}"],
    ['{"json": true} and {} and 5 } 6 { 7'],
    ["{{ a | default(“x”) if false else 'it’s' }}".replaceAll(/[“”]/g, '"')],
  ])('changes nothing in %j', (template) => {
    expect(repairTemplate(template)).toEqual({ problems: [], changes: [] })
  })

  test('finds further mistakes after one without a repair', () => {
    const { problems, repaired } = repairTemplate('{{ a b }}\n{{ c | uper }}\n{{ d e }}')
    expect(repaired).toBeUndefined()
    expect(problems.map(({ line }) => line).sort()).toEqual([1, 2, 3])
  })

  test.each([
    ['{{ a '.repeat(2000)],
    ['{% if a %}'.repeat(90)],
    ["'".repeat(9000)],
    [`{{ ${'('.repeat(9000)} }}`],
    [`{{ ${"'a' ".repeat(2000)}`],
    [`{a|${' '.repeat(9900)}`],
    ['{a}'.repeat(3000)],
    ['{{ a | uper }}'.repeat(700)],
    ['{% elseif %}'.repeat(800)],
  ])('of a hostile template, %.20j…, ends quickly', (template) => {
    const before = process.cpuUsage()
    repairTemplate(template)
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(2000)
  })
})

describe('validate_agent_template', () => {
  let client: Person
  beforeAll(async () => {
    client = await connectPerson('v2 2025', {})
  })
  afterAll(() => client[Symbol.asyncDispose]())

  test('repairs a template in one call, whose text can be saved', async () => {
    const template = 'Hello {{ contact.first_name | uper }},\n{% if vip %}dear {{ shop }'
    const result = await client.call('validate_agent_template', { template })
    expect(await client.flaws('validate_agent_template', result)).toBeUndefined()
    const { structuredContent, content } = result
    const repaired =
      'Hello {{ contact.first_name | upper }},\n{% if vip %}dear {{ shop }}{% endif %}'
    expect(structuredContent).toMatchObject({ valid: false, repaired })
    expect(structuredContent?.errors).toHaveLength(1)
    expect(structuredContent?.also_found).toHaveLength(2)
    const text = content[0]?.text ?? ''
    expect(text).toMatchSnapshot()
    expect(await client.value('validate_agent_template', { template: repaired })).toMatchObject({
      valid: true,
    })
  })

  test('shows whether an unknown variable makes the greeting fail', async () => {
    const gap = await client.value('validate_agent_template', { template: 'Hi {{ caller }}!' })
    expect(gap).toMatchObject({ valid: true, spoken: '"Hi !"; EMPTY in it: caller' })
    const template = 'Hi {{ customer.name }}!'
    const fails = await client.value('validate_agent_template', { template })
    expect(fails).toMatchObject({
      valid: true,
      unknown_variables: ['customer.name'],
      spoken: expect.stringMatching(/'customer'.*\(line 1\); /),
    })
    const test_variables = { customer: { name: 'Ada' } }
    const filled = await client.value('validate_agent_template', { template, test_variables })
    expect(filled).toMatchObject({ unknown_variables: [], warnings: [], spoken: '"Hi Ada!"' })
    const text = await client.text('validate_agent_template', { template, test_variables })
    expect(text).toContain('Spoken (rendered by this tool): "Hi Ada!"\n')
  })

  const greeting =
    '{% if contact.first_name %}Hello {{ contact.first_name }}{% else %}Good day{% endif %}, {% if visit.days == 0 %}today{% else %}in {{ visit.days }} days{% endif %}'

  test('shows every branch of a template, and what is assumed', async () => {
    const { branches, assumed, not_tried } = await client.value('validate_agent_template', {
      template: greeting,
    })
    expect(branches).toEqual([
      {
        when: 'contact.first_name given, visit.days 2',
        spoken: '"Hello [contact.first_name], in 2 days"',
      },
      {
        when: 'contact.first_name given, visit.days 0',
        spoken: '"Hello [contact.first_name], today"',
      },
      {
        when: 'contact.first_name not given or "", visit.days 2',
        spoken: '"Good day, in 2 days"',
      },
      { when: 'contact.first_name not given or "", visit.days 0', spoken: '"Good day, today"' },
      { when: 'visit.days not given', spoken: expect.stringMatching(/fails.*'visit'/) },
      {
        when: 'contact.first_name given, visit.days ""',
        spoken: '"Hello [contact.first_name], in  days"; EMPTY in it: visit.days',
      },
    ])
    expect(assumed).toEqual(['contact.first_name', 'visit.days'])
    expect(not_tried).toBeUndefined()
  })

  test('shows the branches of the greeting of an agent, with the values given', async () => {
    const { id: agent_id } = await client.value('create_agent', {
      ...newAgent,
      name: 'Branches',
      initial_message: { message: greeting },
    })
    const test_variables = { contact: { first_name: 'Sam' }, visit: { days: 5 } }
    for (const given of [agent_id, 'Branches']) {
      const args = { agent_id: given, test_variables }
      const result = await client.call('validate_agent_template', args)
      expect(await client.flaws('validate_agent_template', result)).toBeUndefined()
      expect(result.structuredContent).toMatchObject({
        spoken: '"Hello Sam, in 5 days"',
        branches: expect.arrayContaining([
          { when: 'contact.first_name "Sam", visit.days 5', spoken: '"Hello Sam, in 5 days"' },
          {
            when: 'contact.first_name not given or "", visit.days 0',
            spoken: '"Good day, today"',
          },
        ]),
      })
      expect(result.structuredContent).not.toHaveProperty('assumed')
    }
    const both = await client.call('validate_agent_template', { agent_id, template: 'Hi' })
    expect(both.isError).toBe(true)
    const none = await client.call('validate_agent_template', { agent_id: 'Nobody' })
    expect(none).toMatchObject({ isError: true, content: [{ text: /Nobody|list_agents/ }] })
  })

  test('tries several times of day, and the constants that a variable is compared with', async () => {
    const { branches } = await client.value('validate_agent_template', {
      template:
        "{% if direction == 'inbound' %}Thanks{% elif current_datetime | datetime('%H') | int < 12 %}Morning{% else %}Evening{% endif %}",
    })
    expect(Array.from(Object(branches), ({ spoken }) => spoken).sort()).toEqual([
      '"Evening"',
      '"Morning"',
      '"Thanks"',
    ])
  })

  test('names equal values of a branch once', async () => {
    const { branches } = await client.value('validate_agent_template', {
      template: '{{ contact.first_name }} {{ direction }}',
    })
    expect(Array.from(Object(branches), ({ when }) => when)).toEqual([
      'contact.first_name given, direction given',
      'contact.first_name not given or "", direction given',
    ])
  })

  test('names the branches that no value reached', async () => {
    const template = '{% if order.total | length > 300 %}\nA{% endif %}{% if x %}B{% endif %}'
    const { not_tried } = await client.value('validate_agent_template', { template })
    expect(not_tried).toContain('line 1')
    const loop = 'Hi\n{% for i in items %}{{ i }}{% else %}none{% endfor %}'
    const ofLoop = await client.value('validate_agent_template', { template: loop })
    expect(ofLoop.not_tried).toContain('line 2')
    expect(ofLoop.assumed ?? []).not.toContain('items')
    const test_variables = { items: ['x'] }
    const given = await client.value('validate_agent_template', { template: loop, test_variables })
    expect(given).not.toHaveProperty('not_tried')
  })

  test('adds nothing to a valid template', async () => {
    const result = await client.value('validate_agent_template', { template: 'Hi' })
    expect(result).toMatchObject({ valid: true, spoken: '"Hi"' })
    for (const name of ['also_found', 'repaired', 'repairs', 'branches', 'assumed', 'not_tried'])
      expect(result).not.toHaveProperty(name)
  })
})

test('a repair that the platform does not accept, or cannot check, is not offered', async () => {
  const refused = (message: string) => ({
    ...{ valid: false, warnings: [], variables: [], unknown_variables: [] },
    errors: [{ type: 'syntax_error', message, line: 1, variable: null }],
  })
  await using platform = await startFakePlatform(
    (_, res, before) =>
      before === 3
        ? json(res, 404, envelope('not_found'))
        : json(res, 200, refused(`platform's own ${before}`)),
    { account: 'own' },
  )
  await using client = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
  for (const before of [0, 2]) {
    const text = await client.text('validate_agent_template', { template: '{{ a' })
    expect(text).toMatch(new RegExp(`^.*\n.*platform's own ${before}\n.*$`))
  }
  expect(platform.seen).toHaveLength(4)
})
