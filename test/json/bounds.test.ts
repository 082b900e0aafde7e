import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonExcess } from '../../src/json/bounds.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Objects and arrays, and what stands behind the first item of each. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value)
  return 1 + Math.max(0, items.length - 1) + items.reduce((sum, item) => sum + countOf(item), 0)
}

test('the scan counts as the parsed value does, whatever stands in strings', () => {
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
      expect(jsonExcess(text, { depth, values })).toBeUndefined()
      if (depth > 0) expect(jsonExcess(text, { depth: depth - 1, values })).toBe('depth')
      if (values > 0) expect(jsonExcess(text, { depth, values: values - 1 })).toBe('values')
    }),
  )
})

test('broken JSON is no trouble', () => {
  const bounds = { depth: 10, values: 10 }
  for (const text of ['"', '"\\', '"\\"'.repeat(99), ']'.repeat(99), '\\'.repeat(99), '']) {
    expect(jsonExcess(text, bounds)).toBeUndefined()
  }
})
