import * as z from 'zod'
import type { Usage } from '../../contract/usage.ts'

export const Sum = z.object({
  seconds: z.number().describe('Conversation time, seconds.'),
  minutes: z.number().describe('The same in minutes, rounded.'),
  conversations: z.number().describe('Completed conversations.'),
})

/** Number and duration of completed conversations. */
export type UsageSum = Readonly<z.output<typeof Sum>>

/** One value of a bucket, as in the platform's reply. */
export type UsageValue = Usage['data'][number]['values'][number]

/**
 * Change against the compared range. `percent` refers to the seconds; null if the compared range
 * has none.
 */
interface UsageChange {
  readonly before: UsageSum
  readonly change: UsageSum
  readonly percent: number | null
}

/** The sum of one group. `dimensions` is null if usage is not grouped. */
export interface UsageGroup extends UsageSum, Partial<UsageChange> {
  readonly dimensions: Readonly<Record<string, unknown>> | null
}

export const rounded = (value: number, digits: number) =>
  Math.round(value * 10 ** digits) / 10 ** digits

/** Rounds minutes to a tenth. Sums of fractional seconds would have many digits. */
const usageSum = (seconds: number, conversations: number): UsageSum => ({
  seconds: rounded(seconds, 3),
  minutes: rounded(seconds / 60, 1),
  conversations,
})

type Counted = Pick<UsageSum, 'seconds' | 'conversations'>

export const sumOf = (values: readonly Counted[]): UsageSum =>
  usageSum(
    values.reduce((sum, { seconds }) => sum + seconds, 0),
    values.reduce((sum, { conversations }) => sum + conversations, 0),
  )

/** Sorts by usage, most used first. */
export const byUse = (a: Counted, b: Counted): number =>
  b.seconds - a.seconds || b.conversations - a.conversations

/** One sum per group of values, most used first. */
export function usageGroups(values: readonly UsageValue[]): UsageGroup[] {
  const groups = Map.groupBy(values, groupKey)
  return [...groups.values()]
    .map((group) => ({ ...sumOf(group), dimensions: group[0]?.dimensions ?? null }))
    .sort(byUse)
}

/** Group key of a value, independent of the order of dimensions. */
const groupKey = ({ dimensions }: Pick<UsageGroup, 'dimensions'> | UsageValue): string =>
  JSON.stringify(Object.entries(dimensions ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

export const changeOf = (now: UsageSum, before: UsageSum): UsageChange => ({
  before,
  change: usageSum(now.seconds - before.seconds, now.conversations - before.conversations),
  percent: before.seconds === 0 ? null : rounded((now.seconds / before.seconds - 1) * 100, 1),
})

/**
 * Puts the groups of two ranges side by side. A group that is missing in one range has no usage
 * there.
 */
export function compareGroups(
  now: readonly UsageGroup[],
  before: readonly UsageGroup[],
): UsageGroup[] {
  const nothing = usageSum(0, 0)
  const earlier = new Map(before.map((group) => [groupKey(group), group]))
  const known = new Set(now.map(groupKey))
  const gone = before
    .filter((group) => !known.has(groupKey(group)))
    .map(({ dimensions }) => ({ ...nothing, dimensions }))
  return [...now, ...gone].map((group) => {
    const { dimensions: _, ...sum } = { ...nothing, ...earlier.get(groupKey(group)) }
    return { ...group, ...changeOf(group, sum) }
  })
}
