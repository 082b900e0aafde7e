import * as z from 'zod'

/** The argument `fields` of every list: which fields it shows besides those it always shows. */
export const fieldsOption = {
  fields: z
    .array(z.string().min(1).max(100))
    .max(50)
    .optional()
    .describe('Extra fields, or * for all.'),
}

/** The note of a list whose items have more fields than are shown. */
export const selectionNote = 'A selection of fields: name others in fields, or "*" for all.'

/** The first name of a dotted path. */
export const head = (path: string) => path.split('.', 1)[0] ?? path

/** The parts of an item that the paths name, in the item's own shape. */
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

/** The parts of a value at the rest of a path; of an array, those of each item. */
function projectInner(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => projectInner(one, paths))
  return isRecord(value) ? project(value, paths) : value
}

/**
 * The note about the fields of a list: which requested fields do not exist, and that others are left
 * out. Empty when there is nothing to note.
 */
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

/** Whether an item has more than is shown of it. */
export function isSelection(
  items: readonly Readonly<Record<string, unknown>>[],
  paths: readonly string[],
): boolean {
  if (paths.includes('*')) return false
  const whole = new Set(paths.filter((path) => !path.includes('.')))
  return items.some((one) => Object.keys(one).some((name) => !whole.has(name)))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
