import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { amountOf, type Measure, type UsageData, type Value } from './data.ts'

/** Names of the dimensions by which usage can be split. */
export const groupings = { agent: 'Agent', subaccount: 'Subaccount', type: 'Type' }

/** Heading of the groups' names. */
export function groupingOf({ data }: UsageData): string {
  const names: Readonly<Record<string, string>> = groupings
  const dimensions = dimensionsIn(data).split(',')
  return dimensions.map((dimension) => names[dimension] ?? dimension).join(', ') || 'Group'
}

/** Totals per group, for a result without buckets. */
export interface Group {
  readonly label: string
  /** Number of the colour in the style sheet. */
  readonly colour: number
  readonly minutes: number
  readonly conversations: number
  /** Totals in the compared period. */
  readonly before: Readonly<Record<Measure, number>> | undefined
}

/** The groups, the most used first. */
export function groupsOf({ data, names }: UsageData): Group[] {
  const values = data.flatMap((bucket) => bucket.values)
  values.sort((one, other) => other.seconds - one.seconds)
  const colours = groupColours(values.map(keyOf), dimensionsIn(data))
  return values.map((value, at) => ({
    label: labelOf(value, names),
    colour: colours[at] ?? maxColours,
    minutes: amountOf(value, 'minutes'),
    conversations: value.conversations,
    before: value.before && {
      minutes: amountOf(value.before, 'minutes'),
      conversations: value.before.conversations,
    },
  }))
}

/** Names of the dimensions by which a result is split, with commas between them. */
export const dimensionsIn = (data: UsageData['data']): string =>
  Object.keys(data.flatMap(({ values }) => values)[0]?.dimensions ?? {}).join()

/** Identifies a group of a result. */
export const keyOf = ({ dimensions }: Value) =>
  JSON.stringify(Object.entries(dimensions ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)))

/** Maximum length of a group's name, characters; agents' names have up to 50. */
const longestLabel = 80

/** Names instead of ids, if known. Names are untrusted text. */
export function labelOf({ dimensions }: Value, names: UsageData['names']): string {
  const parts = Object.entries(dimensions ?? {}).map(([dimension, value]) => {
    const id = String(value)
    const label = plainText(names?.[dimension]?.[id] ?? id) || id
    return label.length > longestLabel ? `${firstCharacters(label, longestLabel)}…` : label
  })
  return parts.join(', ') || 'All'
}

/** True if an agent or a subaccount has no known name, and is shown by its id. */
export const lacksNames = ({ data, names }: UsageData): boolean =>
  data.some(({ values }) =>
    values.some(({ dimensions }) =>
      Object.entries(dimensions ?? {}).some(
        ([dimension, id]) => dimension !== 'type' && names?.[dimension]?.[String(id)] === undefined,
      ),
    ),
  )

/** Number of group colours in the style sheet. The last one is for merged groups, too. */
export const maxColours = 8

/** Colours of the groups so far, by dimensions and key. */
const kept = new Map<string, Map<string, number>>()

/**
 * Colours of groups, from 1 to `maxColours`; `keys` has the most used group first. A group keeps
 * its colour while the view is open, whatever its rank becomes. If there are more groups than
 * colours, all groups that have none of their own share the last one.
 */
export function groupColours(keys: readonly string[], dimensions: string): readonly number[] {
  const earlier = kept.get(dimensions) ?? new Map<string, number>()
  kept.set(dimensions, earlier)
  const count = keys.length > maxColours ? maxColours - 1 : maxColours
  const owners = keys.slice(0, count)
  const taken = new Set<number>()
  for (const key of owners) {
    const colour = earlier.get(key)
    if (colour === undefined) continue
    if (colour > count || taken.has(colour)) earlier.delete(key)
    else taken.add(colour)
  }
  for (const key of owners.filter((key) => !earlier.has(key))) {
    const known = new Set(earlier.values())
    const free = Array.from({ length: count }, (_, at) => at + 1).filter((one) => !taken.has(one))
    // Prefers a colour that no other group has had.
    const colour = free.find((one) => !known.has(one)) ?? free[0] ?? count
    earlier.set(key, colour)
    taken.add(colour)
  }
  return keys.map((key, at) => (at < count && earlier.get(key)) || maxColours)
}
