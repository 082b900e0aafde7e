/** A generator of random templates: mostly valid, some broken on purpose. */

/** A small seeded random number generator (mulberry32). */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const names = ['a', 'b', 'items', 'user', 'word', 'n', 'f', 'flag', 'nothing', 'missing', 'loop']
const attributes = ['name', 'age', 'tags', 'x', 'items', 'address', 'city', '0', 'if']
const methods = [
  ...['upper()', 'lower()', 'title()', 'strip()', 'split()', "split(',')", "replace('a', 'b')"],
  ...[
    "startswith('a')",
    "get('name')",
    "get('zip', 1)",
    'items()',
    'keys()',
    'values()',
    "count('a')",
  ],
  ...["join(['x', 'y'])", "format(1, 'z')", 'capitalize()', 'index(1)', "find('l')", 'zfill(6)'],
]
const filters = [
  ...['upper', 'lower', 'title', 'trim', 'length', 'first', 'last', 'list', 'join', "join(', ')"],
  ...["default('d')", "default('d', true)", 'int', 'float', 'round', 'round(1)', 'abs', 'sort'],
  ...['reverse|list', 'unique|list', "map('upper')|list", "map(attribute='name')|list", 'sum'],
  ...["replace('a', 'o')", 'string', 'escape', 'e', 'safe', 'tojson', 'wordcount', 'capitalize'],
  ...[
    'truncate(8)',
    'truncate(7, true)',
    'center(9)',
    'indent',
    "select('odd')|list",
    'min',
    'max',
  ],
  ...[
    "selectattr('age')|list",
    'batch(2)|list',
    'slice(2)|list',
    'dictsort',
    'items|list',
    'count',
  ],
  ...["rejectattr('x', 'none')|list", 'urlencode', 'striptags', "attr('name')", 'filesizeformat'],
  ...["groupby('age')|list", 'wordwrap(6)', "format('x')", 'xmlattr', 'pprint', 'd', 'forceescape'],
  ...[
    "sort(attribute='name')",
    'sort(reverse=true)',
    "sum(attribute='age')",
    'reject|list',
    'urlize',
  ],
]
const tests = [
  ...['defined', 'undefined', 'none', 'string', 'number', 'odd', 'even', 'mapping', 'iterable'],
  ...['divisibleby 3', 'divisibleby(2)', 'in [1, 2]', "eq 'a'", '== 1', 'sameas none', 'lower'],
  ...[
    'upper',
    'sequence',
    'boolean',
    'true',
    'integer',
    'float',
    'callable',
    'gt 1',
    'lt(2)',
    'ne 3',
  ],
]
const operators = [
  '+',
  '-',
  '*',
  '/',
  '//',
  '%',
  '~',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
]
const logic = ['and', 'or']
const literals = [
  ...['0', '1', '2', '3', '7', '10', '-3', '1.5', '0.1', '2.50', '1e3', '1_000', '0xff', 'true'],
  ...['false', 'none', "''", "'abc'", '"it\'s"', "'a b  c'", "'Hello World'", "'%s-%d'", "'é🎉x'"],
  ...[
    '[]',
    '()',
    '{}',
    '[1, 2, 3]',
    "('a', 'b')",
    "{'k': 1, 'x': [2]}",
    '[3, 1, 2]',
    "'\\n\\t\\\\'",
  ],
  ...["['b', 'A', 'c']", "[{'name': 'Zoe', 'age': 3}, {'name': 'al', 'age': 2}]", 'range(4)'],
]
const junk = [
  ...['{{', '}}', '{%', '%}', '{#', '#}', '{% endif %}', '{% else %}', '{% endfor %}', '|', '.'],
  ...['(', ')', '[', '\n', ' ', "'", '"', 'nosuch', '|nosuch', ' is nosuch', '&&', '?', '@', ','],
  ...[
    '{% foo %}',
    '{% set',
    '{% endblock %}',
    '=',
    '{% raw %}',
    '{% endraw %}',
    '{% elif a %}',
    ':',
  ],
  ...[
    '{% do x %}',
    '{% break %}',
    '-',
    '%',
    '{{}}',
    '{%-',
    '-}}',
    '\r\n',
    '{% block a %}',
    '{% if',
  ],
]

type Kind = 'text' | 'number' | 'list' | 'dict' | 'bool'

