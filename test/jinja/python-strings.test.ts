import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  compareText,
  findFirst,
  findLast,
  positionsOf,
  sliceText,
  textLength,
} from '../../src/jinja/python/text.ts'
import { tries } from '../harness/property.ts'

/** Few letters with many repetitions, where text searches often fail. */
const text = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'ab', 'aab'), fc.integer({ min: 0, max: 40 })))
  .map((runs) => runs.map(([part, times]) => part.repeat(times)).join(''))

test('a search finds what V8’s own finds', () => {
  fc.assert(
    fc.property(text, text, fc.nat(50), (where, part, from) => {
      fc.pre(part !== '')
      expect(findFirst(where, part, from)).toBe(where.indexOf(part, from))
      expect(findLast(where, part)).toBe(where.lastIndexOf(part))
      expect([...positionsOf(where, part)].length).toBe(where.split(part).length - 1)
    }),
    tries(2000),
  )
})

test('strings are counted, cut and ordered by characters, whole or half', () => {
  const unit = fc.constantFrom('a', '\ue000', '😀', '😁', '\ud83d', '\ude00')
  const string = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''))
  fc.assert(
    fc.property(string, string, fc.nat(9), fc.nat(9), (a, b, start, end) => {
      expect(textLength(a)).toBe([...a].length)
      expect(sliceText(a, start, Math.max(start, end))).toBe(
        [...a].slice(start, Math.max(start, end)).join(''),
      )
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(slowCompare([...a], [...b])))
    }),
    tries(2000),
  )
})

function slowCompare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((char, index) => char !== b[index])
  if (at < 0 || at >= b.length) return a.length - b.length
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0)
}
