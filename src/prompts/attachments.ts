import type { Fields } from '../flows/field-changes.ts'
import { isObject } from '../json/is-object.ts'
import type { Attachment } from '../mcp/protocol/prompt.ts'
import type { ReadResult } from '../mcp/protocol/prompt-reader.ts'
import { estimateTokens } from '../text/tokens.ts'
import { compactJson } from '../views/compact-json.ts'

/** One thing as JSON. `budget`: most tokens, estimated. */
export const attached = (what: string, uri: string, value: Fields, budget: number): Attachment => ({
  what,
  uri,
  mimeType: 'application/json',
  text: compactJson(fitted(value, budget)),
})

interface ListLimits {
  /** Most tokens, estimated. */
  readonly budget: number
  /** The tool that shows all items. */
  readonly tool: string
  /** True: there are more items than were read. */
  readonly isPart?: boolean
}

/** Most tokens of one item, so that one long name or note leaves room for the others. */
const itemBudget = 300

/** A list as JSON, with as many items as fit. */
export function attachedList(
  what: string,
  uri: string,
  items: readonly Fields[],
  { budget, tool, isPart = false }: ListLimits,
): Attachment {
  const shown: Fields[] = []
  let left = budget
  for (const item of items) {
    const short = fitted(item, itemBudget)
    left -= tokensOf(short, left)
    if (left < 0) break
    shown.push(short)
  }
  const isAll = shown.length === items.length && !isPart
  const counts = isAll
    ? { total: items.length }
    : { shown: shown.length, note: `Not all of them: ${tool} shows the rest.` }
  return {
    what,
    uri,
    mimeType: 'application/json',
    // Added by hand, because compactJson leaves out an empty list, which is an answer too.
    text: `${compactJson(counts).slice(0, -1)},"items":${compactJson(shown)}}`,
  }
}

/** The attachment of a value, or one line with the reason why it is missing and what to use instead. */
export const attachedFrom = <T>(
  read: ReadResult<T>,
  what: string,
  instead: string,
  attach: (value: T) => Attachment,
): Attachment =>
  read.ok
    ? attach(read.value)
    : { what, missing: `could not be read (${read.problem}); ${instead}` }

/** Estimated tokens; counting stops above `most`. */
const tokensOf = (value: unknown, most: number) => estimateTokens(compactJson(value), most) + 1

/** Longest texts in characters, tried in this order before whole fields are left out. */
const textLengths = [Number.POSITIVE_INFINITY, 2000, 500, 120]

/** Cuts the longest texts; if that is not enough, leaves out the largest fields. */
function fitted(value: Fields, budget: number): Fields {
  for (const longest of textLengths) {
    const short = withShortFields(value, longest)
    if (tokensOf(short, budget) <= budget) return short
  }
  const sized = Object.entries(value)
    .map(([name, field]) => ({ name, field: withShortTexts(field, 120) }))
    .map((entry) => ({ ...entry, tokens: tokensOf({ [entry.name]: entry.field }, budget) }))
    .sort((a, b) => a.tokens - b.tokens)
  let left = budget
  const kept = new Set<string>()
  for (const { name, tokens } of sized) {
    left -= tokens
    if (left >= 0) kept.add(name)
  }
  const fields = Object.entries(value).filter(([name]) => kept.has(name))
  return {
    ...withShortFields(Object.fromEntries(fields), 120),
    note: `${sized.length - kept.size} long fields left out.`,
  }
}

const withShortFields = (fields: Fields, longest: number): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withShortTexts(field, longest)]),
  )

function withShortTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') {
    return value.length > longest ? `${value.slice(0, longest)}… (cut)` : value
  }
  if (Array.isArray(value)) return value.map((item) => withShortTexts(item, longest))
  return isObject(value) ? withShortFields(value, longest) : value
}
