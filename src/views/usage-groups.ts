import type { Usage } from '../contract/usage.ts'

/** One value of a bucket, as the platform gives it. */
export type UsageValue = Usage['data'][number]['values'][number]

/** Completed conversations: how many, and how long they took. */
export interface UsageSum {
  readonly seconds: number
  readonly minutes: number
  readonly conversations: number
}

/** How much more there is than in another time; `percent` of the seconds is null if there were none. */
export interface UsageChange {
  readonly before: UsageSum
  readonly change: UsageSum
  readonly percent: number | null
}

/** The sum of a group; `dimensions` is null where nothing is grouped. */
export interface UsageGroup extends UsageSum, Partial<UsageChange> {
  readonly dimensions: Readonly<Record<string, unknown>> | null
}

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

/** Minutes are rounded to a tenth. Sums of seconds with fractions would have many digits. */
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

/** The most use first. */
export const byUse = (a: Counted, b: Counted): number =>
  b.seconds - a.seconds || b.conversations - a.conversations

/** One sum for each group of values, the most used first. */
export function usageGroups(values: readonly UsageValue[]): UsageGroup[] {
  const groups = Map.groupBy(values, groupKey)
  return [...groups.values()]
    .map((group) => ({ ...sumOf(group), dimensions: group[0]?.dimensions ?? null }))
    .sort(byUse)
}

/** What a value is grouped by, in whatever order the platform names the dimensions. */
const groupKey = ({ dimensions }: Pick<UsageGroup, 'dimensions'> | UsageValue): string =>
  JSON.stringify(Object.entries(dimensions ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

export const changeOf = (now: UsageSum, before: UsageSum): UsageChange => ({
  before,
  change: usageSum(now.seconds - before.seconds, now.conversations - before.conversations),
  percent: before.seconds === 0 ? null : rounded((now.seconds / before.seconds - 1) * 100, 1),
})

/** The groups of two times side by side; a group that is missing in one of them has no use there. */
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
