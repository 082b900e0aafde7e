import * as z from 'zod'
import type { Route, RouteRequest } from '../contract/route.ts'
import type { Steps, Structured } from '../mcp/call/tool.ts'
import { fieldsNote, fieldsOption, head, project } from './fields.ts'
import { cutArray } from './fit.ts'
import { withSpeech } from './listed-speech.ts'

/** Items a list shows when it is not told: as many as one chooses from. */
const shownByDefault = 20

/** Query parameters that list tools send when they are not given. */
export const listDefaults = { limit: shownByDefault }

const shortened = 'Shortened: go on with offset = next_offset, or ask for fewer fields.'

/** A route whose reply is a page of items. */
type ListRoute = Route<
  z.ZodObject,
  z.ZodObject,
  z.ZodObject | null,
  z.ZodType<{ count?: number | undefined; items: Record<string, unknown>[] }>
>
type Page = z.output<ListRoute['reply'] & z.ZodType>
type Item = Page['items'][number]

interface Shown {
  /** Fields of an item that are always shown; a dotted path shows a part of one. */
  readonly shows: readonly string[]
  /** The items hold what was said on calls, which the text shows in its boundary only. */
  readonly isSpeech?: boolean
}

/**
 * A page as lists show it: a projection of each item, `total`, `returned` and the `next_offset`,
 * which is null on the last page. What else the platform says of the page is kept.
 */
export function listView<R extends ListRoute>(
  route: R,
  { shows, isSpeech = false }: Shown,
): Steps<R, typeof fieldsOption> {
  const { shape } = itemSchema(route)
  const cut = cutArray('items', ({ note }, kept, { query }) => ({
    returned: kept,
    next_offset: Number(query.offset ?? 0) + kept,
    note: [note, shortened].filter(Boolean).join(' '),
  }))
  return {
    options: fieldsOption,
    schema: z.looseObject({
      total: z.int().nullable().describe('How many match in all.'),
      returned: z.int().describe('How many are here.'),
      next_offset: z.int().nullable().describe('offset of the next page; null: this is the last.'),
      note: z.string().optional().describe('What was left out, and how to get it.'),
      items: z
        .array(z.looseObject(pick(shape, shows.map(head))).partial())
        .describe('This page; fields adds more.'),
    }),
    async run({ request, options, session, signal }) {
      const call = (asked: RouteRequest) => session.client.call(route, asked, signal)
      const [reply, first] = await Promise.all([call(request), firstOf(request, call)])
      // The reply was parsed with this route's own schema, which is that of a page.
      const page = reply as Page
      if (first && isSame(first.items[0], page.items[0])) {
        return { structured: repeated(page, route) }
      }
      const { fields = [] } = options
      const structured = pageOf(page, request, { shows, fields, known: Object.keys(shape) })
      return isSpeech ? withSpeech(structured, { shape, cut, request }) : { structured }
    },
    cut,
  }
}

/**
 * The very first item: a platform that ignores `offset`, which not every version of the reference
 * has [R], gives it again on every page.
 */
async function firstOf(
  request: RouteRequest,
  call: (asked: RouteRequest) => Promise<unknown>,
): Promise<Page | undefined> {
  if (!(Number(request.query.offset) > 0)) return undefined
  return (await call({ ...request, query: { ...request.query, offset: 0, limit: 1 } })) as Page
}

const isSame = (one: Item | undefined, other: Item | undefined) =>
  one !== undefined && other !== undefined && idOf(one) === idOf(other)

const idOf = (item: Item) => item.id ?? item.conversation_id ?? JSON.stringify(item)

/** Instead of the same items once more, which whoever adds up pages would count twice. */
function repeated({ count, items: _, ...rest }: Page, { query }: ListRoute): Structured {
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

function pageOf(
  { count, items, ...rest }: Page,
  { query }: RouteRequest,
  selected: { shows: readonly string[]; fields: readonly string[]; known: readonly string[] },
): Structured {
  const end = Number(query.offset ?? 0) + items.length
  const wasFull = items.length >= Number(query.limit)
  const hasMore = items.length > 0 && (count === undefined ? wasFull : end < count)
  const note = fieldsNote(items, selected)
  return {
    ...rest,
    total: count ?? null,
    returned: items.length,
    next_offset: hasMore ? end : null,
    ...(note && { note }),
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