const kinds: readonly Kind[] = ['text', 'number', 'list', 'dict', 'bool']

/**
 * Grammar of expressions that mostly render: leaves, and rules in which a letter stands for an
 * expression of a kind (`T` text, `N` number and so on).
 */
const grammar: Readonly<
  Record<Kind, { readonly leaves: readonly string[]; readonly rules: readonly string[] }>
> = {
  text: {
    leaves: [
      'a',
      'word',
      'user.name',
      "'Hello World'",
      "'a-b c'",
      "''",
      '"it\'s"',
      "'é🎉x'",
      "'<b>&'",
      "'a\\nb\\tc'",
      'missing',
      "'12'",
      "' 3.5 '",
      "'x,y,z'",
    ],
    rules: [
      ...[
        'T ~ N',
        'T + T',
        'T * 2',
        'T|upper',
        'T|lower',
        'T|title',
        'T|capitalize',
        'T|trim',
        "T|replace('l', T)",
      ],
      ...[
        'T|truncate(7)',
        'T|truncate(9, true, T[:2], 1)',
        'T|center(11)',
        'T|indent(2, true)',
        'T|wordwrap(5)',
        'T|e',
        'T|escape ~ T',
      ],
      ...[
        'L|join',
        "L|join('-')",
        'N|string',
        'T[1:]',
        'T[::-1]',
        'T[-1]',
        'T.upper()',
        'T.strip()',
        'T.title()',
        'T.capitalize()',
      ],
      ...[
        "T.replace('o', '0', 1)",
        'T.center(9, "*")',
        'T.ljust(7)',
        'T.zfill(8)',
        'T.swapcase()',
        "T.partition('l')[0]",
        'T|reverse',
      ],
      ...[
        "'%s|%5s|%-5s|'|format(T, T, T)",
        "'%05.1f %d %x'|format(N, 3, 255)",
        "'{} {:>6}'.format(T, T)",
        "'{0:.2f} {0:e}'.format(N * 1.0)",
      ],
      ...[
        "'{:,} {:+d} {:#x} {:08b}'.format(12345, 3, 255, 5)",
        'T if B else T',
        "T|default('dd', true)",
        'L|first|string',
        'D|tojson',
        'L|tojson',
        'L|string',
      ],
      ...[
        'T|urlencode',
        'T|striptags',
        "T.split(' ')|join('/')",
        'T|safe ~ T|e',
        'T|safe + T',
        'N|filesizeformat',
        'D|xmlattr',
        'L|pprint',
        'T|list|join(".")',
      ],
      ...[
        "'%r'|format(T)",
        "T.join(L|map('string'))",
        'D|string',
        'T|forceescape',
        "T.removeprefix('H')",
        "T.rsplit(' ', 1)|string",
        'T.splitlines()|string',
      ],
      ...[
        "'www.example.com (http://a.org/x) me@x.io'|urlize",
        "1500000000|datetime('%d %b %Y')",
        "'2024-05-06T07:08:09'|datetime",
        'T.expandtabs(4)',
        "T.strip('Ho')",
      ],
    ],
  },
  number: {
    leaves: [
      'b',
      'n',
      'f',
      '0',
      '1',
      '2',
      '7',
      '-3',
      '1.5',
      '0.1',
      '100',
      'user.age',
      '2.675',
      '1e16',
      '12345678901234567890',
      'true',
    ],
    rules: [
      ...[
        'N + N',
        'N - N',
        'N * N',
        'N / N',
        'N // N',
        'N % N',
        '-N',
        '(N) ** 2',
        'N|abs',
        'N|round',
        'N|round(1)',
        "N|round(1, 'floor')",
        "N|round(0, 'ceil')",
      ],
      ...[
        'N|int',
        'N|float',
        'T|int',
        'T|float',
        'T|int(7)',
        'T|length',
        'L|length',
        'D|length',
        'T|wordcount',
        'L|count',
        "T.count('l')",
        "T.find('o')",
      ],
      ...[
        '[N, N]|sum',
        '[N, N, N]|max',
        '[N, N, N]|min',
        'N if B else N',
        'N|round(-1)',
        "'0x1f'|int(0, 16)",
        "'1_0'|int",
        '(N, N)|first',
        'range(5)|sum',
      ],
      ...[
        "[{'v': N}, {'v': N}]|sum(attribute='v')",
        'N ** 0.5',
        '2 ** -1',
        '[N, N]|last',
        'T|default(N)',
      ],
    ],
  },
  list: {
    leaves: [
      'items',
      'user.tags',
      '[3, 1, 2]',
      "['b', 'A', 'c', 'a']",
      '[]',
      "('x', 'y')",
      'range(4)',
      "[1, 2.0, 1.0, true, 'a', none]",
      "[{'k': 2, 'n': 'b'}, {'k': 1, 'n': 'A'}]",
    ],
    rules: [
      ...[
        '[N, N]',
        '[T, T, T]',
        '(T, N)',
        '(N,)',
        'L|list',
        'L|reverse|list',
        'L|unique|list',
        '[N, N, N]|sort',
        '[T, T, T]|sort',
        '[T, T]|sort(true)',
      ],
      ...[
        'L|map("string")|list',
        '[T, T]|map("upper")|list',
        'L|select|list',
        'L|reject("none")|list',
        '[N, N, N]|select("gt", 2)|list',
        'L|batch(2)|list',
      ],
      ...[
        'L|batch(3, "-")|list',
        'L|slice(2)|list',
        'L|slice(3, 0)|list',
        'L[1:]',
        'L[::-1]',
        'L[:2]',
        'L + L',
        '[N] * 2',
        'T|list',
        'T.split()',
        "T.split('l')",
      ],
      ...[
        'D|dictsort',
        'D|list',
        'D.items()|list',
        'D.keys()|list',
        'D.values()|list',
        'D|items|list',
        "[{'a': N}, {'a': N}]|map(attribute='a')|list",
      ],
      ...[
        "[{'a': T}, {}]|map(attribute='a', default=T)|list",
        "[{'a': N}, {'a': N}]|sort(attribute='a')",
        "[{'a': T}, {'a': T}]|groupby('a')",
        'L if B else L',
      ],
      ...[
        "[{'a': B}, {'a': N}]|selectattr('a')|list",
        "[{'a': N}]|rejectattr('a', 'eq', 1)|list",
        '[L, L]',
        '[[T, N], [T, N]]|sort(attribute="0,1")',
        'D|dictsort(false, "value", true)',
      ],
    ],
  },
  dict: {
    leaves: [
      'user',
      '{}',
      "{'k': 1, 'x': [2]}",
      '{1: 2, none: true}',
      "{'b': 1, 'A': 2}",
      'user.address',
    ],
    rules: [
      "{'t': T, 'n': N}",
      '{T: N}',
      'dict(a=T, b=N)',
      "dict([('x', N)], y=T)",
      "{'in': D}",
      'D if B else D',
      'D.copy()',
    ],
  },
  bool: {
    leaves: ['flag', 'true', 'false', 'nothing', 'missing'],
    rules: [
      ...[
        'N < N',
        'N <= N < N',
        'T == T',
        'N == N',
        'L == L',
        'T < T',
        'N in L',
        'T in T',
        "'name' in D",
        'T not in L',
        'not B',
        'B and B',
        'B or B',
        'N is odd',
        'N is even',
      ],
      ...[
        'N is divisibleby 3',
        'T is string',
        'L is sequence',
        'D is mapping',
        'missing is defined',
        'T is in L',
        'T is upper',
        'N is number',
        'N is integer',
        'T.isdigit()',
        'T.isalpha()',
      ],
      ...[
        "T.startswith('H')",
        "T.endswith(('o', 'd'))",
        'T is lower',
        'N is float',
        'L is iterable',
        'N is sameas N',
        'T is eq T',
        'N is ge N',
        'B is not none',
        'L < L',
        'T.islower()',
        'T.istitle()',
        'T is callable',
      ],
    ],
  },
}

