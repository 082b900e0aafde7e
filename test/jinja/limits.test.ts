import { describe, expect, test } from 'vitest'
import { analyse, render, TemplateError, unknownVariables } from '../../src/jinja/index.ts'

function failure(source: string, context: Record<string, unknown> = {}): string {
  try {
    return `rendered ${render(source, context).length} characters`
  } catch (error) {
    if (error instanceof TemplateError) return error.type
    throw error
  }
}

/** CPU time of this process, which other processes do not affect. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const nest = (open: string, close: string, count: number, inner = 'x'): string =>
  open.repeat(count) + inner + close.repeat(count)

describe('nesting', () => {
  test.each([
    ['parentheses', `{{ ${nest('(', ')', 100_000)} }}`],
    ['lists', `{{ ${nest('[', ']', 100_000)} }}`],
    ['open parentheses', `{{ ${'('.repeat(100_000)}`],
    ['calls', `{{ ${nest('f(', ')', 100_000)} }}`],
    ['subscripts', `{{ ${nest('a[', ']', 100_000)} }}`],
    ['not', `{{ ${'not '.repeat(100_000)}x }}`],
    ['signs', `{{ ${'- '.repeat(100_000)}x }}`],
    ['else', `{{ ${'a if b else '.repeat(50_000)}c }}`],
    ['inline ifs', `{{ a${' if b'.repeat(50_000)} }}`],
    ['ifs', nest('{% if a %}', '{% endif %}', 10_000)],
    ['fors', nest('{% for a in b %}', '{% endfor %}', 10_000)],
    ['open blocks', '{% block a %}'.repeat(10_000)],
    ['targets', `{% set ${nest('(', ')', 10_000)} = 1 %}`],
  ])('of %s is refused as too deep', (_, source) => {
    expect(analyse(source).errors[0]?.type).toBe('too_deep')
  })

  const chains: [string, (length: number) => string][] = [
    ['attributes', (length) => `{{ a${'.b'.repeat(length)} }}`],
    ['addition', (length) => `{{ a${' + b'.repeat(length)} }}`],
    ['powers', (length) => `{{ a${' ** 1'.repeat(length)} }}`],
    ['and', (length) => `{{ a${' and b'.repeat(length)} }}`],
    ['filters', (length) => `{{ a${'|upper'.repeat(length)} }}`],
  ]
  test.each(chains)('chains of %s end where those of Python do', (_, chain) => {
    expect(analyse(chain(197)).valid).toBe(true)
    expect(analyse(chain(198)).errors[0]?.type).toBe('too_deep')
    expect(analyse(chain(100_000)).errors[0]?.type).toBe('too_deep')
  })

  test.each([
    ['concatenation', `{{ a${' ~ b'.repeat(100_000)} }}`],
    ['comparisons', `{{ a${' < b'.repeat(100_000)} }}`],
    ['elifs', `{% if a %}${'{% elif b %}'.repeat(20_000)}{% endif %}`],
  ])('chains of %s are flat, and fine', (_, source) => {
    expect(analyse(source).valid).toBe(true)
  })

  test('loops nest as deep as Python lets them, and anew in a macro', () => {
    const loops = (depth: number, inside: string) =>
      nest('{% for a in b %}', '{% endfor %}', depth, inside)
    expect(analyse(loops(20, 'x')).valid).toBe(true)
    expect(analyse(loops(21, 'x')).errors[0]?.type).toBe('too_deep')
    const anew = `{% macro m() %}${loops(20, 'x')}{% endmacro %}`
    expect(analyse(loops(15, anew)).valid).toBe(true)
  })

  test('everything at its deepest at once does not exhaust the stack', () => {
    const expression = nest('(', ')', 150)
    const source = nest('{% if a %}', '{% endif %}', 98, `{{ ${expression} }}`)
    expect(analyse(source).valid).toBe(true)
    expect(render(source, { a: 1, x: 'deep' })).toBe('deep')
  })
})

describe('size', () => {
  const line = 'Item: {{ customer.field | default("n/a") }}{% if flag %} yes{% endif %}'

  test.each([
    ['many lines', `${line}\n`.repeat(13_000)],
    ['one line', line.repeat(13_000)],
    ['spaces', `{{ a${' '.repeat(1_000_000)}}}`],
    ['a string', `{{ "${'\\n'.repeat(500_000)}" }}`],
    ['braces', '{ '.repeat(500_000)],
    ['comments', '{# #}'.repeat(200_000)],
    ['raw blocks', '{% raw %}{% x %}{% endraw %}'.repeat(30_000)],
    ['an unclosed comment', '{# '.repeat(300_000)],
    ['almost ends of raw', `{% raw %}${'{% endraw '.repeat(100_000)}`],
    ['digits', `{{ 0x${'f'.repeat(1_000_000)} }}`],
    ['names', `{{ ${'é'.repeat(500_000)} }}`],
    ['loops', '{% for a in b %}{{ loop.index }}{% endfor %}'.repeat(20_000)],
    [
      'sets in ifs',
      Array.from({ length: 15_000 }, (_, i) => `{% if a %}{% set b${i} = 1 %}{% endif %}`).join(''),
    ],
    ['unknown filters in one condition', `{{ ${'1 or '.repeat(20_000)}x|nosuch }}`],
  ])('a megabyte of %s takes no time', (_, source) => {
    const start = cpuMs()
    analyse(source)
    expect(cpuMs() - start).toBeLessThan(2000)
  })
})

describe('the budget of a rendering', () => {
  test.each([
    ['range', '{% for i in range(10 ** 9) %}{% endfor %}', 'runtime_error'],
    [
      'nested loops',
      '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}',
      'limit_exceeded',
    ],
    ['repetition', "{{ 'x' * 10 ** 9 }}", 'limit_exceeded'],
    ['a huge repetition', "{{ 'x' * 10 ** 40 }}", 'limit_exceeded'],
    ['list repetition', '{{ [1] * 10 ** 9 }}', 'limit_exceeded'],
    [
      'doubling',
      "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
      'limit_exceeded',
    ],
    [
      'doubling lists',
      '{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}',
      'limit_exceeded',
    ],
    ['powers', '{{ 9 ** (9 ** 9) }}', 'limit_exceeded'],
    [
      'products',
      '{% set ns = namespace(n=9) %}{% for i in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}',
      'limit_exceeded',
    ],
    ['width', "{{ '%999999999d' % 1 }}", 'limit_exceeded'],
    ['precision', "{{ '%.999999999f' % 1 }}", 'limit_exceeded'],
    ['a format width', "{{ '{:999999999}'.format(1) }}", 'limit_exceeded'],
    ['center', "{{ 'x'|center(10 ** 9) }}", 'limit_exceeded'],
    ['ljust', "{{ 'x'.ljust(10 ** 9) }}", 'limit_exceeded'],
    ['zfill', "{{ 'x'.zfill(10 ** 9) }}", 'limit_exceeded'],
    ['indent', "{{ 'x'|indent(10 ** 9, true) }}", 'limit_exceeded'],
    ['tabs', "{{ '\\t'.expandtabs(10 ** 9) }}", 'limit_exceeded'],
    ['batch', "{{ [1]|batch(10 ** 9, 'x')|list }}", 'limit_exceeded'],
    ['slice', '{{ [1]|slice(10 ** 9)|list }}', 'limit_exceeded'],
    ['replace', "{{ ('x' * 1000).replace('', 'y' * 100000) }}", 'limit_exceeded'],
    ['join', "{{ ('x' * 100000)|list|join('y' * 1000) }}", 'limit_exceeded'],
    ['json', '{{ [1, 2, [3]]|tojson(10 ** 9) }}', 'limit_exceeded'],
    ['round', '{{ 5|round(-10 ** 9) }}', 'limit_exceeded'],
    ['lipsum', '{{ lipsum(10 ** 9) }}', 'limit_exceeded'],
    ['output', "{% for i in range(99999) %}{{ 'x' * 999 }}{% endfor %}", 'limit_exceeded'],
    [
      'a list that grows while it is read',
      '{% set l = [1] %}{% for i in l %}{% set _ = l.append(1) %}{% endfor %}',
      'limit_exceeded',
    ],
    ['recursion', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 'runtime_error'],
    [
      'mutual recursion',
      '{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}',
      'runtime_error',
    ],
    [
      'recursive loops',
      '{% set l = [1] %}{% set _ = l.append(l) %}{% for i in l recursive %}{{ loop(l) }}{% endfor %}',
      'runtime_error',
    ],
    ['blocks in themselves', '{% block a %}{{ self.a() }}{% endblock %}', 'runtime_error'],
    [
      'deep values',
      '{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}',
      'runtime_error',
    ],
    [
      'shared values',
      '{% set ns = namespace(l=[]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}',
      'limit_exceeded',
    ],
    [
      'comparing shared values',
      '{% set n = namespace(a=[], b=[]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}',
      'limit_exceeded',
    ],
    [
      'hashing shared values',
      '{% set n = namespace(a=()) %}{% for i in range(60) %}{% set n.a = (n.a, n.a) %}{% endfor %}{{ {n.a: 1} }}',
      'limit_exceeded',
    ],
    [
      'printing shared values nicely',
      '{% set n = namespace(a=[]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a|pprint }}',
      'limit_exceeded',
    ],
    ['digits', "{{ ('9' * 100000)|int }}{{ 2 ** 20000 }}", 'runtime_error'],
  ])('%s ends with a clear error', (_, source, type) => {
    const start = cpuMs()
    expect(failure(source)).toBe(type)
    expect(cpuMs() - start).toBeLessThan(3000)
  })

  test('a long search does not compare anew at every place', () => {
    const search =
      "{% set b = 'b' ~ 'a' * 10**5 %}{% for i in range(999) %}{{ b in 'a' * 10**6 }}{% endfor %}"
    expect(failure(search)).toBe('limit_exceeded')
  })

  test('strings that are kept end at the budget of memory', () => {
    const strings =
      "{% set l = [] %}{% for i in range(1800) %}{% set _ = l.append('☃' * 10**6) %}{% endfor %}"
    expect(failure(strings)).toBe('limit_exceeded')
  })

  test('is ample for long texts put together in a loop', () => {
    const source =
      "{% set ns = namespace(s='') %}{% for i in range(2000) %}{% set ns.s = ns.s ~ 'fifty characters, more or less, of a long answer. ' %}{% endfor %}" +
      '{% set l = [] %}{% for i in range(10000) %}{% set _ = l.append(i) %}{% endfor %}{{ ns.s }}{{ l }}'
    expect(render(source).length).toBeGreaterThan(150_000)
    const text = 'A prompt of many words. '.repeat(4000)
    const filters = '{{ text|trim|replace("many", "few")|wordwrap|upper|length }}{{ text|title }}'
    expect(render(filters, { text }).length).toBeGreaterThan(90_000)
  })

  test('can be set lower', () => {
    expect(() => render('{{ range(100)|list }}', {}, { maxSteps: 50 })).toThrow(
      'more than 50 steps',
    )
    expect(() => render('abcdef', {}, { maxLength: 5 })).toThrow('at most 5 characters')
  })

  test.each([
    ['wordwrap', 'x'.repeat(500_000)],
    ['urlize', 'a@'.repeat(200_000)],
    ['urlize', 'a.'.repeat(200_000)],
    ['urlize', '('.repeat(400_000)],
    ['striptags', '<'.repeat(500_000)],
    ['title', '-'.repeat(500_000)],
    ['int', ' '.repeat(400_000)],
    ['float', `1${'_1'.repeat(200_000)}x`],
    ['datetime', '1'.repeat(400_000)],
    ['format', '%('.repeat(200_000)],
    ['wordcount', 'a '.repeat(200_000)],
  ])('%s is linear in its text', (filter, text) => {
    const start = cpuMs()
    failure(`{{ text|${filter} }}`, { text })
    expect(cpuMs() - start).toBeLessThan(2000)
  })
})

test('many allowed variables are looked through quickly', () => {
  const variables = Array.from({ length: 50_000 }, (_, index) => ({ path: `v${index}`, line: 1 }))
  const allowed = Array.from({ length: 250_000 }, (_, index) => `w${index}*`)
  expect(unknownVariables(variables, [...allowed, 'v1*', 'v11*', 'v2', 'v'])).toHaveLength(38_888)
})

describe('the sandbox', () => {
  test.each([
    "''.__class__.__mro__",
    "''['__class__']['x']",
    '[].__init__.__globals__',
    '{}.__class__.__base__',
    "('x'|attr('__class__')).x",
    "'{0.__class__.__name__}'.format(1)",
    'range.__self__.x',
    '(1).__class__.x',
  ])('refuses %s', (expression) => {
    expect(failure(`{{ ${expression} }}`)).toBe('security_error')
  })

  test.each([
    'x.constructor',
    "x['constructor']",
    'x.__proto__',
    'x.prototype',
    'x.toString',
    'x.hasOwnProperty',
    'x.valueOf',
    'x.length',
    'x.entries',
    'x.then',
    'x.call',
    'range.call',
    'range.constructor',
  ])('%s reaches nothing of JavaScript', (expression) => {
    for (const x of [{}, [], 'text', 1, 1.5, true, new Map(), new Date(0)]) {
      expect(render(`{{ ${expression} }}`, { x })).toBe('')
    }
  })

  test('data may be called anything', () => {
    const context = JSON.parse('{"x": {"__proto__": "a", "constructor": "b", "_c": "d"}}')
    expect(render('{{ x.__proto__ }}{{ x.constructor }}{{ x._c }}', context)).toBe('abd')
    expect(render("{{ {'__proto__': 1} }}")).toBe("{'__proto__': 1}")
    expect(render('{{ constructor }}{{ toString }}{{ __proto__ }}')).toBe('')
  })

  test('the caller’s data is never changed', () => {
    const context = { list: [1], dict: { a: 1 } }
    render('{% set _ = list.append(2) %}{% set _ = dict.update({"b": 2}) %}', context)
    expect(context).toEqual({ list: [1], dict: { a: 1 } })
  })

  test.each([
    ['functions', { x: () => 1 }],
    ['symbols', { x: Symbol('x') }],
    ['invalid dates', { x: new Date(Number.NaN) }],
  ])('%s are no data', (_, context) => {
    expect(failure('{{ x }}', context)).toBe('runtime_error')
  })

  test('data inside itself is refused', () => {
    const loop: Record<string, unknown> = {}
    loop.self = loop
    expect(failure('{{ x }}', { x: loop })).toBe('runtime_error')
  })
})
