import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientText, messageText } from '../../src/text/safe-text.ts'
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
