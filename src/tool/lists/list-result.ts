import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { isObject } from '../../text/json.ts'
import { plainFields, safeLine } from '../../text/safe-text.ts'
import { estimateTokens, fitsTokens, shortenToTokens } from '../../text/token-estimate.ts'
import {
  compactJson,
  firstItems,
  resultBudget,
  shortenArray,
  shortenValue,
} from '../results/shortening.ts'
import { betweenMarks, knownAndOthers } from '../results/transcript.ts'
import type { ItemShortening, StructuredContent, ToolOutput } from '../tool.ts'

/** Default query parameters of list tools: 20 items, enough to choose from. */
export const listDefaults = { limit: 20 }

/** `fields`: fields that the caller asked for besides the fixed ones. */
const shortenedNote = (fields: unknown) =>
  `Shortened: continue with offset = next_offset${Array.isArray(fields) && fields.length > 0 ? ', or ask for fewer fields' : ''}.`

/** A route whose reply is a page of items. */
export type ListRoute = Route<
  z.ZodObject,
  z.ZodObject,
  z.ZodObject | null,
  z.ZodType<{ count?: number | undefined; items: Record<string, unknown>[] }>
>
export type ListReply = z.output<ListRoute['reply'] & z.ZodType>
export type ListItem = ListReply['items'][number]

/** The id of a list item, for comparing items. */
export const itemId = (item: ListItem): string =>
  String(item.id ?? item.conversation_id ?? JSON.stringify(item))

/** Fields that a list shows of each item. */
export interface ListColumns {
  /** Fields of an item that are always shown. A dotted path shows one part of a field. */
  readonly shows: readonly string[]
  /**
   * Fields of `shows` that are omitted if they have this value, unless the caller names them in
   * `fields`.
   */
  readonly usual?: Readonly<Record<string, unknown>>
  /** Note about the shown items. */
  readonly noteOf?: (shown: readonly object[]) => string | undefined
  /**
   * The tool that shows speech in full; absent if items contain no speech. Lists show speech only
   * between untrusted marks.
   */
  readonly speechTool?: 'get_call' | 'get_conversation'
  /** Fields that this program adds to the route's items and result. */
  readonly added?: { readonly item: z.ZodRawShape; readonly result: z.ZodRawShape }
}

/** Items of one page, collected from several requests, or filtered from a reply. */
export interface CollectedItems {
  readonly items: readonly ListItem[]
  /** Total number of matches; `null`: unknown. */
  readonly total: number | null
  /** `offset` of the next page; `null`: this is the last page. */
  readonly nextOffset: number | null
  /** Note about the page. It precedes the note about unknown and omitted fields. */
  readonly note?: string | undefined
  /** Other fields of the result. */
  readonly rest: StructuredContent
}

interface FieldsGiven {
  readonly fields?: readonly string[] | undefined
}

/** View of a list tool's pages. */
export interface ListView {
  readonly schema: z.ZodObject
  /**
   * The selected fields of each item, `total`, `returned`, and `next_offset`, which is null on the
   * last page.
   */
  readonly page: (list: CollectedItems, request: RouteRequest, options: FieldsGiven) => ToolOutput
  readonly shortening: ItemShortening
}

export function listView(
  route: ListRoute,
  { shows, usual = {}, noteOf, speechTool, added = { item: {}, result: {} } }: ListColumns,
): ListView {
  const shape = { ...itemSchema(route).shape, ...added.item }
  const always = [...shows, ...Object.keys(added.item)]
  const shortening = shortenArray('items', ({ note }, kept, { query }) => ({
    returned: kept,
    next_offset: Number(query.offset ?? 0) + kept,
    note: [note, shortenedNote(query.fields)].filter(Boolean).join(' '),
  }))
  const page: ListView['page'] = (list, request, { fields = [] }) => {
    const { items, total, nextOffset, rest } = list
    const known = Object.keys(shape)
    const isUsual = (name: string, value: unknown) =>
      name in usual && usual[name] === value && !fields.includes(name) && !fields.includes('*')
    const projected = items.map((one) => {
      const parts = Object.entries(project(one, [...always, ...fields]))
      return Object.fromEntries(parts.filter(([name, value]) => !isUsual(name, value)))
    })
    const ownNote = fieldsNote(items, { shows: always, fields, known })
    const notes = [list.note, noteOf?.(projected), ownNote].filter(Boolean)
    const shown = accountOnce(projected)
    const structured = {
      ...rest,
      ...shown.shared,
      total,
      returned: items.length,
      next_offset: nextOffset,
      ...(notes.length > 0 && { note: notes.join(' ') }),
      items: shown.items,
    }
    return speechTool
      ? listWithSpeech(structured, {
          ...{ shape, shortening, speechTool },
          request: { ...request, query: { ...request.query, fields } },
        })
      : { structured }
  }
  return {
    schema: z.looseObject({
      total: z.int().nullable().describe('How many match in all.'),
      returned: z.int().describe('How many are here.'),
      next_offset: z.int().nullable().describe('offset of the next page; null: this is the last.'),
      note: z.string().optional().describe('What was left out, and how to get it.'),
      ...added.result,
      items: z
        .array(z.looseObject(pick(shape, always.map(head))).partial())
        .describe('This page; fields adds more.'),
    }),
    page,
    shortening,
  }
}

/** Separates the account that all items share, so that the result names it once. */
export function accountOnce(items: readonly Item[]) {
  const [first = {}] = items
  const names = ['account_id', 'account'].filter(
    (name) => name in first && items.every((item) => isDeepStrictEqual(item[name], first[name])),
  )
  return {
    shared: Object.fromEntries(names.map((name) => [name, first[name]])),
    items: items.map((item) => without(item, names)),
  }
}

