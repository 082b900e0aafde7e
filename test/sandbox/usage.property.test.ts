import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { granularities, groupings } from '../../src/contract/usage.ts'
import { tries } from '../harness/property.ts'
import { startSandbox } from '../harness/sandbox.ts'

const Conversations = z.object({
  items: z.array(z.object({ start_timestamp: z.string(), duration_seconds: z.number() })),
})
const Usage = z.object({
  data: z.array(
    z.object({
      ts: z.string(),
      values: z.array(z.object({ seconds: z.number(), conversations: z.int() })),
    }),
  ),
})

const minute = 60_000
const zones = Intl.supportedValuesOf('timeZone')

test('buckets add up to the conversations of the range, whatever zone, size and grouping', async () => {
  using sandbox = startSandbox()
  const { body } = await sandbox.get('accounts/me/conversations?status=completed&limit=1000')
  const conversations = Conversations.parse(body).items
  const now = sandbox.now()

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...zones),
      fc.constantFrom(...granularities),
      fc.subarray([...groupings]),
      // Ranges with at most 500 hourly buckets, the limit of a reply.
      fc.integer({ min: 0, max: 40 * 24 * 60 }),
      fc.integer({ min: 1, max: 20 * 24 * 60 }),
      async (tz, granularity, group_by, before, length) => {
        const end = now - before * minute
        const start = end - length * minute
        const query = new URLSearchParams({
          tz,
          granularity,
          start: new Date(start).toISOString(),
          end: new Date(end).toISOString(),
        })
        if (group_by.length > 0) query.set('group_by', group_by.join(','))
        const usage = await sandbox.get(`accounts/me/analytics/usage?${query}`)
        const { data } = Usage.parse(usage.body)
        const values = data.flatMap((bucket) => bucket.values)
        const wanted = conversations.filter(({ start_timestamp }) => {
          const at = Date.parse(start_timestamp)
          return at >= start && at < end
        })
        const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)
        expect(sum(values.map((value) => value.conversations))).toBe(wanted.length)
        expect(sum(values.map(({ seconds }) => seconds))).toBe(
          sum(wanted.map(({ duration_seconds }) => duration_seconds)),
        )
        const starts = data.map(({ ts }) => Date.parse(ts))
        expect(starts).toEqual([...starts].sort((one, other) => one - other))
        expect(starts[0]).toBeLessThanOrEqual(start)
      },
    ),
    tries(300),
  )
})
