import { describe, expect, test } from 'vitest'
import { analyse, unknownVariables } from '../../src/jinja/index.ts'

function error(
  source: string,
): readonly [string | undefined, string | undefined, number | null | undefined] {
  const [first] = analyse(source).errors
  return [first?.type, first?.message, first?.line]
}

function paths(source: string): readonly string[] {
  return analyse(source).variables.map(({ path }) => path)
}

describe('errors', () => {
  test('an unknown filter is an error with the nearest name', () => {
    expect(error('a\n{{ name | captialize }}')).toEqual([
      'unknown_filter',
      "No filter named 'captialize'. Did you mean 'capitalize'?",
      2,
    ])
  })

  test('an unknown test is an error with the nearest name', () => {
    expect(error('{{ x is strng }}')).toEqual([
      'unknown_test',
      "No test named 'strng'. Did you mean 'string'?",
      1,
    ])
  })

  test('nothing is suggested for a name like no other', () => {
    expect(error('{{ x|frobnicate }}')[1]).toBe("No filter named 'frobnicate'.")
  })

  test('of several unknown filters in a chain the last is reported, as it is the outermost', () => {
    expect(error('{{ x|nosuch1\n|nosuch2 }}')[2]).toBe(2)
  })

  test('an unknown tag is told from a misplaced one', () => {
    expect(error('{% do x %}')[0]).toBe('undefined_tag')
    expect(error('{% endif %}')[0]).toBe('syntax_error')
  })

  test('only the first mistake is reported', () => {
    expect(analyse('{{ a b }}{% foo %}{{ x|nosuch }}').errors).toHaveLength(1)
  })

  test('a parse error comes before a lexing error further down', () => {
    expect(error('{{ a b }}\n{{ ? }}')[2]).toBe(1)
  })

  test.each([
    ['{{ f(a=1, a=2) }}', 'keyword argument repeated: a'],
    ['{% macro m(a, a) %}{% endmacro %}', "duplicate argument 'a' in macro definition"],
    ['{{ a[1:2, 3] }}', 'invalid syntax: a slice cannot be part of a tuple'],
    ['{% call f(caller=1) %}{% endcall %}', 'keyword argument repeated: caller'],
  ])('%s is what Python refuses in the code Jinja2 writes', (source, message) => {
    expect(error(source)).toEqual(['syntax_error', message, 1])
  })

  test('a variable in the filter of a set block is one only if it is known outside too', () => {
    expect(analyse('{% set x | replace(a, "b") %}{% endset %}').valid).toBe(false)
    expect(analyse('{{ a }}{% set x | replace(a, "b") %}{% endset %}').valid).toBe(true)
  })
})

describe('warnings', () => {
  test('inside an if an unknown filter or test only fails when rendered', () => {
    const { valid, warnings } = analyse('{% if x is nosuchtest %}{{ x|uper }}{% endif %}')
    expect(valid).toBe(true)
    expect(warnings.map(({ type, message }) => [type, message])).toEqual([
      ['unknown_test', "No test named 'nosuchtest' found."],
      ['unknown_filter', "No filter named 'uper' found. Did you mean 'upper'?"],
    ])
  })

  test('name each filter once, with the line of its first use', () => {
    const { warnings } = analyse(
      '{% if x %}\n{{ x|uper|uper }}{{ x|lowr }}\n{{ x|uper }}{% endif %}',
    )
    expect(warnings.map(({ message, line }) => [message, line])).toEqual([
      ["No filter named 'uper' found. Did you mean 'upper'?", 2],
      ["No filter named 'lowr' found. Did you mean 'lower'?", 2],
    ])
  })

  test('of a hundred names are enough', () => {
    const uses = Array.from({ length: 500 }, (_, i) => `{{ x|upper${i} if y }}`)
    expect(analyse(uses.join('')).warnings).toHaveLength(100)
  })

  test('a loop inside an if is compiled for good', () => {
    expect(analyse('{% if a %}{% for x in y %}{{ x|nosuch }}{% endfor %}{% endif %}').valid).toBe(
      false,
    )
  })

  test('an inline if defers too', () => {
    expect(analyse('{{ x|nosuch if y }}').warnings).toHaveLength(1)
  })

  test('what constant folding removes is never looked at', () => {
    expect(analyse('{{ true or x|nosuch }}').valid).toBe(true)
    expect(analyse('{{ true or x|nosuch }}{{ 1 or x|uper }}{{ x|lowr }}').errors).toMatchObject([
      { message: "No filter named 'lowr'. Did you mean 'lower'?" },
    ])
    expect(analyse('{{ y or x|nosuch }}').valid).toBe(false)
  })

  test('the output of a child template outside of blocks is never compiled', () => {
    expect(analyse('{% extends "a" %}{{ x|nosuch }}').valid).toBe(true)
    expect(paths('{% extends "a" %}{{ x|nosuch }}')).toEqual(['x'])
  })
})

