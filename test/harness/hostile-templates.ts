/**
 * Templates that run an operation as often as the limits permit, and store its results. Every
 * operation is combined with every kind of text, because nobody knows in advance which combination
 * is expensive.
 */

/** Expressions whose values have up to a few hundred thousand characters. */
const texts = [
  "'x' * 400000",
  "'aB ' * 100000",
  "'☃ ' * 100000",
  "'😀' * 100000",
  "'<&>' * 100000",
  "'a\\n' * 100000",
  "'ab-' * 100000",
  "'\\x01' * 200000",
  "'a.' * 100000",
  "'\\t' * 200000",
  "'1_' * 100000",
  "'&lt;' * 80000",
  "'a@a.aa ' * 40000",
  "'www.a.aa ' * 30000",
  "'%s{}' * 60000",
  "'{0!r:>9}' * 30000",
  "'%5.5r' * 30000",
  "'short'",
  "''",
]

/**
 * Operations: `s` is the text, `t` nearly the same, `u` long and different, `l` a list of values,
 * `d` a dictionary, `k` a list that stores results, `m` a macro.
 */
const operations = [
  ...['upper', 'lower', 'casefold', 'title', 'capitalize', 'swapcase', 'strip', 'split'],
  ...['splitlines', 'isalpha', 'isalnum', 'isspace', 'isidentifier', 'isprintable', 'istitle'],
  ...['islower', 'isupper', 'isascii', 'isnumeric', 'expandtabs', 'rsplit', 'rstrip'],
]
  .map((name) => `s.${name}()`)
  .concat([
    's.strip("xaB ")',
    's.center(500000)',
    's.zfill(500000)',
    's.replace("a", "b")',
    's.replace("", "-")',
    's.replace("", "b", 9)',
    's.replace(u, "")',
    's.split("a")',
    's.split(u)',
    's.split(None, 50000)',
    's.rsplit("a", 5)',
    's.partition(u)',
    's.rpartition(u)',
    's.startswith((u, t, s))',
    's.startswith("a", 5)',
    's.endswith(t)',
    's.find(u)',
    's.rfind(u)',
    's.rfind("zz")',
    's.count(u)',
    's.count("a")',
    's.count("")',
    's.join(l)',
    's.join(s)',
    's.format(s, s)',
    's.format_map({"0": s})',
    's % (s, s)',
    's % 1',
    's * 2',
    's ~ t ~ u',
    's + t',
    's == t',
    's < t',
    'u in s',
    's in l',
    '([s ~ ""] * 1000).count(s[:9] ~ s[9:])',
    '[s[:9] ~ s[9:]] * 100 == [s] * 100',
    's[5]',
    's[-1]',
    's[5:9]',
    's[::-1]',
    's[::2]',
    '{s: 1, t: 2}',
    '{(s, t, u): 1}',
    '{s: 1}[s]',
    '[s, t, u]',
    '"%s%r" % (s, s)',
    '"%5.5s" % s',
    '"{!r} {:>9} {:.5}".format(s, s, s)',
    's is lower',
    's is in t',
    's is sameas t',
    's.nosuch',
    's[t]',
    'l == l + l',
    'l * 100',
    'l + l',
    '(l * 500).count(1)',
    '(l * 500).index(nosuch)',
    'l.copy()',
    'range(100000)|list',
    'range(100000)|sum',
    'range(99999)|map("string")|join',
    'range(9999)|batch(3)|list',
    'range(9999)|slice(999)|list',
    'range(9999)|groupby("x")',
    'range(9999)|sort(reverse=true)',
    'range(9999)|map("string")|sort',
    'range(9999)|unique|list',
    '99999 in range(100000)',
    'range(9999)[::-1]|list',
    'dict(range(9999)|batch(1)|map("list")|batch(2)|list)',
    'namespace(a=s)',
    '9 ** 20000',
    '9 ** 6000 * 7 ** 6000',
    '9 ** 20000 // 7 ** 9999',
    '9 ** 20000 % 7 ** 9999',
    '9 ** 4000 + 1',
    '(9 ** 4000)|string',
    '{9 ** 20000: 1}',
    '9 ** 20000 == 9 ** 20000',
    '7 ** 9000 / 3 ** 9999',
    '"{:,b}".format(9 ** 20000)',
    '"%x" % 9 ** 20000',
    '("9" * 4300)|int',
    '("z" * 4300)|int(0, 36)',
    '"%.100000f" % 0.1',
    '"{:.100000f}".format(1e300)',
    '"%.1000f" % 0.1',
    '1.5|round(300)',
    '5|round(-9999)',
    '0|datetime("%c%r%Z" * 1000, "Europe/Berlin")',
    '0|datetime("%H", "Asia/Tokyo")',
    'lipsum(3)',
    'lipsum(1, false, 100, 90000)',
    'cycler(*range(9999))',
    'joiner(s)',
    'dict(d, **d)',
    'd.copy()',
    'd.items()|list',
    'd|dictsort',
    'd|tojson',
    'd|pprint',
    'd|xmlattr',
    'd|urlencode',
    'd == d.copy()',
    '(d.items()|list)|tojson(2)',
    'self',
    'm(s)',
    'm',
    'm|string',
    'nosuch',
    '[l, [l, [l, d]]]|pprint',
    '[l, [l, [l, d]]]|string',
  ])
  .concat(
    [
      ...['capitalize', 'trim', 'trim("xaB ")', 'center(500000)', 'title', 'replace(u, "b")'],
      ...['indent', 'indent(1, true, true)', 'truncate(9)', 'truncate(99999)', 'wordwrap'],
      ...['wordwrap(1)', 'wordwrap(10)', 'wordwrap(79, false)', 'wordwrap(99999)', 'wordcount'],
      ...['string', 'datetime', 'format(s)', 'int', 'float', 'length', 'list', 'first', 'last'],
      ...['reverse', 'random', 'escape', 'forceescape', 'safe', 'striptags', 'urlencode'],
      ...['urlize', 'urlize(5, extra_schemes=["tel:"] * 99)', 'tojson', 'pprint', 'unique|list'],
      ...['sort', 'batch(3)|list', 'slice(3)|list', 'join("-")', 'groupby(0)', 'min', 'max(true)'],
      ...['map("upper")|list', 'select|list', 'select("in", s)|list', 'default("a")', 'attr("z")'],
    ].map((name) => `s|${name}`),
  )

