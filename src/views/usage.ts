import * as z from 'zod'
import type { Usage } from '../contract/usage.ts'
import { shortenArray } from './shorten-result.ts'

/** Sums over all buckets of a reply. */
export const UsageTotals = z
  .object({
    seconds: z.number().describe('Conversation time, seconds.'),
    conversations: z.number().describe('Completed conversations.'),
  })
  .describe('Sum of all buckets.')

export function totalsOf(data: Usage['data']): z.output<typeof UsageTotals> {
  const values = data.flatMap((bucket) => bucket.values)
  return {
    seconds: values.reduce((sum, { seconds }) => sum + seconds, 0),
    conversations: values.reduce((sum, { conversations }) => sum + conversations, 0),
  }
}

/** A long series keeps its first buckets; the totals stay those of all buckets. */
export const shortenUsage = shortenArray('data', ({ data }, kept) => {
  const buckets = data as Usage['data']
  return {
    note: `Shortened to ${kept} of ${buckets.length} buckets: go on with start = ${buckets[kept]?.ts}, or take a coarser granularity. totals are of all.`,
  }
})
