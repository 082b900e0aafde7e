import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  boundExceededByText,
  boundExceededByValue,
  DuplicateKeyError,
  parseJsonText,
} from '../../src/text/json.ts'
import { tries } from '../harness/property.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Number of containers, plus the items after the first in each. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value)
  return 1 + Math.max(0, items.length - 1) + items.reduce((sum, item) => sum + countOf(item), 0)
}

test('the scan of a text counts like the parsed value, whatever its strings contain', () => {
  const string = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '}', 'a', '\n') })
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 6 }, string, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 5 }),
    object: fc.dictionary(string, tie('any'), { maxKeys: 5 }),
  })).any
  fc.assert(
    fc.property(value, (one) => {
      const text = JSON.stringify(one) + ' '.repeat(4000)
      const depth = depthOf(JSON.parse(text))
      const values = countOf(JSON.parse(text))
      expect(boundExceededByText(text, { depth, values })).toBeUndefined()
      if (depth > 0) expect(boundExceededByText(text, { depth: depth - 1, values })).toBe('depth')
      if (values > 0)
        expect(boundExceededByText(text, { depth, values: values - 1 })).toBe('values')
    }),
    tries(100),
  )
})

test('a value exceeds a bound by its depth, or by its items and properties', () => {
  const value = { a: [1, 2, { b: [] }], c: null }
  expect(boundExceededByValue(value, { depth: 4, values: 6 })).toBeUndefined()
  expect(boundExceededByValue(value, { depth: 3, values: 6 })).toBe('depth')
  expect(boundExceededByValue(value, { depth: 4, values: 5 })).toBe('values')
})

test('a value nested 100,000 deep does not exhaust the stack', () => {
  let deep: unknown = 0
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(boundExceededByValue(deep, { depth: 100, values: 2_000_000 })).toBe('depth')
})

test('invalid JSON exceeds no bound', () => {
  const bounds = { depth: 10, values: 10 }
  for (const text of ['"', '"\\', '"\\"'.repeat(99), ']'.repeat(99), '\\'.repeat(99), '']) {
    expect(boundExceededByText(text, bounds)).toBeUndefined()
  }
})

test.each([
  ['{"a": 1, "a": 2}', /^a .*\bline 1$/],
  ['{"a": {"b": 1},\n "c": [0, {"d": 1, "e": [],\n "d": 2}]}', /^c\.1\.d .*\bline 3$/],
  ['[{"a": 1}, {"a": 1, "\\u0061": 2}]', /^1\.a /],
  ['{"": 1, "": 2}', /^ /],
  ['{"__proto__": 1, "__proto__": 2}', /^__proto__ /],
])('%s is refused', (text, message) => {
  expect(() => parseJsonText(text)).toThrow(DuplicateKeyError)
  expect(() => parseJsonText(text)).toThrow(message)
})

test.each([
  '{"a": "a", "b": "a", "c": ["a", "a"]}',
  '{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}]}',
  '{"a": "\\"a\\": 1, {", "b": "\\\\", "c": "}"}',
  '[]',
  '"text"',
])('%s is read', (text) => {
  expect(parseJsonText(`\uFEFF${text}`)).toEqual(JSON.parse(text))
})

test('every text that JSON.stringify writes is parsed to its value', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJsonText(JSON.stringify(JSON.parse(text), undefined, 1))).toEqual(
        JSON.parse(text),
      )
    }),
    tries(300),
  )
})