const kindLetters: Readonly<Record<string, Kind>> = {
  T: 'text',
  N: 'number',
  L: 'list',
  D: 'dict',
  B: 'bool',
}

/** Generates templates from the grammar. */
export class TemplateMaker {
  private readonly random: () => number
  private blockCount = 0

  constructor(random: () => number) {
    this.random = random
  }

  private pick<T>(options: readonly T[]): T {
    const option = options[Math.floor(this.random() * options.length)]
    if (option === undefined) throw new Error('nothing to pick from')
    return option
  }

  private chance(probability: number): boolean {
    return this.random() < probability
  }

  /** Generates a template. One in four is broken by a random edit. */
  make(): string {
    this.blockCount = 0
    const source = this.body(3)
    return this.chance(0.25) ? this.breakUp(source) : source
  }

  private breakUp(source: string): string {
    const at = Math.floor(this.random() * (source.length + 1))
    const end = at + Math.floor(this.random() * 6)
    const kind = this.random()
    if (kind < 0.2) return source.slice(0, at)
    if (kind < 0.5) return source.slice(0, at) + source.slice(end)
    return source.slice(0, at) + this.pick(junk) + source.slice(at)
  }

  private body(depth: number): string {
    let text = ''
    const count = 1 + Math.floor(this.random() * 3)
    for (let index = 0; index < count; index++) text += this.piece(depth)
    return text
  }