const without = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)))

function itemSchema(route: ListRoute): z.ZodObject {
  const items = route.reply instanceof z.ZodObject && route.reply.shape.items
  if (items instanceof z.ZodArray && items.element instanceof z.ZodObject) return items.element
  throw new Error(`${route.id}: the reply is no page of objects`)
}

const pick = (shape: z.ZodRawShape, names: readonly string[]): z.ZodRawShape =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name)))

/** The argument `fields` of every list: fields to show in addition to the fixed ones. */
export const fieldsOption = {
  fields: z
    .array(z.string().min(1).max(100))
    .max(50)
    .optional()
    .describe('Extra fields, or * for all.'),
}

/** Note of a list that does not show all fields of its items. */
export const selectionNote = 'Main fields only: name others in fields, or "*" for all.'

/** The first name of a dotted path. */
const head = (path: string) => path.split('.', 1)[0] ?? path

/** The parts of an item at these paths, in the item's own shape. */
export function project(
  item: Readonly<Record<string, unknown>>,
  paths: readonly string[],
): Record<string, unknown> {
  if (paths.includes('*')) return { ...item }
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => {
      const below = paths.filter((path) => head(path) === name)
      if (below.includes(name)) return [[name, value]]
      const rest = below.map((path) => path.slice(name.length + 1))
      return rest.length === 0 ? [] : [[name, projectInner(value, rest)]]
    }),
  )
}

/** The parts of a value, or of each item of an array, at the remaining paths. */
function projectInner(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => projectInner(one, paths))
  return isObject(value) ? project(value, paths) : value
}

/** Note about unknown and omitted fields of a list; empty if there are none. */
export function fieldsNote(
  items: readonly Readonly<Record<string, unknown>>[],
  {
    shows,
    fields,
    known,
  }: { shows: readonly string[]; fields: readonly string[]; known: readonly string[] },
): string {
  const there = new Set([...known, ...items.flatMap((one) => Object.keys(one))])
  const unknown = fields.filter((field) => field !== '*' && !there.has(head(field)))
  return [
    unknown.length > 0 && `No field ${unknown.join(', ')}; there are ${[...there].join(', ')}.`,
    isSelection(items, [...shows, ...fields]) && selectionNote,
  ]
    .filter(Boolean)
    .join(' ')
}

/** True if an item has more fields than are shown. */
export function isSelection(
  items: readonly Readonly<Record<string, unknown>>[],
  paths: readonly string[],
): boolean {
  if (paths.includes('*')) return false
  const whole = new Set(paths.filter((path) => !path.includes('.')))
  return items.some((one) => Object.keys(one).some((name) => !whole.has(name)))
}

type Item = Readonly<Record<string, unknown>>

/**
 * A page of calls or conversations. Fields that may quote speech (transcripts, and fields outside
 * the contract) appear in the text only between untrusted marks, as plain text.
 */
function listWithSpeech(
  { items, ...page }: StructuredContent,
  {
    shape,
    shortening,
    request,
    speechTool,
  }: {
    shape: z.ZodRawShape
    shortening: ItemShortening
    request: RouteRequest
    speechTool: string
  },
): ToolOutput {
  const parts = (items as Item[]).map((item) => splitItem(item, shape))
  const whole = { ...page, items: parts.map(({ item }) => item) }
  if (parts.every(({ others }) => Object.keys(others).length === 0)) return { structured: whole }
  const said = parts.map(({ id, others }) => `- ${id}: ${compactJson(plainFields(others))}`)
  const spoken = said.map((line) => shortenToTokens(line, longestSpoken))
  const textsOf = (part: Readonly<StructuredContent>) => {
    const lines = spoken.slice(0, Number(part.returned))
    const known = parts.slice(0, lines.length).map((one) => one.known)
    const own = { ...part, items: known }
    const left = resultBudget - tokensOfMarks - estimateTokens(lines.join('\n'), resultBudget)
    return { lines, own, left, text: safeLine(compactJson(own)) }
  }
  // The length of the text decides how many items fit, so that data and text have the same items.
  const fits = (part: Readonly<StructuredContent>) => {
    const { text, left } = textsOf(part)
    return fitsTokens(text, left)
  }
  const structured = firstItems(whole, { shortening, request, fits })
  const { lines, own, left, text } = textsOf(structured)
  const isShort = lines.some((line, i) => line !== said[i])
  const rest = isShort ? ` ${speechTool} shows what is cut here.` : ''
  return {
    structured,
    lines: [
      ...shortenValue(own, left, text).split('\n'),
      ...betweenMarks(`More of each of the ${lines.length}.${rest}`, lines),
    ],
  }
}

/** Maximum tokens for the speech of one item. */
const longestSpoken = resultBudget * 0.7

/** Approximate tokens of the untrusted marks. */
const tokensOfMarks = 150

/** Splits an item into the fields of the contract and the fields that may quote a conversation. */
function splitItem({ messages, ...rest }: Item, shape: z.ZodRawShape) {
  const { known, others } = knownAndOthers(rest, shape)
  const spoken = messages === undefined ? others : { ...others, messages }
  const capture = { ...known.capture, ...(others.capture as object | undefined) }
  return {
    id: String(rest.id ?? rest.conversation_id),
    known,
    others: spoken,
    item: { ...spoken, ...known, ...('capture' in rest && { capture: known.capture && capture }) },
  }
}
