import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { driftOf } from '../../src/platform/drift.ts'
import { closestWord } from '../../src/text/closest-match.ts'
import type { Fields } from '../../src/tool/field-changes.ts'
import { badArguments } from '../../src/tool/refused.ts'

const tags = z.array(z.string().min(1)).min(1).optional()

/** Arguments that change single tags; `tags` itself replaces the whole list. */
export const tagOptions = {
  add_tags: tags.describe('Add tags.'),
  remove_tags: tags.describe('Remove tags.'),
}

export type TagOptions = z.output<z.ZodObject<typeof tagOptions>>

/** Throws Refused where the arguments contradict each other. */
export function refuseContradictingTags(
  { add_tags: added = [], remove_tags: removed = [] }: TagOptions,
  body: Fields,
): void {
  const argument = added.length > 0 ? 'add_tags' : 'remove_tags'
  const without = new Set(removed)
  const both = added.filter((tag) => without.has(tag))
  if (both.length > 0)
    throw badArguments([
      { argument: 'remove_tags', message: `${both.join(', ')}: in add_tags too` },
    ])
  if (added.length + removed.length > 0 && 'tags' in body)
    throw badArguments([
      { argument, message: 'not together with tags, which replaces or clears the whole list' },
    ])
}

/** Throws Refused where single tags would be changed in a list that could not be read whole. */
export function refuseUnreadTags(
  stored: Agent,
  { add_tags: added, remove_tags: removed }: TagOptions,
): void {
  if (!added && !removed) return
  if (!driftOf(stored).some(({ path }) => /^tags\b/.test(path))) return
  const message =
    'the platform shows the tags of this agent in an undocumented form: give the whole list in tags'
  throw badArguments([{ argument: added ? 'add_tags' : 'remove_tags', message }])
}

export interface WantedTags {
  /** The whole list of tags to store; absent where no tag is to be changed. */
  readonly tags?: readonly string[]
  /** Tags to remove that the agent does not have. */
  readonly missing: readonly string[]
}

/** The tags of an agent after a change; those that stay keep their order. */
export function wantedTags(
  stored: Fields,
  { add_tags: added = [], remove_tags: removed = [] }: TagOptions,
): WantedTags {
  if (added.length + removed.length === 0) return { missing: [] }
  const before = new Set(tagsOf(stored))
  const without = new Set(removed)
  const kept = tagsOf(stored).filter((tag) => !without.has(tag))
  return {
    tags: [...new Set([...kept, ...added])],
    missing: [...without].filter((tag) => !before.has(tag)),
  }
}

export const tagsOf = ({ tags: stored }: Fields): readonly string[] =>
  Array.isArray(stored) ? stored : []

/** Most tags that warnings name: each is compared with all tags there are. */
const mostNamed = 10

/** Warnings, not errors: the result is the same, and a repeated request is no mistake. */
export function missingTagWarnings(missing: readonly string[], known: readonly string[]): string[] {
  const named = missing.slice(0, mostNamed).map((tag) => {
    const meant = closestWord(tag, known)
    return `remove_tags: there is no tag ${tag}${meant ? `; did you mean ${meant}?` : ''}`
  })
  const rest = missing.length - named.length
  return rest > 0 ? [...named, `remove_tags: ${rest} more of these tags are not there`] : named
}
