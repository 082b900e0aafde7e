import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/api/client.ts'
import { ApiError } from '../../src/api/failure.ts'
import { placeOnce } from '../../src/calls/place-once.ts'
import { searchCallList } from '../../src/calls/search-call-list.ts'
import type { Call } from '../../src/contract/call.ts'
import { routes } from '../../src/contract/routes.ts'
import { openSqliteJournal } from '../../src/state/sqlite/sqlite-journal.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { connectPerson } from '../harness/person.ts'

const others = (count: number): Call[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `call ${index}`,
    external_id: `other ${index}`,
    to_number: '+4930999999',
  }))
const mark = { externalId: 'mine', toNumber: '+4930123456' }
const mine: Call = { id: 'mine', external_id: 'mine', to_number: '+4930123456' }

/** Reads pages of these calls, as a platform gives them that shows so many at most. */
const pagesOf =
  (calls: readonly Call[], { most = 1000, ignoresOffset = false, count = calls.length } = {}) =>
  async ({ limit, offset }: { limit: number; offset: number }) => {
    const from = ignoresOffset ? 0 : offset
    return { items: calls.slice(from, from + Math.min(limit, most)), count }
  }

describe('a list that ignores the filter by external id', () => {
  test.each([1, 99, 100, 101, 350])(
    'of %s other calls shows a call that comes last',
    async (count) => {
      const read = pagesOf([...others(count), mine])
      expect(await searchCallList(mark, read)).toEqual({ call: mine, isCertain: true })
    },
  )

  test.each([1, 99, 100, 101, 350])(
    'of %s other calls shows that the call does not exist',
    async (count) => {
      const read = pagesOf(others(count))
      expect(await searchCallList(mark, read)).toEqual({ call: undefined, isCertain: true })
    },
  )

  test('of small pages is read to its end', async () => {
    expect(await searchCallList(mark, pagesOf([...others(90), mine], { most: 20 }))).toMatchObject({
      call: mine,
    })
    const read = pagesOf(others(90), { most: 20, count: 20 })
    expect(await searchCallList(mark, read)).toMatchObject({ isCertain: true })
  })

  test.each([
    ['repeats its first page', pagesOf(others(200), { ignoresOffset: true })],
    ['repeats a full page, and counts only that', pagesOf(others(100), { ignoresOffset: true })],
    ['is longer than 50 pages', pagesOf(others(6000))],
    ['shows a call without its id', pagesOf([{ id: 'x', to_number: '+4930123456' }])],
    ['shows the beginning of an id', pagesOf([{ id: 'x', external_id: 'min' }])],
  ])('and %s gives no certain result', async (_, read) => {
    expect(await searchCallList(mark, read)).toEqual({ call: undefined, isCertain: false })
  })

  test('and ignores offset is complete where it counts no more than it shows', async () => {
    const read = pagesOf(others(3), { ignoresOffset: true })
    expect(await searchCallList(mark, read)).toMatchObject({ isCertain: true })
  })
})

/** A platform with many calls that lists the oldest first, whatever it is asked for. */
function oldestFirst({ rings }: { rings: boolean[] }) {
  const calls = others(250)
  let posts = 0
  const client: Client = {
    async call(route, { query, body }) {
      if (route.id === routes.calls.list.id) {
        const { limit = 100, offset = 0 } = query
        return { items: calls.slice(Number(offset), Number(offset) + Number(limit)) } as never
      }
      if (rings[posts++]) calls.push({ ...mine, external_id: String(body?.external_id) })
      throw new ApiError(
        { kind: 'network', code: 'ECONNRESET', maybeSent: true },
        { ...route, attempts: 1 },
      )
    },
  }
  const place = async () =>
    placeOnce(
      {
        params: { account_id: 'me' },
        query: {},
        body: { type: 'phone', agent_id: 'a', to_number: '+4930123456' },
      },
      {
        client,
        journal: await openSqliteJournal(':memory:'),
        callOwner: { owner: 'account', formerOwners: [] },
        permit: async () => ({ cancel: async () => undefined, placed: async () => undefined }),
        timing: { findOutMs: 2000, settledMs: 100 },
        pendingPermits: { of: async () => [] },
        until: performance.now() + 30_000,
      },
      undefined,
    )
  return { place, posts: () => posts }
}

test('a call whose answer was lost is found on the last page of a list that ignores the filter', async () => {
  const platform = oldestFirst({ rings: [true] })
  expect(await platform.place()).toMatchObject({ call: { id: 'mine' }, isRepeat: false })
  expect(platform.posts()).toBe(1)
})

test('a call that such a platform does not have is sent once more', async () => {
  const platform = oldestFirst({ rings: [false, true] })
  expect(await platform.place()).toMatchObject({ call: { id: 'mine' } })
  expect(platform.posts()).toBe(2)
})

test('an answer with an empty id does not identify the call: the call is looked up', async () => {
  const sent: Record<string, unknown>[] = []
  await using platform = await startFakePlatform(({ method, url, body }, res) => {
    if (url === '/v1/accounts/current') return json(res, 200, { id: 'own' })
    if (url.includes('/agents')) return json(res, 200, { id: 'agent', name: 'Agent' })
    if (method === 'POST') {
      sent.push({ ...JSON.parse(body), id: 'call-0', status: 'in_progress' })
      return json(res, 201, { id: '' })
    }
    return json(res, 200, { items: sent, count: sent.length })
  })
  await using client = await connectPerson('v2 2026-07-28', {
    env: {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sk-0123456789',
      VOICE_AGENT_CONFIRM: 'never',
    },
  })
  const placed = await client.value('place_call', {
    type: 'phone',
    agent_id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11',
    from_number: '+493023125000',
    to_number: '+493023125001',
  })
  expect(placed).toMatchObject({ id: 'call-0' })
  expect(sent).toHaveLength(1)
})
