import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { Refused } from '../../src/tool/refused.ts'
import {
  createSingleUseTokens,
  createUsedTokens,
  type SingleUseToken,
  type SingleUseTokens,
} from '../../src/tool/single-use-tokens.ts'

const sealingKeys = sealingKeysFrom(async () => ['a secret of this test'])
const tokensOf = (bounds?: { inAll: number; perOwner: number }, purpose = 'a purpose') =>
  createSingleUseTokens(purpose, 120, {
    usedTokens: createUsedTokens(createSqliteRecords(':memory:', '--state-dir'), bounds),
    sealingKeys,
  })
/** A token that expires in two minutes. */
const made = (nonce: string): SingleUseToken => ({
  nonce,
  exp: Math.floor(Date.now() / 1000) + 120,
  isFor: () => true,
})
/** Mints a token, then reads it back. */
const minted = async (tokens: SingleUseTokens, ...values: unknown[]) => {
  const token = await tokens.read(await tokens.mint(...values))
  if (!token) throw new Error('The token is not valid.')
  return token
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a used token is never valid again, however many others are used after it', async () => {
  const tokens = tokensOf()
  const first = await minted(tokens)
  expect(await tokens.use(first, 'me')).toBe(true)
  for (let nth = 0; nth < 20_000; nth++) await tokens.use(made(`another ${nth}`), 'me')
  expect(await tokens.use(first, 'me')).toBe(false)
  expect(await tokens.isUsed(first)).toBe(true)
})

test('a use is remembered until its token has expired', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  const token = await minted(tokens)
  await tokens.use(token, 'me')
  vi.advanceTimersByTime(119_000)
  expect(await tokens.use(token, 'me')).toBe(false)
  vi.advanceTimersByTime(3000)
  // The token is kept a minute past its expiry, because another server's clock may be behind.
  expect(await tokens.use(token, 'me')).toBe(false)
  expect(await tokens.isUsed(token)).toBe(true)
  vi.advanceTimersByTime(60_000)
  // Expired tokens make room for new ones.
  expect(await tokens.use(made('second'), 'me')).toBe(true)
  expect(await tokens.use(made('third'), 'me')).toBe(true)
})

test('if no more uses can be stored, further uses are refused, and earlier ones are kept', async () => {
  const tokens = tokensOf({ inAll: 2, perOwner: 2 })
  await tokens.use(made('first'), 'me')
  await tokens.use(made('second'), 'me')
  const refusal = await tokens.use(made('third'), 'me').catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Refused)
  expect(refusal).toMatchObject({ advice: { retryable: true }, facts: { retryAfter: 60 } })
  expect(await tokens.use(made('first'), 'me')).toBe(false)
  vi.advanceTimersByTime(182_000)
  expect(await tokens.use(made('third'), 'me')).toBe(true)
})

test('one owner cannot exhaust the capacity that all owners share', async () => {
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
  const token = await minted(tokens)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(await tokens.use(token, 'me')).toBe(false)
  expect(await tokens.use(await minted(tokens), 'me')).toBe(true)
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
  const token = await minted(tokens)
  expect(await tokens.use(token, 'me')).toBe(true)
  stepMs = 3_600_000
  expect(await tokens.use(token, 'me')).toBe(false)
})

test('a token has 60 characters, however long its value is', async () => {
  const tokens = tokensOf()
  for (const value of [undefined, 'x', { calls: 'x'.repeat(100_000) }])
    expect(await tokens.mint(value)).toMatch(/^[\w-]{60}$/)
})

test('a token is bound to its values in their order; the order of object keys does not matter', async () => {
  const token = await minted(tokensOf(), { a: 1, b: 2 }, 'scope')
  expect(token.isFor(0, { b: 2, a: 1 })).toBe(true)
  expect(token.isFor(1, 'scope')).toBe(true)
  expect(token.isFor(0, { a: 1, b: 3 })).toBe(false)
  expect(token.isFor(0, 'scope')).toBe(false)
  expect(token.isFor(1, { a: 1, b: 2 })).toBe(false)
  expect(token.isFor(2, undefined)).toBe(false)
})

test('a token is valid for one purpose', async () => {
  const text = await tokensOf().mint('value')
  expect(await tokensOf(undefined, 'another purpose').read(text)).toBeUndefined()
})

test('a token is invalid if a byte is changed, added or missing', async () => {
  const tokens = tokensOf()
  const [text, other] = [await tokens.mint('one'), await tokens.mint('one')]
  const bytes = Buffer.from(text, 'base64url')
  const isValid = async (given: Uint8Array) =>
    (await tokens.read(Buffer.from(given).toString('base64url')))?.isFor(0, 'one') ?? false
  expect(await isValid(bytes)).toBe(true)
  for (const [index, byte] of bytes.entries())
    expect(await isValid(bytes.with(index, byte ^ 1)), `byte ${index}`).toBe(false)
  for (let length = 0; length < bytes.length; length++)
    expect(await isValid(bytes.subarray(0, length)), `${length} bytes`).toBe(false)
  // Values cannot be removed, added, or copied from another token.
  expect(await tokens.read(bytes.subarray(0, 29).toString('base64url'))).toBeUndefined()
  expect(await isValid(Buffer.concat([bytes, bytes.subarray(29)]))).toBe(false)
  const mixed = Buffer.concat([bytes.subarray(0, 29), Buffer.from(other, 'base64url').subarray(29)])
  expect(await isValid(mixed)).toBe(false)
  for (const spelling of [`${text}=`, ` ${text}`, `${text}.`, ''])
    expect(await tokens.read(spelling)).toBeUndefined()
})
