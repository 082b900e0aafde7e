import { describe, expect, test } from 'vitest'
import { seedIds, startSandbox } from '../harness/sandbox.ts'

const { account } = seedIds

describe('usage', () => {
  test('has the same sum for every zone, bucket size and grouping', async () => {
    using sandbox = startSandbox()
    const listed = (await sandbox.get('accounts/me/conversations?status=completed&limit=1000')).body
      .items
    const since = sandbox.now() - 20 * 86_400_000
    const wanted = listed.filter(
      ({ start_timestamp }: { start_timestamp: string }) => Date.parse(start_timestamp) >= since,
    )
    const seconds = wanted.reduce(
      (sum: number, one: { duration_seconds: number }) => sum + one.duration_seconds,
      0,
    )
    const start = encodeURIComponent(new Date(since).toISOString())
    for (const tz of ['UTC', 'Australia/Lord_Howe', 'Asia/Kathmandu'])
      for (const granularity of ['hour', 'day', 'month'])
        for (const group of ['', '&group_by=agent', '&group_by=agent,type&group_by=subaccount']) {
          const { body } = await sandbox.get(
            `accounts/me/analytics/usage?start=${start}&tz=${tz}&granularity=${granularity}${group}`,
          )
          const values = body.data.flatMap((bucket: { values: object[] }) => bucket.values)
          const sum = (field: string) =>
            values.reduce(
              (total: number, value: Record<string, number>) => total + (value[field] ?? 0),
              0,
            )
          expect([sum('conversations'), sum('seconds')]).toEqual([wanted.length, seconds])
        }
  })

  test('has one value for each combination of the groups', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get(
      'accounts/me/analytics/usage?granularity=month&group_by=agent,type',
    )
    const values = body.data.flatMap((bucket: { values: object[] }) => bucket.values)
    const keys = values.map(({ dimensions }: { dimensions: object }) =>
      Object.keys(dimensions).join(),
    )
    expect(new Set(keys)).toEqual(new Set(['agent,type']))
    const [month] = body.data.slice(-1)
    const groups = month.values.map(({ dimensions }: { dimensions: object }) =>
      JSON.stringify(dimensions),
    )
    expect(new Set(groups).size).toBe(groups.length)
    expect(groups.length).toBeGreaterThan(3)
  })

  test('covers thirty days by day by default', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get('accounts/me/analytics/usage')
    expect(body.meta).toMatchObject({
      start: '2026-10-22T12:00:00Z',
      end: '2026-11-21T12:00:00Z',
      granularity: 'day',
    })
    expect(body.data).toHaveLength(31)
  })

  test('has empty buckets, keeps the newest within the limit, and has null dimensions without groups', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get('accounts/me/analytics/usage?granularity=hour&limit=3')
    expect(body.data.map(({ ts }: { ts: string }) => ts)).toEqual([
      '2026-11-21T09:00:00Z',
      '2026-11-21T10:00:00Z',
      '2026-11-21T11:00:00Z',
    ])
    expect(body.data[0].values).toEqual([{ seconds: 0, conversations: 0, dimensions: null }])
    expect(body.meta).toMatchObject({
      account_id: account,
      granularity: 'hour',
      group_by: [],
      tz: 'UTC',
    })
  })

  test.each([
    ['tz=Mars%2FOlympus', 'query.tz'],
    ['tz=%2B02:00', 'query.tz'],
    ['limit=501', 'query.limit'],
    ['group_by=agent,phone', 'query.group_by.1'],
    ['start=2026-11-02T00:00:00Z&end=2026-11-01T00:00:00Z', 'query.start'],
  ])('%s is refused by its field', async (query, field) => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.get(`accounts/me/analytics/usage?${query}`)
    expect(status).toBe(422)
    expect(body.errors[0].field).toBe(field)
  })
})