  private piece(depth: number): string {
    const kind = this.random()
    if (kind < 0.25) return this.pick(['text ', 'a\n', '  ', '\n', 'x, y', '<b>', ' - ', '{ } % #'])
    if (kind < 0.6 || depth === 0) return this.open('{{', this.expression(depth), '}}')
    return this.statement(depth - 1)
  }

  private open(start: string, inner: string, end: string): string {
    const left = this.chance(0.1) ? '-' : ''
    const right = this.chance(0.1) ? '-' : ''
    const space = this.chance(0.1) ? '\n' : ' '
    return `${start}${left}${space}${inner}${space}${right}${end}`
  }

  private tag(inner: string): string {
    return this.open('{%', inner, '%}')
  }

  private statement(depth: number): string {
    const body = (): string => this.body(depth)
    const value = (): string => this.expression(depth)
    const name = this.pick(names)
    const block = (start: string, end: string): string => this.tag(start) + body() + this.tag(end)
    switch (Math.floor(this.random() * 16)) {
      case 0:
      case 1:
        return block(`if ${value()}`, 'endif')
      case 2:
        return `${this.tag(`if ${value()}`)}${body()}${this.tag('else')}${body()}${this.tag('endif')}`
      case 3:
        return `${this.tag(`if ${value()}`)}${body()}${this.tag(`elif ${value()}`)}${body()}${this.tag('endif')}`
      case 4:
      case 5:
        return this.loop(depth)
      case 6:
      case 7:
        return this.tag(`set ${name} = ${value()}`)
      case 8:
        return block(this.pick([`set ${name}`, `set ${name} | upper`]), 'endset')
      case 9:
        return block(`with ${name} = ${value()}`, 'endwith')
      case 10:
        return this.macro(depth)
      case 11:
        return block(
          `filter ${this.pick(['upper', 'trim', "replace('a', b)", 'title|lower'])}`,
          'endfilter',
        )
      case 12:
        return block(`block k${this.blockCount++}${this.pick(['', ' scoped'])}`, 'endblock')
      case 13:
        return this.namespaced(depth)
      case 14:
        return this.pick([
          '{# note #}',
          '{#- x\n -#}',
          '{% raw %}{{ x }}{% endraw %}',
          '{%- raw -%} {% {%- endraw %}',
        ])
      default:
        return this.rare(depth)
    }
  }

  private loop(depth: number): string {
    const target = this.pick(['i', 'x', 'a', 'k, v'])
    const items =
      target === 'k, v'
        ? 'user|dictsort'
        : this.pick(['items', 'range(3)', 'word', this.expression(depth)])
    const test = this.chance(0.2)
      ? ` if ${this.pick([this.expression(depth), target === 'k, v' ? 'k' : target])}`
      : ''
    const inner = this.pick([
      '',
      '{{ i }}',
      '{{ loop.index }}',
      '{{ loop.last }}',
      '{{ x.name }}',
      '{{ loop.length }}',
    ])
    const otherwise = this.chance(0.2) ? this.tag('else') + this.body(depth) : ''
    return `${this.tag(`for ${target} in ${items}${test}`)}${inner}${this.body(depth)}${otherwise}${this.tag('endfor')}`
  }

  private macro(depth: number): string {
    const name = this.pick(['m', 'f'])
    const parameters = this.pick(['', 'a', 'a, b=1', "a='x', b=a", 'x=n'])
    const inner = this.pick(['', '{{ a }}', '{{ caller() }}', '{{ varargs }}', '{{ kwargs }}'])
    const define = `${this.tag(`macro ${name}(${parameters})`)}${inner}${this.body(depth)}${this.tag('endmacro')}`
    const use = this.pick([
      `{{ ${name}() }}`,
      `{{ ${name}(1) }}`,
      `{{ ${name}(1, b=2) }}`,
      `{% call ${name}(3) %}in {{ a }}{% endcall %}`,
      '',
    ])
    return define + use
  }

