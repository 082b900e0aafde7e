import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { placeOnce } from '../../src/calls/place-once.ts'
import { ExternalIdConflict, OutcomeUnknown, type Permit } from '../../src/calls/placement.ts'
import type { Route, RouteRequest } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import type { Client } from '../../src/platform/client.ts'
import { ApiError, type Failure } from '../../src/platform/failure.ts'
import { requestMs } from '../../src/platform/time-limit.ts'
import { type CallKey, type Journal, JournalError } from '../../src/state/call-journal.ts'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { scratchFolder } from '../harness/program.ts'

const broken: Failure = { kind: 'network', code: 'ECONNRESET', maybeSent: true }
const notSent: Failure = { kind: 'network', code: 'ECONNREFUSED', maybeSent: false }
const refused: Failure = {
  kind: 'rejected',
  status: 422,
  code: 'validation_error',
  message: 'No.',
  detail: null,
  errors: [],
  requestId: null,
  retryAfter: null,
}
const status = (code: number): Failure => ({ ...refused, status: code })
const page = (code: number): Failure => ({
  kind: 'unreadable',
  status: code,
  reason: 'html',
  detail: null,
  excerpt: '<html>',
  requestId: null,
  retryAfter: null,
})
const cancelled: Failure = { kind: 'cancelled', maybeSent: true }

/** The platform's behaviour for one request to place a call. */
interface Turn {
  readonly rings: boolean
  readonly answer?: Failure
  /** Delay until the call appears in lists, ms. */
  readonly shownAfterMs?: number
  /** Time for which lists cannot be read, ms. */
  readonly blindForMs?: number
  /** Time until the reply, ms. */
  readonly takesMs?: number
}

/** A platform that ignores external ids: a repeated request rings again. */
function platformOf(...turns: Turn[]) {
  let blindUntil = 0
  let hangs = false
  const rung: { id: string; external_id: string; shownAt: number; [field: string]: unknown }[] = []
  let asked = 0
  let posts = 0
  const client: Client = {
    async call<R extends Route>(route: R, request: RouteRequest, signal?: AbortSignal) {
      const fail = (failure: Failure): never => {
        throw new ApiError(failure, { ...route, attempts: 1 })
      }
      if (route.id === routes.calls.list.id) {
        asked++
        if (hangs)
          await sleep(600_000, undefined, signal && { signal }).catch(() => fail(cancelled))
        if (performance.now() < blindUntil) fail(status(500))
        const items = rung.filter(({ shownAt }) => shownAt <= performance.now())
        const page = items.slice(Number(request.query.offset ?? 0))
        return { count: items.length, items: page } as never
      }
      await request.beforeSending?.()
      if (signal?.aborted) fail({ kind: 'cancelled', maybeSent: false })
      const turn = turns[posts++] ?? { rings: true }
      const external_id = String(request.body?.external_id)
      const shownAt = performance.now() + (turn.shownAfterMs ?? 0)
      const call = { id: `call-${rung.length}`, external_id, shownAt }
      blindUntil = performance.now() + (turn.blindForMs ?? 0)
      if (turn.takesMs !== undefined) {
        await sleep(turn.takesMs, undefined, signal && { signal }).catch(() => fail(cancelled))
      }
      if (turn.rings) rung.push(call)
      if (turn.answer) fail(turn.answer)
      return call as never
    },
  }
  const hang = () => {
    hangs = true
  }
  return { client, rung, hang, asked: () => asked, posts: () => posts }
}

const request = (more: object = {}): RouteRequest => ({
  params: { account_id: 'me' },
  query: {},
  body: { type: 'phone', agent_id: 'a', to_number: '+4930123456', ...more },
})

const callOwner = 'account'

