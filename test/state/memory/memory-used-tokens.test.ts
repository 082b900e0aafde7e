import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryUsedTokens } from '../../../src/state/memory/memory-used-tokens.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

const useOf = (nonce: string, expires = 1000) => ({ nonce, owner: 'me', expires })

test('of several requests at the same moment one uses a token', async () => {
  const used = createMemoryUsedTokens()
  const answers = await Promise.all(Array.from({ length: 20 }, () => used.use(useOf('a'))))
  expect(answers.filter((answer) => answer === 'used now')).toHaveLength(1)
  expect(await used.isUsed('a')).toBe(true)
})

test('a token that is given back can be used once more', async () => {
  const used = createMemoryUsedTokens()
  await used.use(useOf('a'))
  await used.giveBack('a')
  expect(await used.isUsed('a')).toBe(false)
  expect(await used.use(useOf('a'))).toBe('used now')
  expect(await used.use(useOf('a'))).toBe('used before')
})

test('an expired token makes room also behind one that is valid for longer', async () => {
  const used = createMemoryUsedTokens({ inAll: 2, perOwner: 2 })
  await used.use(useOf('long', 10_000))
  await used.use(useOf('short', 1000))
  expect(await used.use(useOf('next'))).toBe('full')
  vi.setSystemTime(1000)
  expect(await used.use(useOf('next', 2000))).toBe('used now')
  expect(await used.use(useOf('long'))).toBe('used before')
})