  private namespaced(depth: number): string {
    const value = this.expression(depth)
    return `{% set ns = namespace(v=0) %}{% for i in items %}{% set ns.v = ${this.pick(['ns.v + 1', 'i', value])} %}{% endfor %}{{ ns.v }}`
  }

  private rare(depth: number): string {
    return this.pick([
      () => `{% print ${this.expression(depth)}, 1 %}`,
      () => `{% autoescape true %}{{ ${this.expression(depth)} }}{{ '<' }}{% endautoescape %}`,
      () => "{% include 'x' ignore missing %}",
      () => "{% import 'x' as m %}{{ m.f(a) }}",
      () => "{% from 'x' import f, g as b with context %}",
      () => "{% extends 'base' %}",
      () => '{{ self.k0() }}',
      () => '{% for i in items recursive %}{{ i }}{{ loop(i) if i is mapping }}{% endfor %}',
    ])()
  }

  /** Generates an expression of a kind. */
  private typed(kind: Kind, depth: number): string {
    const { leaves, rules } = grammar[kind]
    if (depth <= 0 || this.chance(0.3)) return this.pick(leaves)
    return this.pick(rules).replace(/\b[TNLDB]\b/g, (letter) => {
      const inner = this.typed(kindLetters[letter] ?? 'text', depth - 1)
      return /[ |]|^-/.test(inner) ? `(${inner})` : inner
    })
  }

  private expression(depth: number): string {
    if (this.chance(0.75)) return this.typed(this.pick(kinds), depth)
    if (depth <= 0 || this.chance(0.4)) return this.operand(depth)
    const left = this.operand(depth - 1)
    const kind = this.random()
    if (kind < 0.4) return `${left} ${this.pick(operators)} ${this.operand(depth - 1)}`
    if (kind < 0.5) return `${left} ${this.pick(logic)} ${this.expression(depth - 1)}`
    if (kind < 0.6)
      return `${left} if ${this.expression(depth - 1)} else ${this.operand(depth - 1)}`
    if (kind < 0.65) return `${left} if ${this.expression(depth - 1)}`
    if (kind < 0.7) return `not ${left}`
    if (kind < 0.75) return `${left} ** ${this.pick(['2', '3', '0', '-1'])}`
    if (kind < 0.85) return `${left} is ${this.pick(['', 'not '])}${this.pick(tests)}`
    if (kind < 0.9) return `(${this.expression(depth - 1)}, ${left})`
    if (kind < 0.95) return `[${left}, ${this.expression(depth - 1)}]`
    return `${left} < ${this.operand(depth - 1)} <= ${this.operand(0)}`
  }

  private operand(depth: number): string {
    let text = this.chance(0.5) ? this.pick(names) : this.pick(literals)
    if (depth > 0 && this.chance(0.1)) text = `(${this.expression(depth - 1)})`
    while (this.chance(0.3)) text += this.postfix(depth)
    while (this.chance(0.3)) text += `${this.pick(['|', ' | '])}${this.pick(filters)}`
    return text
  }

  private postfix(depth: number): string {
    const kind = this.random()
    if (kind < 0.4) return `.${this.pick(attributes)}`
    if (kind < 0.6) return `.${this.pick(methods)}`
    if (kind < 0.75) return `[${this.pick(['0', '1', '-1', "'name'", "'x'", '5'])}]`
    if (kind < 0.85) return `[${this.pick(['1:', ':2', '::-1', '1:3', '-2:', '::2', ':-1'])}]`
    if (kind < 0.95 && depth > 0) return `[${this.expression(depth - 1)}]`
    return this.pick(['()', '(1)', '(a, b=n)', '(*items)'])
  }
}

/** Variables of the random templates. */
export const sampleContext = {
  a: 'Apple pie',
  b: 3,
  items: [3, 1, 2],
  user: { name: 'Ann Lee', age: 30, tags: ['x', 'Y'], address: { city: 'Köln', zip: null } },
  word: 'hello',
  n: 7,
  f: 2.5,
  flag: true,
  nothing: null,
}
