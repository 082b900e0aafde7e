import * as z from 'zod'
import { accountParams, instant } from './field.ts'
import { route } from './route.ts'

export const granularities = ['hour', 'day', 'month'] as const
export type Granularity = (typeof granularities)[number]

export const groupings = ['agent', 'subaccount', 'type'] as const
export type Grouping = (typeof groupings)[number]

/** Most buckets a usage reply can hold, and how many it holds when not told. */
export const usageBucketCap = 500

const UsageValue = z.looseObject({
  seconds: z.number().describe('Conversation time, seconds.'),
  conversations: z.number().describe('Completed conversations.'),
  dimensions: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('What this value is grouped by; null when ungrouped.'),
})

/** Usage of an account and its subaccounts: completed conversations, in buckets of time [B]. */
export const Usage = z.looseObject({
  meta: z
    .looseObject({
      account_id: z.string().nullish(),
      start: z.string().nullish(),
      end: z.string().nullish(),
      granularity: z.string().nullish(),
      group_by: z.unknown().optional(),
      tz: z.string().nullish(),
    })
    .describe('The query as the platform understood it.'),
  data: z
    .array(
      z.looseObject({
        ts: z.string().describe('Bucket start, in the zone asked for.'),
        values: z.array(UsageValue).describe('One value, or one per group.'),
      }),
    )
    .describe('Buckets, oldest first.'),
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
      granularity: z
        .enum(granularities)
        .optional()
        .describe('Size of a bucket.')
        .meta({ default: 'day' }),
      group_by: z.array(z.enum(groupings)).optional().describe('Split each bucket by these.'),
      tz: z
        .string()
        .optional()
        .describe('IANA time zone of the buckets, such as Europe/Berlin.')
        .meta({ default: 'UTC' }),
      limit: z
        .int()
        .min(1)
        .max(usageBucketCap)
        .optional()
        .describe('Most buckets; of a longer range the newest are kept.')
        .meta({ default: usageBucketCap }),
    },
    reply: Usage,
    effect: 'reads',
  }),
}