/** Permits of a fake call counter. `seen`: its log; unsettled permits stay pending. */
const permits = (refuseIfStopped = async () => {}) => {
  const seen: string[] = []
  const pending = new Map<Permit, CallKey>()
  return {
    seen,
    permit: async (call: CallKey) => {
      seen.push('asked')
      const settle = (how: string) => {
        pending.delete(permit)
        seen.push(how)
      }
      const permit: Permit = {
        refuseIfStopped,
        notPlaced: async () => settle('not placed'),
        placed: async (id: string) => settle(`placed ${id}`),
      }
      pending.set(permit, call)
      return permit
    },
    pendingPermits: async ({ owner, externalId }: CallKey) =>
      [...pending]
        .filter(([, call]) => call.owner === owner && call.externalId === externalId)
        .map(([permit]) => permit),
  }
}

const soon = () => ({
  pendingPermits: async () => [],
  timing: { findOutMs: 600, settledMs: 60_000 },
  until: performance.now() + requestMs,
})

/** Time until a placement fails because its outcome is unknown, ms, on virtual time. */
async function unknownAfter(place: () => Promise<unknown>): Promise<number> {
  vi.useFakeTimers({
    fakeNodeBuiltins: true,
    toFake: ['setTimeout', 'clearTimeout', 'performance'],
  })
  onTestFinished(() => void vi.useRealTimers())
  const began = performance.now()
  const failed = expect(place()).rejects.toThrow(OutcomeUnknown)
  const ms = failed.then(() => performance.now() - began)
  await vi.advanceTimersByTimeAsync(60_000)
  return ms
}

interface PlacingOptions {
  readonly journal?: Journal
  readonly settledMs?: number
  readonly findOutMs?: number
  readonly refuseIfStopped?: Permit['refuseIfStopped']
}

async function placing(
  { client }: { client: Client },
  { journal, settledMs = 60_000, findOutMs = 600, refuseIfStopped }: PlacingOptions = {},
) {
  const { seen, permit, pendingPermits } = permits(refuseIfStopped)
  const kept = journal ?? createSqliteJournal(':memory:', '--state-dir')
  return {
    journal: kept,
    permits: seen,
    place: (more: object = {}, signal?: AbortSignal, forMs = requestMs) =>
      placeOnce(
        {
          request: request(more),
          client,
          journal: kept,
          callOwner,
          permit,
          timing: { findOutMs, settledMs },
          pendingPermits,
          until: performance.now() + forMs,
        },
        signal,
      ),
  }
}

