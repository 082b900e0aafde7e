import * as z from 'zod'
import type { Route, RouteRequest } from '../contract/route.ts'
import { fieldsNote, head, project } from './fields.ts'
import { listWithSpeech } from './list-with-speech.ts'
import { type ItemShortening, shortenArray } from './shorten-result.ts'
import type { StructuredContent, ToolOutput } from './tool-output.ts'

/** Query parameters that list tools send when they are not given: 20 items, enough to choose from. */
export const listDefaults = { limit: 20 }

const shortenedNote = 'Shortened: go on with offset = next_offset, or ask for fewer fields.'

/** A route whose reply is a page of items. */
export type ListRoute = Route<
  z.ZodObject,
  z.ZodObject,
  z.ZodObject | null,
  z.ZodType<{ count?: number | undefined; items: Record<string, unknown>[] }>
>
export type ListReply = z.output<ListRoute['reply'] & z.ZodType>
export type ListItem = ListReply['items'][number]

/** What tells items of one list apart. */
export const itemId = (item: ListItem): string =>
  String(item.id ?? item.conversation_id ?? JSON.stringify(item))

/** What a list shows of each item. */
export interface ListColumns {
  /** Fields of an item that are always shown; a dotted path shows a part of one. */
  readonly shows: readonly string[]
  /** The items hold what was said on calls: the text shows that only between untrusted marks. */
  readonly isSpeech?: boolean
  /** Fields of the items, and of the result, that are not the route's. */
  readonly added?: { readonly item: z.ZodRawShape; readonly result: z.ZodRawShape }
}

/** Items that were read with more than one request, or chosen from what was read. */
export interface CollectedItems {
  readonly items: readonly ListItem[]
  /** How many match in all; `null`: it is not known. */
  readonly total: number | null
  /** `offset` of the next page; `null`: there is none. */
  readonly nextOffset: number | null
  /** Comes before the note about fields. */
  readonly note?: string | undefined
  /** What else the result says. */
  readonly rest: StructuredContent
}

interface FieldsGiven {
  readonly fields?: readonly string[] | undefined
}

/** How a list tool shows the pages of its route. */
export interface ListView {
  readonly schema: z.ZodObject
  /** A page: a part of each item, `total`, `returned`, and `next_offset`, null on the last page. */
  readonly page: (
    reply: ListReply,
    request: RouteRequest,
    options: FieldsGiven,
    note?: string,
  ) => ToolOutput
  /** The same for collected items. */
  readonly collected: (
    list: CollectedItems,
    request: RouteRequest,
    options: FieldsGiven,
  ) => ToolOutput
  /** Instead of a page that repeats the first items, because the platform ignored `offset`. */
  readonly repeatedPage: (reply: ListReply) => ToolOutput
  readonly shortening: ItemShortening
}

export function listView(
  route: ListRoute,
  { shows, isSpeech = false, added = { item: {}, result: {} } }: ListColumns,
): ListView {
  const shape = { ...itemSchema(route).shape, ...added.item }
  const always = [...shows, ...Object.keys(added.item)]
  const shortening = shortenArray('items', ({ note }, kept, { query }) => ({
    returned: kept,
    next_offset: Number(query.offset ?? 0) + kept,
    note: [note, shortenedNote].filter(Boolean).join(' '),
  }))
  const collected: ListView['collected'] = (list, request, { fields = [] }) => {
    const structured = listContent(list, { shows: always, fields, known: Object.keys(shape) })
    return isSpeech ? listWithSpeech(structured, { shape, shortening, request }) : { structured }
  }
  return {
    schema: listSchema(pick(shape, always.map(head)), added.result),
    page: (reply, request, options, note) =>
      collected({ ...pageItems(reply, request), note }, request, options),
    collected,
    repeatedPage: (reply) => ({ structured: repeatedContent(reply, route) }),
    shortening,
  }
}

const listSchema = (itemShape: z.ZodRawShape, resultShape: z.ZodRawShape) =>
  z.looseObject({
    total: z.int().nullable().describe('How many match in all.'),
    returned: z.int().describe('How many are here.'),
    next_offset: z.int().nullable().describe('offset of the next page; null: this is the last.'),
    note: z.string().optional().describe('What was left out, and how to get it.'),
    ...resultShape,
    items: z.array(z.looseObject(itemShape).partial()).describe('This page; fields adds more.'),
  })

/** Without items: a caller that adds up pages would count repeated ones twice. */
function repeatedContent(
  { count, items: _, ...rest }: ListReply,
  { query }: ListRoute,
): StructuredContent {
  const filter = 'created_before' in query.shape ? ', or narrow with created_before' : ''
  return {
    ...rest,
    total: count ?? null,
    returned: 0,
    next_offset: null,
    note: `The platform ignored offset and gave its first items again: they are left out. Ask for more at once with limit${filter}.`,
    items: [],
  }
}

/** What else the platform says of the page is kept. */
function pageItems({ count, items, ...rest }: ListReply, { query }: RouteRequest): CollectedItems {
  const end = Number(query.offset ?? 0) + items.length
  const wasFull = items.length >= Number(query.limit)
  const hasMore = items.length > 0 && (count === undefined ? wasFull : end < count)
  return { items, total: count ?? null, nextOffset: hasMore ? end : null, rest }
}

function listContent(
  { items, total, nextOffset, note, rest }: CollectedItems,
  selected: { shows: readonly string[]; fields: readonly string[]; known: readonly string[] },
): StructuredContent {
  const notes = [note, fieldsNote(items, selected)].filter(Boolean)
  return {
    ...rest,
    total,
    returned: items.length,
    next_offset: nextOffset,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    items: items.map((one) => project(one, [...selected.shows, ...selected.fields])),
  }
}

function itemSchema(route: ListRoute): z.ZodObject {
  const items = route.reply instanceof z.ZodObject && route.reply.shape.items
  if (items instanceof z.ZodArray && items.element instanceof z.ZodObject) return items.element
  throw new Error(`${route.id}: the reply is no page of objects`)
}

const pick = (shape: z.ZodRawShape, names: readonly string[]): z.ZodRawShape =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name)))
