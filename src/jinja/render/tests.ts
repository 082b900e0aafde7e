import { compare, contains, equals, numberOf } from '../python/compare.ts'
import { DictView } from '../python/container-methods.ts'
import { tryIterate, tryLength } from '../python/iterate.ts'
import { bind } from '../python/methods.ts'
import { binary } from '../python/operators.ts'
import type { Callee, Runtime } from '../python/runtime.ts'
import { isLower, isUpper } from '../python/string-methods.ts'
import { toText } from '../python/to-text.ts'
import { Dict, Markup, PyObject, Tuple, textOf, Undefined, type Value } from '../python/values.ts'

type Check = (value: Value, runtime: Runtime) => boolean
type Comparison = (runtime: Runtime, value: Value, other: Value) => boolean

function check(name: string, run: Check): readonly [string, Callee] {
  return [
    name,
    (runtime, value, args) => {
      bind(runtime, name, [], args)
      return run(value, runtime)
    },
  ]
}

/** A test with one argument, under all its names. */
function comparison(names: string, run: Comparison): (readonly [string, Callee])[] {
  return names.split(' ').map((name) => [
    name,
    (runtime, value, args) => {
      const [other = null] = bind(runtime, name, ['other'], args)
      return run(runtime, value, other)
    },
  ])
}

function isRemainder(runtime: Runtime, value: Value, divisor: bigint, wanted: bigint): boolean {
  return equals(runtime, binary(runtime, 'mod', value, divisor), wanted)
}

/** A value as text, charged for reading its characters. */
function readText(runtime: Runtime, value: Value): string {
  const text = toText(runtime, value)
  runtime.read(text, 'walk')
  return text
}

function isSequence(value: Value): boolean {
  if (value instanceof PyObject && (!value.reversible || value instanceof DictView)) return false
  return value instanceof Undefined || tryLength(value) !== null
}

/**
 * Python's `a is b`. Numbers and strings have no identity here. Equal ones count as the same if
 * CPython interns them: the integers from -5 to 256 and the empty string. Other equal ones count as
 * different, as in CPython if they come from different places, such as a literal and the context.
 * So a large number or a string is not even the same as itself, unlike in CPython.
 */
function isSame(a: Value, b: Value): boolean {
  if (a !== b) return a instanceof Tuple && b instanceof Tuple && isEmpty(a) && isEmpty(b)
  if (typeof a === 'bigint') return a >= -5n && a <= 256n
  if (typeof a === 'string') return a === ''
  return typeof a !== 'number'
}

function isEmpty({ items }: Tuple): boolean {
  return items.length === 0
}

/** Jinja2's builtin tests. */
export const tests: ReadonlyMap<string, Callee> = new Map<string, Callee>([
  check('odd', (value, runtime) => isRemainder(runtime, value, 2n, 1n)),
  check('even', (value, runtime) => isRemainder(runtime, value, 2n, 0n)),
  check('defined', (value) => !(value instanceof Undefined)),
  check('undefined', (value) => value instanceof Undefined),
  check('none', (value) => value === null),
  check('boolean', (value) => typeof value === 'boolean'),
  check('true', (value) => value === true),
  check('false', (value) => value === false),
  check('integer', (value) => typeof value === 'bigint'),
  check('float', (value) => typeof value === 'number'),
  check('number', (value) => numberOf(value) !== null),
  check('string', (value) => textOf(value) !== null),
  check('lower', (value, runtime) => isLower(readText(runtime, value))),
  check('upper', (value, runtime) => isUpper(readText(runtime, value))),
  check('mapping', (value) => value instanceof Dict),
  check('sequence', (value, runtime) => {
    runtime.readAll([value], 'scan')
    return isSequence(value)
  }),
  check('iterable', (value, runtime) => tryIterate(runtime, value) !== null),
  check(
    'callable',
    (value) =>
      value instanceof Undefined || (value instanceof PyObject && value.call !== undefined),
  ),
  check('escaped', (value) => value instanceof Markup),
  check('filter', (value, runtime) => runtime.filters.has(textOf(value) ?? '')),
  check('test', (value, runtime) => runtime.tests.has(textOf(value) ?? '')),
  ...comparison('divisibleby', (runtime, value, other) =>
    equals(runtime, binary(runtime, 'mod', value, other), 0n),
  ),
  ...comparison('sameas', (runtime, value, other) => {
    runtime.readAll([value], 'scan')
    return isSame(value, other)
  }),
  ...comparison('in', (runtime, value, other) => contains(runtime, other, value)),
  ...comparison('eq == equalto', (runtime, value, other) => equals(runtime, value, other)),
  ...comparison('ne !=', (runtime, value, other) => !equals(runtime, value, other)),
  ...comparison(
    'gt > greaterthan',
    (runtime, value, other) => compare(runtime, value, other, '>') > 0,
  ),
  ...comparison('ge >=', (runtime, value, other) => compare(runtime, value, other, '>=') >= 0),
  ...comparison('lt < lessthan', (runtime, value, other) => compare(runtime, value, other) < 0),
  ...comparison('le <=', (runtime, value, other) => compare(runtime, value, other, '<=') <= 0),
])

export const testNames: ReadonlySet<string> = new Set(tests.keys())