describe('variables', () => {
  test.each<readonly [string, readonly string[]]>([
    ['{{ a.b["c"].d[0].e }}', ['a.b.c.d[0].e']],
    ['{{ a.b() }}{{ a.c.d(x.y) }}{{ f() }}', ['a', 'a.c', 'x.y', 'f']],
    ['{{ a[b].c }}', ['a', 'b']],
    ['{{ (a.b).c }}', ['a.b.c']],
    ['{{ a.b|default(c.d) }}', ['a.b', 'c.d']],
    ['{% set x = 1 %}{{ x }}', []],
    ['{% set a.b = c %}', ['a', 'c']],
    ['{% if a %}{% set b = 1 %}{% else %}{% set b = 2 %}{% endif %}{{ b }}', ['a', 'b']],
    [
      '{% if a %}{% set b = 1 %}{% elif c %}{% set b = 2 %}{% else %}{% set b = 3 %}{% endif %}{{ b }}',
      ['a', 'c'],
    ],
    [
      '{{ loop.index }}{% for x in y %}{{ loop.index }}{% else %}{{ loop }}{% endfor %}',
      ['loop.index', 'y', 'loop'],
    ],
    ['{% macro m(a, b=c) %}{{ a }}{{ caller() }}{{ varargs }}{{ kwargs }}{% endmacro %}', ['c']],
    ['{{ caller() }}{{ varargs }}{{ super() }}{{ self.x() }}', ['caller', 'varargs', 'super']],
    ['{% block a %}{{ super() }}{{ self.a() }}{{ x }}{% endblock %}', ['x']],
    ['{% set x = 1 %}{% block a %}{{ x }}{% endblock %}', ['x']],
    ['{{ range(n) }}{{ lipsum() }}{{ request }}', ['n', 'request']],
    ['{% from "x" import a as b %}{{ a }}{{ b }}', ['a']],
  ])('%s reads %j', (source, expected) => {
    expect(paths(source)).toEqual(expected)
  })

  test('each is reported once, with the line of its first use', () => {
    expect(analyse('{{ a }}\n{{ b }}\n{{ a }}').variables).toEqual([
      { path: 'a', line: 1 },
      { path: 'b', line: 2 },
    ])
  })
})

describe('unknown variables', () => {
  const { variables } = analyse(
    '{{ order.id }}{{ order[0] }}\n{{ orders }}{{ dyn_x }}{{ contact.name }}',
  )

  test('an allowed path allows what lies below it', () => {
    const issues = unknownVariables(variables, ['order', 'dyn_*', 'contact.first_name'])
    expect(issues.map(({ type, variable, line }) => [type, variable, line])).toEqual([
      ['unknown_variable', 'orders', 2],
      ['unknown_variable', 'contact.name', 2],
    ])
  })
})

describe('options', () => {
  test('filters of the platform can be added; datetime is one already', () => {
    expect(analyse('{{ x|money }}{{ y|datetime }}').valid).toBe(false)
    expect(analyse('{{ x|money }}{{ y|datetime }}', { extraFilters: ['money'] }).valid).toBe(true)
  })

  test('a template longer than allowed is not read', () => {
    expect(analyse('{{ a b }}', { maxLength: 5 }).errors[0]?.type).toBe('too_large')
  })
})
