import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { seedIds } from '../../harness/sandbox.ts'
import { type Counted, startUsagePlatform } from '../../harness/usage-platform.ts'

type Sum = { seconds: number; minutes: number; conversations: number }
type Data = { ts: string; values: (Sum & { dimensions: Record<string, string> | null })[] }[]

const connectTo = (url: string, env: Record<string, string> = {}) =>
  connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: url, ...env },
  })

/** Conversations of 30 s at these times. */
const at = (times: readonly string[], more: Partial<Counted> = {}): Counted[] =>
  times.map((one) => ({ at: one, seconds: 30, ...more }))

describe('in the sandbox', () => {
  let client: Person
  beforeAll(async () => {
    client = await connectPerson('v2 2025', {})
  })
  afterAll(() => client[Symbol.asyncDispose]())

  /** Sum of the completed conversations in a range, from list_conversations. */
  async function completed(start: number, end: number): Promise<Sum> {
    const all: { start_timestamp: string; duration_seconds: number }[] = []
    for (let offset: unknown = 0; typeof offset === 'number'; ) {
      const args = { status: 'completed', limit: 50, offset }
      const { items, next_offset } = await client.value('list_conversations', args)
      all.push(...(items as typeof all))
      offset = next_offset
    }
    const within = all.filter(
      ({ start_timestamp: from }) => Date.parse(from) >= start && Date.parse(from) < end,
    )
    const seconds = within.reduce((sum, one) => sum + one.duration_seconds, 0)
    return { seconds, minutes: Math.round(seconds / 6) / 10, conversations: within.length }
  }

  const hour = 3_600_000
  test.each<[string, number, number]>([
    ['UTC', 20 * 24, 0],
    ['Europe/Berlin', 31.5 * 24, 1.25],
    ['Asia/Kathmandu', 3.3, 0.1],
    ['Australia/Lord_Howe', 61 * 24, 24],
    ['Pacific/Apia', 400 * 24, 50.7],
    ['America/St_Johns', 4000 * 24, 13],
  ])('a total in %s from %d to %d hours ago is what was completed', async (tz, from, to) => {
    const now = Date.now()
    const [start, end] = [Math.floor(now - from * hour), Math.floor(now - to * hour)]
    const args = {
      ...{ tz, granularity: 'total', group_by: ['agent', 'type'] },
      ...{ start: new Date(start).toISOString(), end: new Date(end).toISOString() },
    }
    const { totals, data, names } = await client.value('get_usage', args)
    expect(totals).toEqual(await completed(start, end))
    const values = (data as Data).flatMap((bucket) => bucket.values)
    expect(data).toHaveLength(1)
    const inGroups = values.reduce((sum, { conversations }) => sum + conversations, 0)
    expect(inGroups).toBe((totals as Sum).conversations)
    const seconds = values.map((value) => value.seconds)
    expect(seconds).toEqual(seconds.toSorted((a, b) => b - a))
    const ids = values.flatMap(({ dimensions }) => dimensions?.agent ?? [])
    expect(Object.keys(Object(names).agent)).toEqual(expect.arrayContaining(ids))
  })

  test('usage per agent is one short call, with names beside ids', async () => {
    const text = await client.text('get_usage', { granularity: 'total', group_by: ['agent'] })
    expect(text).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d to .* UTC: [\d.]+ min \(\d+ s\), \d+ completed/,
    )
    expect(text).toMatch(/^- Support line \([\d-]+1\): [\d.]+ min \(\d+ s\), \d+; [\d.]+ %$/m)
    expect(text.length).toBeLessThan(600)
  })

  test('an account is named, also when it is a subaccount', async () => {
    const args = { granularity: 'total', group_by: ['subaccount'] }
    const own = await client.value('get_current_account')
    expect(await client.text('get_usage', args)).toContain(`- ${own.name} (${own.id}): `)
    const sub = await client.text('get_usage', { ...args, account_id: seedIds.subaccount })
    expect(sub).not.toContain('No name')
  })

  test.each([
    [{}],
    [{ granularity: 'total', group_by: ['agent', 'subaccount', 'type'] }],
    [{ compare_start: '2026-01-01T00:00:00Z', group_by: ['agent'] }],
    [{ granularity: 'hour', limit: 3 }],
  ])('the result of %j is what the output schema says', async (args) => {
    const result = await client.call('get_usage', args)
    expect(result.isError, result.content[0]?.text).toBeFalsy()
    expect(await client.flaws('get_usage', result)).toBeUndefined()
  })

  test.each([
    [{ compare_end: '2026-01-01T00:00:00Z' }, 'compare_start', 'compare_end'],
    [
      { start: '2026-02-01T00:00:00Z', compare_start: '2026-03-01T00:00:00Z' },
      'compare_start',
      'compare_end',
    ],
    [
      { compare_start: '2026-03-01T00:00:00Z', compare_end: '2026-03-01T00:00:00Z' },
      'compare_start',
      'compare_end',
    ],
    [{ granularity: 'total', start: '1000-01-01T00:00:00Z' }, 'start', '500'],
    [{ granularity: 'total', tz: 'Mars/Olympus' }, 'tz', ''],
    [{ granularity: 'week' }, 'granularity', 'total'],
  ])('%j is refused', async (args, argument, named) => {
    expect(errorOf(await client.call('get_usage', args)).fields).toMatchObject([
      { argument, message: expect.stringContaining(named) },
    ])
  })
})

