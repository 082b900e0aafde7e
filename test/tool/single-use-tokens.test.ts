import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createUsedTokens } from '../../src/state/records.ts'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { Refused } from '../../src/tool/refused.ts'
import { createSingleUseTokens } from '../../src/tool/single-use-tokens.ts'

const sealingKeys = sealingKeysFrom(async () => ['a secret of this test'])
const tokensOf = (bounds?: { inAll: number; perOwner: number }) =>
  createSingleUseTokens('a purpose', 120, {
    usedTokens: createUsedTokens(createSqliteRecords(':memory:', '--state-dir'), bounds),
    sealingKeys,
  })
const call = { call: 'a call', scope: 'all of it' }
/** What a token that is made now states. */
const made = (nonce: string) => ({ ...call, nonce, exp: Math.floor(Date.now() / 1000) + 120 })

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a used token is never valid again, however many others are used after it', async () => {
  const tokens = tokensOf()
  const first = await tokens.verify(await tokens.mint(call))
  expect(await tokens.use(first, 'me')).toBe(true)
  for (let nth = 0; nth < 20_000; nth++) await tokens.use(made(`another ${nth}`), 'me')
  expect(await tokens.use(first, 'me')).toBe(false)
  expect(await tokens.isUsed(first)).toBe(true)
})

test('a use is remembered until its token has expired', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  const text = await tokens.mint(call)
  const content = await tokens.verify(text)
  await tokens.use(content, 'me')
  vi.advanceTimersByTime(119_000)
  expect(await tokens.use(content, 'me')).toBe(false)
  vi.advanceTimersByTime(3000)
  await expect(tokens.verify(text)).rejects.toThrow()
  // And a minute longer: the clock of another server may be behind.
  expect(await tokens.use(content, 'me')).toBe(false)
  vi.advanceTimersByTime(60_000)
  // Expired tokens are removed to make room.
  expect(await tokens.use(made('second'), 'me')).toBe(true)
  expect(await tokens.use(made('third'), 'me')).toBe(true)
})

test('where no more uses can be remembered, others are refused and not forgotten', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  await tokens.use(made('first'), 'me')
  await tokens.use(made('second'), 'me')
  await expect(tokens.use(made('third'), 'me')).rejects.toThrow(Refused)
  expect(await tokens.use(made('first'), 'me')).toBe(false)
  vi.advanceTimersByTime(182_000)
  expect(await tokens.use(made('third'), 'me')).toBe(true)
})

test('one owner cannot use up what all may use', async () => {
  const tokens = tokensOf({ inAll: 3, perOwner: 2 })
  await tokens.use(made('first'), 'me')
  await tokens.use(made('second'), 'me')
  await expect(tokens.use(made('third'), 'me')).rejects.toThrow(Refused)
  expect(await tokens.use(made('fourth'), 'you')).toBe(true)
  await tokens.giveBack(made('first'))
  expect(await tokens.use(made('third'), 'me')).toBe(true)
})

test('a token is invalid once the clock was set back, since its use may be forgotten before it expires', async () => {
  const tokens = tokensOf()
  const text = await tokens.mint(call)
  vi.setSystemTime(Date.now() - 3_600_000)
  const content = await tokens.verify(text)
  expect(await tokens.use(content, 'me')).toBe(false)
  expect(await tokens.use(await tokens.verify(await tokens.mint(call)), 'me')).toBe(true)
})

test('a token is invalid where the clock passes its end while its use is remembered', async () => {
  const records = createSqliteRecords(':memory:', '--state-dir')
  let stepMs = 0
  const usedTokens = createUsedTokens({
    ...records,
    add: async (...given) => {
      vi.advanceTimersByTime(stepMs)
      return records.add(...given)
    },
  })
  const tokens = createSingleUseTokens('a purpose', 120, { usedTokens, sealingKeys })
  const content = await tokens.verify(await tokens.mint(call))
  expect(await tokens.use(content, 'me')).toBe(true)
  stepMs = 3_600_000
  expect(await tokens.use(content, 'me')).toBe(false)
})
