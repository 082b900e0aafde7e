import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { ResultView } from '../mcp/tool.ts'
import { cutArray } from './fit.ts'

/** Items a list shows when it is not told: as many as one chooses from. */
const shownByDefault = 20

/** Query parameters that list tools send when they are not given. */
export const listDefaults = { limit: shownByDefault }

/** Argument of every list: what it shows beyond ids, names and what one chooses by. */
export const fieldsOption = {
  fields: z
    .array(z.string().min(1).max(100))
    .max(50)
    .optional()
    .describe('Extra fields, or * for all.'),
}

const shortened = 'Shortened: go on with offset = next_offset, or ask for fewer fields.'

/** A route whose reply is a page of items. */
type ListRoute = Route<
  z.ZodObject,
  z.ZodObject,
  z.ZodObject | null,
  z.ZodType<{ count?: number | undefined; items: Record<string, unknown>[] }>
>

interface Shown {
  /** Fields of an item that are always shown; a dotted path shows a part of one. */
  readonly shows: readonly string[]
  /** Fields that are not shown even when asked for, and what to use instead. */
  readonly never?: Readonly<Record<string, string>>
  /**
   * The tool that shows one item with what was said in its boundary. Only fields that the contract
   * knows are listed then: others may repeat what was said.
   */
  readonly speech?: string
}

/**
 * A page as lists show it: a projection of each item, `total`, `returned` and the `next_offset`,
 * which is null on the last page.
 */
export function listView<R extends ListRoute>(
  route: R,
  { shows, never: unlisted = {}, speech }: Shown,
): ResultView<R, typeof fieldsOption> {
  const item = itemSchema(route)
  const isAdded = (name: string) => !(name in item.shape)
  const schema = z.object({
    total: z.int().nullable().describe('How many match in all.'),
    returned: z.int().describe('How many are here.'),
    next_offset: z.int().nullable().describe('offset of the next page; null: this is the last.'),
    note: z.string().optional().describe('What was left out, and how to get it.'),
    items: z
      .array(z.looseObject(pick(item.shape, shows.map(head))).partial())
      .describe('This page; fields adds more.'),
  })
  return {
    schema,
    from(reply, { query }, { fields = [] }) {
      const { count = null, items: whole } = reply as z.output<ListRoute['reply'] & z.ZodType>
      const items = speech ? whole.map(withoutOtherCaptures) : whole
      const added = speech ? items.flatMap((one) => Object.keys(one)).filter(isAdded) : []
      const elsewhere = `may repeat what was said; ${speech} shows it`
      const never = { ...Object.fromEntries(added.map((name) => [name, elsewhere])), ...unlisted }
      const known = [...Object.keys(item.shape), ...items.flatMap((one) => Object.keys(one))]
      const { wanted, note } = choose(fields, { known, never })
      const offset = Number(query.offset ?? 0)
      const wasFull = items.length > 0 && items.length >= Number(query.limit)
      const end = offset + items.length
      const hasMore = count === null ? wasFull : items.length > 0 && end < count
      return {
        total: count,
        returned: items.length,
        next_offset: hasMore ? end : null,
        ...(note && { note }),
        items: items.map((one) => project(one, [...shows, ...wanted], never)),
      }
    },
    cut: cutArray('items', ({ note }, kept, { query }) => ({
      returned: kept,
      next_offset: Number(query.offset ?? 0) + kept,
      note: [note, shortened].filter(Boolean).join(' '),
    })),
  }
}

function itemSchema(route: ListRoute): z.ZodObject {
  const items = route.reply instanceof z.ZodObject && route.reply.shape.items
  if (items instanceof z.ZodArray && items.element instanceof z.ZodObject) return items.element
  throw new Error(`${route.id}: the reply is no page of objects`)
}

/** Of what was recorded only where it is. */
const withoutOtherCaptures = ({ capture, ...item }: Record<string, unknown>) =>
  isRecord(capture) ? { ...item, capture: project(capture, ['recording_url']) } : item

const head = (path: string) => path.split('.', 1)[0] ?? path

const pick = (shape: z.ZodRawShape, names: readonly string[]): z.ZodRawShape =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name)))

/** The fields asked for that there are, and a note on those there are not. */
function choose(
  fields: readonly string[],
  { known, never }: { known: string[]; never: Readonly<Record<string, string>> },
) {
  const names = new Set(known)
  const refused = fields.includes('*')
    ? [...names].filter((name) => name in never)
    : fields.filter((field) => head(field) in never)
  const unknown = fields.filter((field) => field !== '*' && !names.has(head(field)))
  const offered = [...names].filter((name) => !(name in never)).join(', ')
  const note = [
    ...refused.map((field) => `${field}: ${never[head(field)]}`),
    unknown.length > 0 && `No field ${unknown.join(', ')}; there are ${offered}.`,
  ].filter(Boolean)
  return { wanted: fields, note: note.join(' ') }
}

/** The parts of an item that the paths name, in the item's own shape. */
export function project(
  item: Readonly<Record<string, unknown>>,
  paths: readonly string[],
  never: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const all = paths.includes('*')
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => {
      if (name in never) return []
      const below = paths.filter((path) => head(path) === name)
      if (all || below.includes(name)) return [[name, value]]
      const rest = below.map((path) => path.slice(name.length + 1))
      if (rest.length === 0) return []
      return [[name, within(value, rest)]]
    }),
  )
}

/** The parts of what a path leads into; of an array, those of each item. */
function within(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => within(one, paths))
  return isRecord(value) ? project(value, paths) : value
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