describe('totals', () => {
  const conversations = [
    ...at(['2024-01-31T22:59:59Z', '2024-01-31T23:00:00Z'], { agent: 'a' }),
    ...at(['2024-02-10T12:00:00Z', '2025-07-01T00:00:00Z', '2026-03-29T01:00:00Z'], { agent: 'b' }),
    ...at(['2026-05-31T21:59:59Z', '2026-05-31T22:00:00Z'], { agent: 'a' }),
  ]
  test.each([
    [{}],
    [{ countsWholeBuckets: true }],
    [{ leavesOutEmpty: true }],
    [{ countsWholeBuckets: true, leavesOutEmpty: true }],
  ])('over years are exact at both edges, with a platform that does %j', async (behaviour) => {
    await using platform = await startUsagePlatform(conversations, behaviour)
    await using client = await connectTo(platform.url)
    const { data, totals, meta } = await client.value('get_usage', {
      ...{ granularity: 'total', group_by: ['agent'], tz: 'Europe/Berlin' },
      ...{ start: '2024-02-01T00:00:00+01:00', end: '2026-06-01T00:00:00+02:00' },
    })
    expect(totals).toEqual({ seconds: 150, minutes: 2.5, conversations: 5 })
    const b = { conversations: 3, dimensions: { agent: 'b' } }
    const a = { conversations: 2, dimensions: { agent: 'a' } }
    expect(data).toMatchObject([{ values: [b, a] }])
    expect(meta).toMatchObject({
      granularity: 'total',
      start: '2024-01-31T23:00:00.000Z',
      end: '2026-05-31T22:00:00.000Z',
    })
  })

  test('in the middle of months are exact, too', async () => {
    const within = at(['2026-01-14T23:59:59Z', '2026-01-15T00:00:00Z', '2026-06-19T23:59:59Z'])
    const after = at(['2026-06-20T00:00:00Z', '2026-06-30T00:00:00Z'])
    const behaviour = { countsWholeBuckets: true }
    await using platform = await startUsagePlatform([...within, ...after], behaviour)
    await using client = await connectTo(platform.url)
    const range = { start: '2026-01-15T00:00:00Z', end: '2026-06-20T00:00:00Z' }
    const { totals } = await client.value('get_usage', { ...range, granularity: 'total' })
    expect(totals).toMatchObject({ conversations: 2 })
  })

  test('are of the whole range where the platform gives only some buckets, which is said', async () => {
    const times = ['2026-03-01T12:00:00Z', '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z']
    await using platform = await startUsagePlatform(at(times))
    await using client = await connectTo(platform.url)
    const range = { start: '2026-03-01T00:00:00Z', end: '2026-03-31T00:00:00Z' }
    const { totals, data, note } = await client.value('get_usage', { ...range, limit: 4 })
    expect(data).toHaveLength(4)
    expect(totals).toMatchObject({ conversations: 3 })
    expect(note).toMatch(/\b4 buckets\b.*2026-03-27T.*2026-03-30/)
    const whole = await client.value('get_usage', { ...range, limit: 30 })
    expect(whole.totals).toMatchObject({ conversations: 3 })
    expect(whole.note).toBeUndefined()
  })
})

