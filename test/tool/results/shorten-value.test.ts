import { expect, test, vi } from 'vitest'
import { shortenValue } from '../../../src/tool/results/shortening.ts'

const result = (count: number) => ({
  valid: true,
  warnings: Array.from({ length: count }, (_, index) => ({
    type: 'unknown_variable',
    message: `Unknown variable 'v${index}'.`,
    variable: `v${index}`,
  })),
  variables: Array.from({ length: count }, (_, index) => `v${index}`),
})

test('a long result is shortened without counting all of it', () => {
  const long = result(40_000)
  const text = JSON.stringify(long)
  const stringify = vi.spyOn(JSON, 'stringify')
  shortenValue(long, 6000, text)
  const counted = stringify.mock.calls.length
  stringify.mockRestore()
  // Of 160,000 values in total.
  expect(counted).toBeLessThan(5000)
  expect(counted).toBeGreaterThan(100)
})

test('what is shown of it does not depend on how much there is more', () => {
  const [some, many] = [2000, 40_000].map((count) => shortenValue(result(count), 3000))
  const withoutCounts = (text: string | undefined) => text?.replaceAll(/… \d+ more/g, '… more')
  expect(withoutCounts(some)).toBe(withoutCounts(many))
  expect(many).toMatch(/… 39\d{3} more/)
})