/** Loops around an operation, with or without storing its results. */
const frames: readonly ((operation: string) => string)[] = [
  (operation) => `{% for i in range(100000) %}{% set _ = ${operation} %}{% endfor %}`,
  (operation) => `{% for i in range(100000) %}{% set _ = k.append(${operation}) %}{% endfor %}`,
  (operation) =>
    `{% autoescape true %}{% for i in range(100000) %}{{ (${operation})|length }}{% endfor %}{% endautoescape %}`,
]

const start =
  '{% macro m(a) %}{{ a }}{% endmacro %}{% block b %}{% endblock %}' +
  "{% set k = [] %}{% set u = 'b' + 'a' * 20000 %}{% set l = [1, 'a', 2.5] * 10 %}" +
  "{% set d = dict(range(400)|map('string')|batch(2)) %}"

/** The template with this number, from 0 to `templateCount` - 1. */
export function hostileTemplate(number: number): string {
  const frame = frames[number % frames.length] ?? String
  const rest = Math.floor(number / frames.length)
  const operation = operations[rest % operations.length] ?? ''
  const text = texts[Math.floor(rest / operations.length)] ?? ''
  return `${start}{% set s = ${text} %}{% set t = s[1:] ~ 'y' %}${frame(operation)}`
}

export const templateCount = frames.length * operations.length * texts.length

/** Templates that are expensive to parse or check: many names, many tokens, deep nesting. */
export const hostileSources: Readonly<Record<string, () => string>> = {
  'names in nested ifs': () => nest('{% if a %}', '{% endif %}', names('{{a#}}')),
  'sets in nested ifs': () => nest('{% if a %}', '{% endif %}', names('{% set b#=1 %}')),
  'names in nested withs': () => nest('{% with %}', '{% endwith %}', names('{{a#}}')),
  calls: () => `{{ [${'f(),'.repeat(240_000)}1] }}`,
  sums: () => `{{ [${'a+b+c+d,'.repeat(120_000)}1] }}`,
  commas: () => `{{ ${'a,'.repeat(490_000)}a }}`,
  loops: () => '{%for a in b%}{%endfor%}'.repeat(160_000),
  'a long integer': () =>
    `{% for i in range(100000) %}{% set _ = 0x${'f'.repeat(900_000)} + i %}{% endfor %}`,
  'names that a loop never reads': () =>
    `{% for i in range(100000) %}{% if 0 %}${names('{{a#}}', 20_000)}{% endif %}{% endfor %}`,
  'a scoped block in a loop': () =>
    `${names('{% set b#=1 %}', 20_000)}{% for i in range(100000) %}{% block x scoped %}{% endblock %}{% endfor %}`,
  'a long name that is undefined': () =>
    `{% for i in range(100000) %}{{ ${'n'.repeat(500_000)} }}{% endfor %}`,
  'names read from deep inside': () =>
    nest(
      '{% with %}',
      '{% endwith %}',
      '{% for i in range(100000) %}{% set _ = x %}{% endfor %}{{ x }}',
    ),
}

function nest(open: string, close: string, inner: string): string {
  return open.repeat(97) + inner + close.repeat(97)
}

/** Repeats a pattern. `#` is replaced by the number of the repetition. */
function names(pattern: string, count = 60_000): string {
  return Array.from({ length: count }, (_, index) => pattern.replace('#', String(index))).join('')
}
