import { describe, expect, test } from 'vitest'
import { routes } from '../../src/contract/routes.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { pause, rejectOnAbort, resultOr, withTimeLimit } from '../../src/platform/time-limit.ts'

const never = () => new Promise<never>(() => undefined)
const operation = { ...routes.accounts.current, attempts: 1 }

/** A request that fails as cancelled when its signal fires. */
const untilCancelled = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const cancelled = { kind: 'cancelled', maybeSent: true } as const
    signal.addEventListener('abort', () => reject(new ApiError(cancelled, operation)))
  })

describe('withTimeLimit', () => {
  test('gives the result of work in time', async () => {
    expect(await withTimeLimit(1000, undefined, async () => 'done')).toBe('done')
  })

  test('reports a cancellation by the limit as a timeout', async () => {
    await expect(withTimeLimit(1, undefined, untilCancelled)).rejects.toMatchObject({
      failure: { kind: 'timeout', afterMs: 1, maybeSent: true },
    })
  })

  test('reports a cancellation by the caller as a cancellation', async () => {
    const caller = new AbortController()
    const work = withTimeLimit(10_000, caller.signal, untilCancelled)
    caller.abort()
    await expect(work).rejects.toMatchObject({ failure: { kind: 'cancelled' } })
  })

  test('throws every other error unchanged', async () => {
    const error = new Error('a bug')
    await expect(withTimeLimit(1000, undefined, () => Promise.reject(error))).rejects.toBe(error)
  })
})

describe('rejectOnAbort', () => {
  test('gives the result of work that ends first', async () => {
    const { signal } = new AbortController()
    expect(await rejectOnAbort(Promise.resolve('done'), signal, () => new Error())).toBe('done')
  })

  test.each(['before', 'after'])('throws if the signal fires %s the call', async (when) => {
    const caller = new AbortController()
    if (when === 'before') caller.abort()
    const work = rejectOnAbort(never(), caller.signal, () => new Error('aborted'))
    caller.abort()
    await expect(work).rejects.toThrow('aborted')
  })
})

describe('resultOr', () => {
  test('gives the result of work in time', async () => {
    expect(await resultOr(Promise.resolve('done'), (reason) => reason, { ms: 1000 })).toBe('done')
  })

  test('gives the fallback after the limit, and at once when the signal fires', async () => {
    expect(await resultOr(never(), (reason) => reason, { ms: 1 })).toBe('late')
    const signal = AbortSignal.abort()
    expect(await resultOr(never(), (reason) => reason, { ms: 60_000, signal })).toBe('aborted')
  })
})

test('a pause ends with its signal', async () => {
  await pause(60_000, AbortSignal.abort())
})
