import type { ServerContext } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refused } from '../../../src/mcp/call/refused.ts'
import { createSeals } from '../../../src/mcp/call/seals.ts'
import { createMemoryUsedSeals } from '../../../src/state/memory/memory-used-seals.ts'

// The codec of the SDK reads nothing of the context unless it is told to bind to it.
const context = {} as ServerContext
const call = { call: 'a call', scope: 'all of it' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a used seal is never good again, however many others are used after it', async () => {
  const seals = createSeals(120, createMemoryUsedSeals())
  const first = await seals.open(await seals.seal(call, context), context)
  expect(await seals.use(first, 'me')).toBe(true)
  for (let nth = 0; nth < 20_000; nth++) await seals.use({ ...call, nonce: `another ${nth}` }, 'me')
  expect(await seals.use(first, 'me')).toBe(false)
  expect(await seals.isUsed(first)).toBe(true)
})

test('a use is remembered until its seal has expired', async () => {
  const seals = createSeals(120, createMemoryUsedSeals({ inAll: 2, perOwner: 2 }))
  const text = await seals.seal(call, context)
  const sealed = await seals.open(text, context)
  await seals.use(sealed, 'me')
  vi.advanceTimersByTime(119_000)
  expect(await seals.use(sealed, 'me')).toBe(false)
  vi.advanceTimersByTime(3000)
  await expect(seals.open(text, context)).rejects.toThrow()
  // What has expired makes room for others.
  expect(await seals.use({ ...call, nonce: 'second' }, 'me')).toBe(true)
  expect(await seals.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})

test('where no more uses can be remembered, others are refused and not forgotten', async () => {
  const seals = createSeals(120, createMemoryUsedSeals({ inAll: 2, perOwner: 2 }))
  await seals.use({ ...call, nonce: 'first' }, 'me')
  await seals.use({ ...call, nonce: 'second' }, 'me')
  await expect(seals.use({ ...call, nonce: 'third' }, 'me')).rejects.toThrow(Refused)
  expect(await seals.use({ ...call, nonce: 'first' }, 'me')).toBe(false)
  vi.advanceTimersByTime(122_000)
  expect(await seals.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})

test('one owner cannot use up what all may use', async () => {
  const seals = createSeals(120, createMemoryUsedSeals({ inAll: 3, perOwner: 2 }))
  await seals.use({ ...call, nonce: 'first' }, 'me')
  await seals.use({ ...call, nonce: 'second' }, 'me')
  await expect(seals.use({ ...call, nonce: 'third' }, 'me')).rejects.toThrow(Refused)
  expect(await seals.use({ ...call, nonce: 'fourth' }, 'you')).toBe(true)
  await seals.giveBack({ ...call, nonce: 'first' })
  expect(await seals.use({ ...call, nonce: 'third' }, 'me')).toBe(true)
})
