import { expect, test } from 'vitest'
import { shortenValue } from '../../src/views/shorten-value.ts'

const result = (count: number) => ({
  valid: true,
  warnings: Array.from({ length: count }, (_, index) => ({
    type: 'unknown_variable',
    message: `Unknown variable 'v${index}'.`,
    variable: `v${index}`,
  })),
  variables: Array.from({ length: count }, (_, index) => `v${index}`),
})

/** CPU time of this process: other work on the machine makes no difference. */
function cpuMs(work: () => void): number {
  const { user, system } = process.cpuUsage()
  work()
  const after = process.cpuUsage()
  return (after.user + after.system - user - system) / 1000
}

test('a long result is shortened without counting all of it', () => {
  const long = result(40_000)
  const written = JSON.stringify(long)
  const least = (work: () => void) => Math.min(...[1, 2, 3, 4].map(() => cpuMs(work)))
  const copied = least(() => JSON.parse(JSON.stringify(JSON.parse(written))))
  expect(least(() => shortenValue(long, 6000))).toBeLessThan(5 * copied)
})

test('what is shown of it does not depend on how much there is more', () => {
  const [some, many] = [2000, 40_000].map((count) => shortenValue(result(count), 3000))
  const withoutCounts = (text: string | undefined) => text?.replaceAll(/… \d+ more/g, '… more')
  expect(withoutCounts(some)).toBe(withoutCounts(many))
  expect(many).toMatch(/… 39\d{3} more/)
})
