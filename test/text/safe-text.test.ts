import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientText, messageText, safeJson } from '../../src/text/safe-text.ts'
import { tries } from '../harness/property.ts'

test.each([
  ['a\nb', 'a\\nb'],
  ['\u001b[31mred', '\\u001b[31mred'],
  ['\u202eevil', '\\u202eevil'],
  ['zero\u200bwidth', 'zero\\u200bwidth'],
  ['tag\u{e0041}', 'tag\\udb40\\udc41'],
  ['\ud800', '\\ud800'],
  ['line\u2028end', 'line\\u2028end'],
  ['Grüße, 你好 👋', 'Grüße, 你好 👋'],
])('%j is shown as %s', (text, shown) => {
  expect(clientText(text)).toBe(shown)
})

test.each([
  ['نمی\u200cخواهم', 'نمی\u200cخواهم'],
  ['क्\u200dष', 'क्\u200dष'],
  ['👩\u200d❤\ufe0f\u200d👨 ☎\ufe0e', '👩\u200d❤\ufe0f\u200d👨 ☎\ufe0e'],
  ['☎\ufe0f\ufe01\ufe02', '☎\ufe0f\\ufe01\\ufe02'],
  ['☎\u200c\u200c\u200d', '☎\u200c\\u200c\\u200d'],
  ['a\u200db\ufe0f', 'a\\u200db\\ufe0f'],
])('JSON keeps the joiners and selectors of %j that have an effect', (text, shown) => {
  const json = safeJson(JSON.stringify(text))
  expect(json).toBe(`"${shown}"`)
  expect(JSON.parse(json)).toBe(text)
})

test('a long text is cut, with a note of its length', () => {
  const text = clientText('x'.repeat(3_900_000))
  expect(text).toMatch(/^x+… \(3900000 characters\)$/)
  expect(text).toHaveLength(200)
})

test('any text becomes one short line, and escaping it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
      const shown = messageText(text)
      expect(shown.length).toBeLessThanOrEqual(1000)
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(messageText(shown)).toBe(shown)
    }),
    tries(500),
  )
})
