import type { Attachment } from '../mcp/protocol/prompt.ts'
import type { ReadResult } from '../mcp/protocol/prompt-reader.ts'
import { estimateTokens } from '../text/tokens.ts'
import { compactJson } from '../views/compact-json.ts'

type Fields = Readonly<Record<string, unknown>>

/** One thing as JSON of at most so many tokens, about. */
export const attached = (what: string, uri: string, value: Fields, budget: number): Attachment => ({
  what,
  uri,
  mimeType: 'application/json',
  text: compactJson(fitted(value, budget)),
})

/** What an attachment says of items that did not fit. */
interface Listing {
  readonly budget: number
  /** The tool that shows all of them. */
  readonly tool: string
  /** More was there than was read. */
  readonly isPart?: boolean
}

/** Most tokens of one item: a name or note that somebody filled to the brim must not crowd out the rest. */
const itemBudget = 300

/** Several things as JSON: as many as fit. */
export function attachedList(
  what: string,
  uri: string,
  items: readonly Fields[],
  { budget, tool, isPart = false }: Listing,
): Attachment {
  const shown: Fields[] = []
  let left = budget
  for (const item of items) {
    const short = fitted(item, itemBudget)
    left -= tokensOf(short)
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
    // An empty list is an answer, which compact text would leave out.
    text: `${compactJson(counts).slice(0, -1)},"items":${compactJson(shown)}}`,
  }
}

/** What came of something that was read beside the main thing, or the line in its place. */
export const attachedFrom = <T>(
  read: ReadResult<T>,
  what: string,
  instead: string,
  attach: (value: T) => Attachment,
): Attachment =>
  read.ok
    ? attach(read.value)
    : { what, missing: `could not be read (${read.problem}); ${instead}` }

const tokensOf = (value: unknown) => estimateTokens(compactJson(value)) + 1

/** Shorter and shorter texts that are tried, in characters, before whole fields are left out. */
const textLengths = [Number.POSITIVE_INFINITY, 2000, 500, 120]

/** The same with its longest texts cut, and if that is not enough without its largest fields. */
function fitted(value: Fields, budget: number): Fields {
  for (const longest of textLengths) {
    const short = withShortTexts(value, longest) as Fields
    if (tokensOf(short) <= budget) return short
  }
  const sized = Object.entries(value)
    .map(([name, field]) => ({ name, field: withShortTexts(field, 120) }))
    .map((entry) => ({ ...entry, tokens: tokensOf({ [entry.name]: entry.field }) }))
    .sort((a, b) => a.tokens - b.tokens)
  let left = budget
  const kept = new Set<string>()
  for (const { name, tokens } of sized) {
    left -= tokens
    if (left >= 0) kept.add(name)
  }
  const fields = Object.entries(value).filter(([name]) => kept.has(name))
  return {
    ...(withShortTexts(Object.fromEntries(fields), 120) as Fields),
    note: `${sized.length - kept.size} long fields left out.`,
  }
}

function withShortTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') {
    return value.length > longest ? `${value.slice(0, longest)}… (cut)` : value
  }
  if (Array.isArray(value)) return value.map((item) => withShortTexts(item, longest))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withShortTexts(field, longest)]),
  )
}
