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
    // Rather a colour that no other group has had.
    const colour = free.find((one) => !known.has(one)) ?? free[0] ?? count
    earlier.set(key, colour)
    taken.add(colour)
  }
  return keys.map((key, at) => (at < count && earlier.get(key)) || maxColours)
}
