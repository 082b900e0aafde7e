import * as z from 'zod'
import { accountParams, instant, withDefault } from './field.ts'
import { route } from './route.ts'

export const granularities = ['hour', 'day', 'month'] as const
export type Granularity = (typeof granularities)[number]

export const groupings = ['agent', 'subaccount', 'type'] as const
export type Grouping = (typeof groupings)[number]

/** Maximum and default number of buckets in a usage reply. */
export const usageBucketCap = 500

const UsageValue = z.looseObject({
  seconds: z.number().describe('Conversation time, seconds.'),
  conversations: z.number().describe('Completed conversations.'),
  dimensions: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Groups of this value; null when ungrouped.'),
})

/**
 * A list that counts as empty if it is absent or null [R]. A mistyped list is an error, because
 * sums without it would be wrong.
 */
const absentAsEmpty = <T extends z.ZodType>(array: z.ZodArray<T>) =>
  z.preprocess((items) => items ?? [], array)

/** Usage of an account and its subaccounts: completed conversations per time bucket [B]. */
export const Usage = z.looseObject({
  meta: z
    .looseObject({
      account_id: z.string().nullish().describe('Account.'),
      start: z.string().nullish().describe('From, ISO 8601.'),
      end: z.string().nullish().describe('Until, ISO 8601.'),
      granularity: z.string().nullish().describe('Size of a bucket.'),
      group_by: z.unknown().optional().describe('Grouping of the values.'),
      tz: z.string().nullish().describe('Time zone of the buckets.'),
    })
    .default({})
    .describe('The query as the platform read it.'),
  data: absentAsEmpty(
    z
      .array(
        z.looseObject({
          ts: z.string().describe('Bucket start, in the requested zone.'),
          values: absentAsEmpty(z.array(UsageValue).describe('One value, or one per group.')),
        }),
      )
      .describe('Buckets, oldest first.'),
  ),
})
export type Usage = z.output<typeof Usage>

export const usageRoutes = {
  get: route({
    id: 'usage.get',
    method: 'GET',
    path: '/v1/accounts/{account_id}/analytics/usage',
    summary: 'Conversation seconds and counts over time.',
    params: accountParams,
    query: {
      start: instant('From; default 30 days before end.').optional(),
      end: instant('Until; default now.').optional(),
      granularity: withDefault(z.enum(granularities).describe('Size of a bucket.'), 'day'),
      group_by: z.array(z.enum(groupings)).optional().describe('Split each bucket.'),
      tz: withDefault(
        z.string().describe('IANA time zone of the buckets, such as Europe/Berlin.'),
        'UTC',
      ),
      limit: withDefault(
        z.int().min(1).max(usageBucketCap).describe('Maximum buckets; the newest are kept.'),
        usageBucketCap,
      ),
    },
    reply: Usage,
    effect: 'reads',
  }),
}
