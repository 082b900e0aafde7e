import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { CallFollower, hasEnded } from '../../src/calls/call-follower.ts'
import { routes } from '../../src/contract/routes.ts'
import type { Client } from '../../src/platform/client.ts'
import { ApiError } from '../../src/platform/failure.ts'

/** A platform with a call that is `ageMs` old and has a new turn at every read. */
function platformOf({
  ageMs = 0,
  endsAfter = Number.POSITIVE_INFINITY,
  /** HTTP statuses of the first reads, which fail. */
  fails = [] as number[],
} = {}) {
  let reads = 0
  const began = new Date(Date.now() - ageMs).toISOString()
  const client: Client = {
    async call() {
      const status = fails[reads++]
      if (status !== undefined) throw failed(status)
      const messages = Array.from({ length: reads }, () => ({ role: 'agent', message: 'Hm.' }))
      const state = reads > endsAfter ? 'completed' : 'in_progress'
      return { id: 'call', status: state, created: began, messages } as never
    },
  }
  return { client, reads: () => reads }
}

const failed = (status: number) =>
  new ApiError(
    {
      kind: 'rejected',
      status,
      code: 'error',
      message: 'No.',
      detail: null,
      errors: [],
      requestId: null,
      retryAfter: null,
    },
    { ...routes.calls.get, attempts: 1 },
  )

const call = (callId: string) => ({ keyHash: 'key', account: 'me', callId })

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

test.each([
  ['completed', {}, true],
  ['failed', {}, true],
  ['transferred', {}, true],
  ['in_progress', {}, false],
  ['queued', {}, false],
  ['a state to come', { created: hoursAgo(1) }, false],
  ['a state to come', { ended_at: hoursAgo(1) }, true],
  // A call lasts at most 12 hours.
  ['a state to come', { created: hoursAgo(13) }, true],
  [null, {}, false],
  [null, { ended_at: hoursAgo(1) }, true],
])('a call that is %s, with %j, has ended: %s', (status, more, ended) => {
  expect(hasEnded({ id: 'call', status, capture: null, ...more })).toBe(ended)
})

describe('a call', () => {
  test('is polled once for all requests that wait for it, and each request gets every change', async () => {
    const { client, reads } = platformOf()
    const follower = new CallFollower()
    let news = 0
    const waiting = { forMs: 1500, onChange: () => void news++ }
    const waits = Array.from({ length: 50 }, () => follower.follow(call('a'), client, waiting))
    expect(await Promise.all(waits)).toHaveLength(50)
    expect(reads()).toBe(2)
    expect(news).toBe(100)
  })

  test('is returned as soon as it has ended', async () => {
    const { client } = platformOf({ endsAfter: 1 })
    const ended = await new CallFollower().follow(call('a'), client, { forMs: 10_000 })
    expect(ended.status).toBe('completed')
  })

  test('is read again if the platform does not show it yet, but not if the platform refuses', async () => {
    const { client } = platformOf({ fails: [404], endsAfter: 1 })
    const ended = await new CallFollower().follow(call('a'), client, { forMs: 10_000 })
    expect(ended.status).toBe('completed')
    const refusing = platformOf({ fails: [403] })
    await expect(
      new CallFollower().follow(call('a'), refusing.client, { forMs: 10_000 }),
    ).rejects.toThrow(ApiError)
  })

  test('that cannot be read in time is a timeout with the elapsed time', async () => {
    const client: Client = { call: () => new Promise(() => undefined) }
    const waiting = new CallFollower().follow(call('a'), client, { forMs: 300 })
    const { failure } = await waiting.catch((error: ApiError) => error as ApiError & never)
    expect(failure).toMatchObject({ kind: 'timeout' })
    expect(Object(failure).afterMs).toBeGreaterThan(250)
  })

  test('does not count as ended because it cannot be read', async () => {
    const { client, reads } = platformOf({ fails: Array(100).fill(503) })
    const errors: string[] = []
    void new CallFollower().untilEnd(call('a'), client, {
      onRunning: () => void errors.push('goes on'),
      onEnded: () => void errors.push('has ended'),
    })
    await expect.poll(reads, { timeout: 8000 }).toBeGreaterThanOrEqual(3)
    await sleep(200)
    expect(errors).toEqual([])
  })

  test('that has lasted long is polled at the interval of its age, even for a new request', async () => {
    const { client, reads } = platformOf({ ageMs: 600_000 })
    await new CallFollower().follow(call('a'), client, { forMs: 2500 })
    expect(reads()).toBe(1)
  })

  test('is polled less often if many calls are followed', async () => {
    const { client, reads } = platformOf()
    const follower = new CallFollower()
    const waits = Array.from({ length: 200 }, (_, index) =>
      follower.follow(call(`call ${index}`), client, { forMs: 4000 }),
    )
    await Promise.all(waits)
    expect(reads()).toBeLessThan(400)
  })

  test('is no longer polled when no request waits for it', async () => {
    const { client, reads } = platformOf()
    const stopping = new AbortController()
    const following = new CallFollower().follow(call('a'), client, {
      forMs: 10_000,
      signal: stopping.signal,
    })
    await sleep(50)
    stopping.abort()
    await following
    await sleep(1500)
    expect(reads()).toBe(1)
  })
})