describe('a call', () => {
  test('is sent once, with a new external id', async () => {
    const platform = platformOf()
    const { place, permits: asked } = await placing(platform)
    const { call, externalId, isRepeat } = await place()
    expect(isRepeat).toBe(false)
    expect(externalId).toMatch(/^auto-[\w-]{24}$/)
    expect(platform.rung).toMatchObject([{ id: call.id, external_id: externalId }])
    expect(platform.asked()).toBe(0)
    expect(asked).toEqual(['asked', `placed ${call.id}`])
  })

  test('is recognised in an identical request, but not in a different one', async () => {
    const platform = platformOf()
    const { place } = await placing(platform)
    const first = await place()
    expect(await place()).toMatchObject({ isRepeat: true, externalId: first.externalId })
    expect(await place({ to_number: '+4930999999' })).toMatchObject({ isRepeat: false })
    expect(await place({ external_id: 'mine' })).toMatchObject({ isRepeat: false })
    expect(await place({ external_id: 'mine' })).toMatchObject({ isRepeat: true })
    expect(platform.rung).toHaveLength(3)
  })

  test('with the external id of another call is not placed', async () => {
    const { place } = await placing(platformOf())
    await place({ external_id: 'mine' })
    await expect(place({ external_id: 'mine', to_number: '+4930999999' })).rejects.toThrow(
      ExternalIdConflict,
    )
  })

  test('that another installation has placed is found before the send', async () => {
    const platform = platformOf()
    await (await placing(platform)).place({ external_id: 'mine' })
    const other = await placing(platform)
    expect(await other.place({ external_id: 'mine' })).toMatchObject({ isRepeat: true })
    expect(platform.rung).toHaveLength(1)
  })

  test.each([
    ['the connection breaks', broken],
    [
      'the platform does not answer',
      { kind: 'timeout', waitingFor: 'headers', afterMs: 1, maybeSent: true } as const,
    ],
    ['a gateway fails', status(502)],
    ['a gateway waits in vain', status(504)],
    ['a proxy gives up waiting', status(408)],
    ['the platform fails', status(500)],
    ['the platform says that it conflicts with something', status(409)],
    ['a proxy says that the client has gone', status(499)],
    [
      'it was pointed elsewhere',
      { kind: 'redirected', status: 307, reason: 'not_repeatable', origin: '' } as const,
    ],
    ['a proxy has a page of its own for it', page(400)],
  ])('whose outcome is unknown because %s is found by its external id', async (_, answer) => {
    const platform = platformOf({ rings: true, answer, shownAfterMs: 300 })
    const { place } = await placing(platform)
    expect(await place()).toMatchObject({ call: { id: 'call-0' }, isRepeat: false })
    expect(platform.posts()).toBe(1)
  })

  test('that the platform does not show is reported as unknown, and not sent again', async () => {
    const platform = platformOf({ rings: true, answer: broken, shownAfterMs: 600_000 })
    const { place } = await placing(platform)
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    for (const call of platform.rung) call.shownAt = 0
    expect(await place()).toMatchObject({ isRepeat: true })
    expect(platform.posts()).toBe(1)
  })

  test('that cannot be looked up is reported to a repeated request as unknown, not as failed', async () => {
    const platform = platformOf({ rings: true, answer: broken, blindForMs: 5000 })
    const { place } = await placing(platform, { settledMs: 100 })
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(platform.posts()).toBe(1)
  })

  test('that the platform does not show is reported to a repeated request with its id', async () => {
    const platform = platformOf({ rings: true, shownAfterMs: 60_000 })
    const { place } = await placing(platform)
    const { call } = await place()
    expect(await place()).toMatchObject({ isRepeat: true, call: { id: call.id } })
  })

  test('that was placed is reported as placed even if the journal cannot be written', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const recordPlaced = () => Promise.reject(new JournalError('disk full'))
    const { place } = await placing(platform, { journal: { ...journal, recordPlaced } })
    expect(await place()).toMatchObject({ isRepeat: false })
    expect(await place()).toMatchObject({ isRepeat: true })
    expect(platform.posts()).toBe(1)
  })

  test('that was found is reported as a repeat even if the journal then fails', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    await (await placing(platform, { journal })).place()
    let reads = 0
    const current: Journal['current'] = async (entry) => {
      if (reads++ > 0) throw new JournalError('disk full')
      return journal.current(entry)
    }
    const { place } = await placing(platform, { journal: { ...journal, current } })
    expect(await place()).toMatchObject({ isRepeat: true, isAccepted: true })
    expect(platform.posts()).toBe(1)
  })

  test('that another process has taken over is not sent', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const { place } = await placing(platform, {
      journal: {
        ...journal,
        beginSending: async (entry, forMs) => {
          await journal.beginSending(entry, forMs)
          return journal.beginSending(entry, forMs)
        },
      },
    })
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(platform.posts()).toBe(0)
  })

  test('that was certainly not placed is sent once more', async () => {
    const platform = platformOf({ rings: false, answer: broken })
    const { place } = await placing(platform, { settledMs: 2500 })
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    await sleep(2000)
    expect(await place()).toMatchObject({ isRepeat: false, call: { id: 'call-0' } })
    expect(platform.posts()).toBe(2)
    expect(platform.rung).toHaveLength(1)
  })

  test.each([
    ['was refused', refused],
    ['was turned away by a proxy', page(403)],
    ['never left', notSent],
  ])(
    'that %s may be corrected under the same external id, and does not count',
    async (_, answer) => {
      const platform = platformOf({ rings: false, answer })
      const { place, permits: asked } = await placing(platform)
      await expect(place({ external_id: 'mine' })).rejects.toThrow(ApiError)
      expect(asked).toEqual(['asked', 'not placed'])
      expect(await place({ external_id: 'mine', to_number: '+4930999999' })).toMatchObject({
        isRepeat: false,
      })
    },
  )

  test('that is being sent is not sent by another request, however long it takes', async () => {
    const platform = platformOf({ rings: true, takesMs: 2000 })
    const { place } = await placing(platform, { settledMs: 100 })
    const first = place()
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(await first).toMatchObject({ isRepeat: false })
    expect(platform.posts()).toBe(1)
  })

  test('that is being sent is recorded even if the caller gives up', async () => {
    const platform = platformOf({ rings: true, takesMs: 1000 })
    const { place, permits: seen } = await placing(platform)
    const caller = new AbortController()
    const placed = place({}, caller.signal)
    await expect.poll(platform.posts).toBe(1)
    caller.abort()
    await expect(placed).rejects.toThrow(OutcomeUnknown)
    expect(seen).toEqual(['asked'])
    await expect.poll(() => seen, { timeout: 5000 }).toEqual(['asked', 'placed call-0'])
    expect(await place()).toMatchObject({ isRepeat: true, call: { id: 'call-0' } })
  })

  test('is not sent if the caller has given up', async () => {
    const platform = platformOf()
    const { place, permits: seen } = await placing(platform)
    await expect(place({}, AbortSignal.abort())).rejects.toThrow(ApiError)
    expect(seen).toEqual(['asked', 'not placed'])
    expect(platform.posts()).toBe(0)
    expect(await place()).toMatchObject({ isRepeat: false })
  })

  test('with an unknown outcome keeps its permit until the outcome is found', async () => {
    const platform = platformOf({ rings: true, answer: broken, shownAfterMs: 600_000 })
    const { place, permits: seen } = await placing(platform)
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(seen).toEqual(['asked'])
    for (const call of platform.rung) call.shownAt = 0
    expect(await place()).toMatchObject({ isRepeat: true })
    expect(seen).toEqual(['asked', 'placed call-0'])
  })

  test('that turns out not to exist gives its permit back before it takes another', async () => {
    const platform = platformOf({ rings: false, answer: broken })
    const { place, permits: seen } = await placing(platform, { settledMs: 2500 })
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(seen).toEqual(['asked'])
    await sleep(2000)
    expect(await place()).toMatchObject({ isRepeat: false })
    expect(seen).toEqual(['asked', 'not placed', 'asked', 'placed call-0'])
    expect(platform.posts()).toBe(2)
  })

  test('without a reply is reported as unknown in time', async () => {
    const platform = platformOf({ rings: true, takesMs: 600_000 })
    const { place } = await placing(platform)
    expect(await unknownAfter(() => place({}, undefined, 4000))).toBe(4000)
  })

  test('is reported as unknown in time even if the platform answers no lookup', async () => {
    const platform = platformOf({ rings: true, answer: broken })
    platform.hang()
    const { place } = await placing(platform)
    expect(await unknownAfter(place)).toBe(600)
  })

  test('is not sent when no time is left', async () => {
    const platform = platformOf()
    const { place, permits: seen } = await placing(platform)
    await expect(place({}, undefined, 500)).rejects.toThrow(ApiError)
    expect(seen).toEqual(['asked', 'not placed'])
    expect(platform.posts()).toBe(0)
  })

  test.each([
    ['agent', { agent_id: 'b' }],
    ['kind', { type: 'web' }],
  ])('with another %s under the same external id is another call', async (_, other) => {
    const platform = platformOf()
    const shown = { id: 'other', external_id: 'mine', agent_id: 'a', type: 'phone', shownAt: 0 }
    platform.rung.push({ ...shown, ...other })
    const { place } = await placing(platform)
    await expect(place({ external_id: 'mine' })).rejects.toThrow(ExternalIdConflict)
    expect(platform.posts()).toBe(0)
  })

  test.each([
    ['its agent in capitals', { agent_id: '3F0C7B1E-0D5A-4C56-9D0E-6A1F0E4B7C11' }],
    ['no variables in so many words', { test_variables: {}, overrides: {} }],
  ])('is the same with %s', async (_, spelled) => {
    const platform = platformOf()
    const { place } = await placing(platform)
    const agent_id = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
    await place({ agent_id })
    expect(await place({ agent_id, ...spelled })).toMatchObject({ isRepeat: true })
    expect(platform.rung).toHaveLength(1)
  })

  test('is not sent if the send cannot be recorded, and its permit and external id become free', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    let isFull = true
    const beginSending: Journal['beginSending'] = async (...args) => {
      if (isFull) throw new JournalError('disk full')
      return journal.beginSending(...args)
    }
    const { place, permits: seen } = await placing(platform, {
      journal: { ...journal, beginSending },
    })
    await expect(place()).rejects.toThrow(JournalError)
    expect(seen).toEqual(['asked', 'not placed'])
    isFull = false
    expect(await place()).toMatchObject({ isRepeat: false })
    expect(platform.posts()).toBe(1)
  })

  test('that cannot be looked up before the send is not sent, and its external id becomes free', async () => {
    const platform = platformOf()
    let isDown = true
    const client: Client = {
      async call(route, asked, signal) {
        if (isDown) throw new ApiError(status(500), { ...route, attempts: 1 })
        return platform.client.call(route, asked, signal)
      },
    }
    const { place } = await placing({ client })
    await expect(place({ external_id: 'mine' })).rejects.toThrow(ApiError)
    isDown = false
    const corrected = { external_id: 'mine', to_number: '+4930999999' }
    expect(await place(corrected)).toMatchObject({ isRepeat: false })
    expect(platform.posts()).toBe(1)
  })

  test('is not sent if recording the send took all its time, and its external id becomes free', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const beginSending: Journal['beginSending'] = async (entry, forMs) => {
      const sending = await journal.beginSending(entry, forMs)
      await sleep(forMs + 50)
      return sending
    }
    const slow = await placing(platform, { journal: { ...journal, beginSending } })
    await expect(slow.place({}, undefined, 4000)).rejects.toThrow(ApiError)
    expect(slow.permits).toEqual(['asked', 'not placed'])
    expect(platform.posts()).toBe(0)
    const { place } = await placing(platform, { journal })
    expect(await place()).toMatchObject({ isRepeat: false })
  })

  test('is not sent if the caller gave up while the send was recorded, and its external id becomes free', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const caller = new AbortController()
    const beginSending: Journal['beginSending'] = async (entry, forMs) => {
      const sending = await journal.beginSending(entry, forMs)
      caller.abort()
      return sending
    }
    const slow = await placing(platform, { journal: { ...journal, beginSending } })
    await expect(slow.place({}, caller.signal)).rejects.toMatchObject({
      failure: { kind: 'cancelled', maybeSent: false },
    })
    expect(slow.permits).toEqual(['asked', 'not placed'])
    expect(platform.posts()).toBe(0)
    const { place } = await placing(platform, { journal })
    expect(await place()).toMatchObject({ isRepeat: false })
  })

  test('is reported as unknown, not as refused, if the journal fails after the send', async () => {
    const platform = platformOf({ rings: true, answer: broken })
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const current = () => Promise.reject(new JournalError('disk gone'))
    const { place, permits: seen } = await placing(platform, { journal: { ...journal, current } })
    await expect(place()).rejects.toThrow(OutcomeUnknown)
    expect(seen).toEqual(['asked'])
  })

  test.each([4000.25, 7000.5, 53_999.999])('may be sent with %s ms left', async (forMs) => {
    const { place } = await placing(platformOf())
    expect(await place({}, undefined, forMs)).toMatchObject({ isRepeat: false })
  })

  test.each([30_000, 1234.5])('may be sent with %s ms to find its outcome', async (findOutMs) => {
    const { place } = await placing(platformOf(), { findOutMs })
    expect(await place({}, undefined, 53_999.75)).toMatchObject({ isRepeat: false })
  })

  describe('whose reply is lost before the clock is set forward by an hour', () => {
    afterEach(() => void vi.restoreAllMocks())
    const setForwardAfterPost = ({ posts }: { posts: () => number }) => {
      const now = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => now() + (posts() > 0 ? 3_600_000 : 0))
    }

    test('is looked up for as long as with an unchanged clock', async () => {
      const platform = platformOf({ rings: true, answer: broken, shownAfterMs: 300 })
      setForwardAfterPost(platform)
      const { place } = await placing(platform)
      expect(await place()).toMatchObject({ call: { id: 'call-0' }, isRepeat: false })
    })

    test('is not sent again as if an hour had passed', async () => {
      const platform = platformOf({ rings: true, answer: broken, shownAfterMs: 60_000 })
      setForwardAfterPost(platform)
      const { place } = await placing(platform)
      await expect(place()).rejects.toThrow(OutcomeUnknown)
      await expect(place()).rejects.toThrow(OutcomeUnknown)
      expect(platform.posts()).toBe(1)
    })
  })

  test('whose external id the platform shortened is not sent again', async () => {
    const external_id = 'an order of a customer 2026-11-21'
    const platform = platformOf({ rings: true, answer: broken })
    const { client } = platform
    // The platform stores a shortened external id, so a search for the sent one finds nothing.
    const shortening: Client = {
      async call<R extends Route>(route: R, asked: RouteRequest, signal?: AbortSignal) {
        const reply = await client.call(route, asked, signal)
        if (route.id !== routes.calls.list.id) return reply
        const items = platform.rung.map((call) => ({
          ...call,
          external_id: call.external_id.slice(0, 12).toUpperCase(),
          to_number: '+4930123456',
        }))
        const isFiltered = asked.query.external_id !== undefined
        return (isFiltered ? { count: 0, items: [] } : { count: items.length, items }) as never
      },
    }
    const { place } = await placing({ client: shortening }, { settledMs: 100 })
    await expect(place({ external_id })).rejects.toThrow(OutcomeUnknown)
    await expect(place({ external_id })).rejects.toThrow(OutcomeUnknown)
    expect(platform.posts()).toBe(1)
  })

  test('without a permit is not sent', async () => {
    const platform = platformOf()
    const journal = createSqliteJournal(':memory:', '--state-dir')
    const placed = placeOnce(
      {
        request: request(),
        ...platform,
        journal,
        callOwner,
        permit: () => Promise.reject(new Error('not allowed')),
        ...soon(),
      },
      undefined,
    )
    await expect(placed).rejects.toThrow('not allowed')
    expect(platform.posts()).toBe(0)
  })

  test('is not sent if calls are stopped before its turn, and its permit and external id become free', async () => {
    const platform = platformOf()
    let isStopped = true
    const { place, permits: seen } = await placing(platform, {
      refuseIfStopped: async () => {
        if (isStopped) throw new Error('calls are stopped')
      },
    })
    await expect(place({ external_id: 'mine' })).rejects.toThrow('calls are stopped')
    expect(seen).toEqual(['asked', 'not placed'])
    expect(platform.posts()).toBe(0)
    isStopped = false
    const corrected = { external_id: 'mine', to_number: '+4930999999' }
    expect(await place(corrected)).toMatchObject({ isRepeat: false })
  })

  test('is placed once, however many identical requests run at the same time', async () => {
    const platform = platformOf({ rings: true, shownAfterMs: 200 })
    const { place } = await placing(platform)
    const all = await Promise.all(Array.from({ length: 20 }, () => place()))
    expect(platform.rung).toHaveLength(1)
    expect(all.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1)
  })

  test('of another account is another call', async () => {
    const platform = platformOf()
    const { journal, place } = await placing(platform)
    await place()
    const { permit } = permits()
    const other = {
      request: request(),
      client: platform.client,
      journal,
      callOwner: 'other',
      permit,
      ...soon(),
    }
    expect(await placeOnce(other, undefined)).toMatchObject({ isRepeat: false })
  })
})

describe('a journal', () => {
  test.each([
    ['in a folder that cannot be made', () => '/proc/none/journal.db'],
    [
      'that belongs to another program',
      (folder: string) => {
        const file = join(folder, 'journal.db')
        new DatabaseSync(file).exec('CREATE TABLE t (x)')
        return file
      },
    ],
  ])('%s is an error that names the file and the remedy', async (_, make) => {
    using folder = scratchFolder()
    const file = make(folder.path)
    const opening = createSqliteJournal(file, '--state-dir').check()
    await expect(opening).rejects.toThrow(JournalError)
    for (const word of [file, '--state-dir']) await expect(opening).rejects.toThrow(word)
    expect(existsSync(`${file}-wal`)).toBe(false)
  })
})
