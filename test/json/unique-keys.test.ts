import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DuplicateKeyError, parseJsonText } from '../../src/json/unique-keys.ts'
import { tries } from '../harness/property.ts'

test.each([
  ['{"a": 1, "a": 2}', 'a is given twice, the second time in line 1'],
  [
    '{"a": {"b": 1},\n "c": [0, {"d": 1, "e": [],\n "d": 2}]}',
    'c.1.d is given twice, the second time in line 3',
  ],
  ['[{"a": 1}, {"a": 1, "\\u0061": 2}]', '1.a is given twice'],
  ['{"": 1, "": 2}', ' is given twice'],
  ['{"__proto__": 1, "__proto__": 2}', '__proto__ is given twice'],
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

test('whatever JSON.stringify writes is read as it was', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJsonText(JSON.stringify(JSON.parse(text), undefined, 1))).toEqual(
        JSON.parse(text),
      )
    }),
    tries(300),
  )
})
