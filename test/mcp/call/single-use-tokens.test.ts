import type { ServerContext } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refused } from '../../../src/mcp/call/refused.ts'
import { createSingleUseTokens } from '../../../src/mcp/call/single-use-tokens.ts'
import { createMemoryRecords } from '../../../src/state/memory/memory-records.ts'
import { sealingKeysFrom } from '../../../src/state/sealing-keys.ts'
import { createUsedTokens } from '../../../src/state/used-tokens.ts'

// The codec of the SDK reads nothing of the context unless it is told to bind to it.
const context = {} as ServerContext
const sealingKeys = sealingKeysFrom(async () => ['a secret of this test'])
const tokensOf = (bounds?: { inAll: number; perOwner: number }) =>
  createSingleUseTokens('a purpose', 120, {
    usedTokens: createUsedTokens(createMemoryRecords(), bounds),
    sealingKeys,
  })
const call = { call: 'a call', scope: 'all of it' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a used token is never valid again, however many others are used after it', async () => {
  const tokens = tokensOf()
  const first = await tokens.verify(await tokens.mint(call, context), context)
  expect(await tokens.use(first, 'me')).toBe(true)
  for (let nth = 0; nth < 20_000; nth++)
    await tokens.use({ ...call, nonce: `another ${nth}` }, 'me')
  expect(await tokens.use(first, 'me')).toBe(false)
  expect(await tokens.isUsed(first)).toBe(true)
})

test('a use is remembered until its token has expired', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  const text = await tokens.mint(call, context)
  const content = await tokens.verify(text, context)
  await tokens.use(content, 'me')
  vi.advanceTimersByTime(119_000)
  expect(await tokens.use(content, 'me')).toBe(false)
  vi.advanceTimersByTime(3000)
  await expect(tokens.verify(text, context)).rejects.toThrow()
  // And a minute longer: the clock of another server may be behind.
  expect(await tokens.use(content, 'me')).toBe(false)
  vi.advanceTimersByTime(60_000)
  // Expired tokens are removed to make room.
  expect(await tokens.use({ ...call, nonce: 'second' }, 'me')).toBe(true)
  expect(await tokens.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})

test('where no more uses can be remembered, others are refused and not forgotten', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  await tokens.use({ ...call, nonce: 'first' }, 'me')
  await tokens.use({ ...call, nonce: 'second' }, 'me')
  await expect(tokens.use({ ...call, nonce: 'third' }, 'me')).rejects.toThrow(Refused)
  expect(await tokens.use({ ...call, nonce: 'first' }, 'me')).toBe(false)
  vi.advanceTimersByTime(182_000)
  expect(await tokens.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})

test('one owner cannot use up what all may use', async () => {
  const tokens = tokensOf({ inAll: 3, perOwner: 2 })
  await tokens.use({ ...call, nonce: 'first' }, 'me')
  await tokens.use({ ...call, nonce: 'second' }, 'me')
  await expect(tokens.use({ ...call, nonce: 'third' }, 'me')).rejects.toThrow(Refused)
  expect(await tokens.use({ ...call, nonce: 'fourth' }, 'you')).toBe(true)
  await tokens.giveBack({ ...call, nonce: 'first' })
  expect(await tokens.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})