describe('a comparison', () => {
  const conversations = [
    ...at(['2026-05-02T00:00:00Z', '2026-05-03T00:00:00Z'], { agent: 'gone' }),
    ...at(['2026-05-31T23:59:59Z', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z'], { agent: 'a' }),
    ...at(['2026-06-02T00:00:00Z'], { agent: 'new' }),
  ]
  const agents = { items: [{ id: 'a', name: 'Ann' }], count: 1 }

  test('has differences and percent per group, also of groups in one time only', async () => {
    await using platform = await startUsagePlatform(conversations, {}, { '/agents': agents })
    await using client = await connectTo(platform.url)
    const result = await client.call('get_usage', {
      ...{ start: '2026-06-01T00:00:00Z', end: '2026-06-11T00:00:00Z', group_by: ['agent'] },
      compare_start: '2026-05-01T00:00:00Z',
    })
    expect(await client.flaws('get_usage', result)).toBeUndefined()
    expect(result.structuredContent).toMatchObject({
      compared_with: { start: '2026-05-01T00:00:00.000Z', end: '2026-06-01T00:00:00.000Z' },
      totals: {
        conversations: 3,
        before: { conversations: 3 },
        change: { seconds: 0 },
        percent: 0,
      },
      names: { agent: { a: 'Ann' } },
    })
    expect(result.content[0]?.text).toMatchSnapshot()
  })

  test('with a time of its own', async () => {
    await using platform = await startUsagePlatform(conversations)
    await using client = await connectTo(platform.url)
    const { totals } = await client.value('get_usage', {
      ...{ start: '2026-06-01T00:00:00Z', end: '2026-06-03T00:00:00Z' },
      ...{ compare_start: '2026-05-02T00:00:00Z', compare_end: '2026-05-03T00:00:00Z' },
    })
    expect(totals).toMatchObject({ conversations: 3, before: { conversations: 1 }, percent: 200 })
  })
})

describe('a series as text', () => {
  const linesOf = async (conversations: readonly Counted[], args: object) => {
    await using platform = await startUsagePlatform(conversations)
    await using client = await connectTo(platform.url)
    return (await client.text('get_usage', args)).split('\n').slice(1, -1)
  }

  test('has weekdays, and one line for days without use', async () => {
    const times = ['2026-11-09T08:00:00Z', '2026-11-09T09:00:00Z', '2026-11-13T08:00:00Z']
    const range = { start: '2026-11-08T00:00:00Z', end: '2026-11-16T00:00:00Z' }
    expect(await linesOf(at(times), range)).toEqual([
      'Sun 2026-11-08: none',
      'Mon 2026-11-09: 1.0 min (60 s), 2',
      'Tue 2026-11-10 to Thu 2026-11-12: none (3)',
      'Fri 2026-11-13: 0.5 min (30 s), 1',
      'Sat 2026-11-14 to Sun 2026-11-15: none (2)',
    ])
  })

  test('tells the two hours apart that the end of summer time repeats', async () => {
    const times = ['2026-10-24T23:30:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
    const range = { start: '2026-10-24T23:00:00Z', end: '2026-10-25T02:00:00Z' }
    const args = { ...range, granularity: 'hour', tz: 'Europe/Berlin' }
    expect(await linesOf(at(times), args)).toEqual([
      '2026-10-25 01:00+02:00: 0.5 min (30 s), 1',
      '2026-10-25 02:00: 0.5 min (30 s), 1',
      '2026-10-25 02:00+01:00: 0.5 min (30 s), 1',
    ])
  })

  test('has the days of the zone, also those of 23 hours', async () => {
    const times = ['2026-03-28T23:30:00Z', '2026-03-29T21:59:59Z', '2026-03-29T22:00:00Z']
    const range = { start: '2026-03-29T00:00:00+01:00', end: '2026-03-31T00:00:00+02:00' }
    expect(await linesOf(at(times), { ...range, tz: 'Europe/Berlin' })).toEqual([
      'Sun 2026-03-29: 1.0 min (60 s), 2',
      'Mon 2026-03-30: 0.5 min (30 s), 1',
    ])
  })

  test('has the groups of each bucket, the most used first, and months', async () => {
    const conversations = [
      ...at(['2026-09-02T00:00:00Z', '2026-09-03T00:00:00Z'], { agent: 'b' }),
      ...at(['2026-09-02T00:00:00Z', '2026-10-02T00:00:00Z'], { agent: 'a' }),
      ...at(['2026-10-02T00:00:00Z', '2026-10-03T00:00:00Z'], { agent: 'a' }),
    ]
    const range = { start: '2026-09-01T00:00:00Z', end: '2026-11-01T00:00:00Z' }
    const args = { ...range, granularity: 'month', group_by: ['agent'] }
    expect(await linesOf(conversations, args)).toEqual([
      '- a: 2.0 min (120 s), 4; 66.7 %',
      '- b: 1.0 min (60 s), 2; 33.3 %',
      '2026-09: 1.5 min (90 s), 3 = b 1.0 min (60 s), 2; a 0.5 min (30 s), 1',
      '2026-10: 1.5 min (90 s), 3 = a 1.5 min (90 s), 3',
      // The note counts the ids without a name.
      expect.stringMatching(/\b2 ids\b/),
    ])
  })

  test('that is too long has its first buckets, and how to go on', async () => {
    const hours = Array.from({ length: 500 }, (_, hour) => new Date(hour * 3_600_000).toISOString())
    await using platform = await startUsagePlatform(at(hours))
    await using client = await connectTo(platform.url)
    const range = { start: '1970-01-01T00:00:00Z', end: '1970-01-21T20:00:00Z' }
    const args = { ...range, granularity: 'hour' }
    const { structuredContent, content } = await client.call('get_usage', args)
    const { data, note, totals } = structuredContent as { data: Data; note: string; totals: Sum }
    expect(totals.conversations).toBe(500)
    expect(data.length).toBeGreaterThan(50)
    expect(data.length).toBeLessThan(500)
    const next = hours[data.length]?.replace('.000Z', 'Z')
    expect(note).toMatch(new RegExp(`\\b${data.length}\\b.*\\b500\\b.*start = ${next}`))
    expect(content[0]?.text).toContain(note)
    expect(content[0]?.text.match(/^1970-.* 1$/gm)).toHaveLength(data.length)
  })
})

describe('names', () => {
  const conversations = [
    ...at(['2026-05-02T00:00:00Z'], { agent: 'a', subaccount: 'own' }),
    ...at(['2026-05-02T00:00:00Z'], { agent: 'b', subaccount: 'sub' }),
  ]
  const args = {
    ...{ start: '2026-05-01T00:00:00Z', end: '2026-05-03T00:00:00Z', granularity: 'total' },
    group_by: ['agent', 'subaccount'],
  }
  const own = { items: [{ id: 'a', name: 'Ann' }], count: 1 }
  const subs = { items: [{ id: 'sub', name: 'Branch' }], count: 1 }
  const subAgents = { items: [{ id: 'b', name: 'Bob' }], count: 1 }

  test('of agents in subaccounts are found, and archived ones are asked for', async () => {
    const others = { '/sub/agents': subAgents, '/agents': own, '/subaccounts': subs }
    await using platform = await startUsagePlatform(conversations, {}, others)
    await using client = await connectTo(platform.url)
    const text = await client.text('get_usage', args)
    expect(text).toContain('- Ann (a), own: ')
    expect(text).toContain('- Bob (b), Branch (sub): ')
    const listed = platform.seen.filter(({ url }) => url.includes('/agents'))
    expect(listed.every(({ url }) => url.includes('include_archived=true'))).toBe(true)
  })

  test('of agents in subaccounts of subaccounts are found', async () => {
    const others = {
      ...{ '/deep/agents': subAgents, '/agents': own },
      '/sub/subaccounts': { items: [{ id: 'deep', name: 'Deep' }], count: 1 },
      '/subaccounts': subs,
    }
    const deep = at(['2026-05-02T00:00:00Z'], { agent: 'b', subaccount: 'deep' })
    await using platform = await startUsagePlatform(deep, {}, others)
    await using client = await connectTo(platform.url)
    expect(await client.text('get_usage', args)).toContain('- Bob (b), Deep (deep): ')
  })

  test('that cannot be read leave ids, and it is said why', async () => {
    const others = { '/agents': 403, '/subaccounts': subs }
    await using platform = await startUsagePlatform(conversations, {}, others)
    await using client = await connectTo(platform.url)
    const { structuredContent, isError } = await client.call('get_usage', args)
    expect(isError).toBeFalsy()
    expect(structuredContent).toMatchObject({
      totals: { conversations: 2 },
      names: { agent: {}, subaccount: { sub: 'Branch' } },
      note: expect.stringMatching(/\b3 ids: .*\b403\b/),
    })
  })

  test('are not read where nothing is grouped by them, or no tool may read them', async () => {
    await using platform = await startUsagePlatform(conversations)
    await using client = await connectTo(platform.url)
    await client.value('get_usage', { ...args, group_by: ['type'] })
    await using only = await connectTo(platform.url, { VOICE_AGENT_TOOLS: 'get_usage' })
    const { note } = await only.value('get_usage', args)
    expect(note).toMatch(/\b4 ids: /)
    expect(platform.seen.every(({ url }) => url.includes('/analytics/usage'))).toBe(true)
  })

  test('of other accounts stay unread with a pinned account', async () => {
    const others = { '/agents': own, '/subaccounts': subs }
    await using platform = await startUsagePlatform(conversations, {}, others)
    await using client = await connectTo(platform.url, { VOICE_AGENT_ACCOUNT: 'own' })
    await client.value('get_usage', args)
    expect(platform.seen.filter(({ url }) => url.includes('/sub/'))).toEqual([])
  })
})
