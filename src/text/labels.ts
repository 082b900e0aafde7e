/** A name with the id: `Front desk (1b9d…)`; without a name, the id alone. */
export const nameWithId = (name: string | null | undefined, id: string): string =>
  name ? `${name} (${id})` : id

/** A count with its noun: `1 agent`, `2 agents`. Only for nouns whose plural adds an s. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** A text with a capital first letter. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A text with a small first letter. */
export const uncapitalised = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The first items of a list, and the number of all others: `A, B, C and 4 more`. */
export function joinedUpTo(items: readonly string[], max: number): string {
  const more = items.length - max
  return `${items.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
