import * as z from 'zod'
import { closestWord } from '../text/closest-match.ts'
import { badArgument } from './refused.ts'

/*
 * The arguments `add` and `remove` of updates: single entries are added to a stored list or removed
 * from it. The field itself replaces the whole list.
 */

/** A list of texts in an object. */
export interface EditableList {
  /** Dotted path of the list. */
  readonly path: string
  /** Word for one entry in messages. */
  readonly word: string
  /** Two entries with the same key count as equal. */
  readonly keyOf: (entry: string) => string
}

type Lists = Readonly<Record<string, EditableList>>
type Entries = Readonly<Record<string, readonly string[] | undefined>>

/** The arguments `add` and `remove` of lists, with these descriptions and entry schemas. */
export function listEditOptions<N extends string>(
  entries: Readonly<Record<N, z.ZodType<string>>>,
  { add, remove }: { readonly add: string; readonly remove: string },
) {
  const lists = Object.fromEntries(
    Object.entries<z.ZodType<string>>(entries).map(([name, entry]) => [
      name,
      z.array(entry).min(1).optional(),
    ]),
  ) as Record<N, z.ZodOptional<z.ZodArray<z.ZodType<string>>>>
  const edit = z
    .object(lists)
    .refine((given) => Object.values(given).some((list) => list !== undefined), {
      error: `Expected at least one of ${Object.keys(entries).join(', ')}`,
    })
    .optional()
  return {
    add: edit.describe(add),
    remove: edit.describe(remove),
  }
}

/** Entries to add to a list, and entries to remove from it. */
export interface ListEdit {
  readonly list: EditableList
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** The names of the two arguments, for errors. */
  readonly arguments: Arguments
}

interface Arguments {
  readonly add: string
  readonly remove: string
}

/** The argument that errors about an edit name. */
export const argumentOf = ({ added, arguments: { add, remove } }: ListEdit): string =>
  added.length > 0 ? add : remove

/**
 * The edits that the arguments ask for. Throws Refused for an entry that is both added and removed,
 * and for a list that is also given or cleared as a whole.
 */
export function listEdits(
  lists: Lists,
  {
    add = {},
    remove = {},
  }: { readonly add?: Entries | undefined; readonly remove?: Entries | undefined },
  isWhole: (path: string) => boolean,
  namesOf: (name: string) => Arguments = (name) => ({
    add: `add.${name}`,
    remove: `remove.${name}`,
  }),
): ListEdit[] {
  return Object.entries(lists).flatMap(([name, list]): ListEdit[] => {
    const [added = [], removed = []] = [add[name], remove[name]]
    if (added.length + removed.length === 0) return []
    const edit = { list, added, removed, arguments: namesOf(name) }
    const without = new Set(removed.map(list.keyOf))
    const both = added.filter((entry) => without.has(list.keyOf(entry)))
    if (both.length > 0)
      throw badArgument(edit.arguments.remove, `${both.join(', ')}: in ${edit.arguments.add} too`)
    if (isWhole(list.path))
      throw badArgument(
        argumentOf(edit),
        `not together with ${list.path}, which replaces or clears the whole list`,
      )
    return [edit]
  })
}

/** Entries to remove that the list does not have. */
export interface MissingEntries {
  readonly list: EditableList
  /** The argument that names the entries. */
  readonly argument: string
  readonly entries: readonly string[]
  /** The entries of the list before the edit. */
  readonly known: readonly string[]
}

/** A list after an edit. The remaining entries keep their order. */
export function editedList(
  stored: readonly string[],
  { list, added, removed, arguments: { remove } }: ListEdit,
): { readonly entries: readonly string[]; readonly missing: MissingEntries } {
  const { keyOf } = list
  const before = new Set(stored.map(keyOf))
  const without = new Set(removed.map(keyOf))
  const kept = stored.filter((entry) => !without.has(keyOf(entry)))
  const known = new Set(kept.map(keyOf))
  const fresh = added.filter((entry) => {
    const isNew = !known.has(keyOf(entry))
    known.add(keyOf(entry))
    return isNew
  })
  const missing = [...new Set(removed)].filter((entry) => !before.has(keyOf(entry)))
  return {
    entries: [...kept, ...fresh],
    missing: { list, argument: remove, entries: missing, known: stored },
  }
}

/**
 * Maximum number of missing entries named in warnings. Each is compared with all existing entries.
 */
const maxNamed = 10

/**
 * Warns of entries to remove that the list does not have. They are no error: the result is the
 * same, and a client may repeat a request.
 */
export function missingWarnings({
  list: { word },
  argument,
  entries,
  known,
}: MissingEntries): string[] {
  const named = entries.slice(0, maxNamed).map((entry) => {
    const meant = closestWord(entry, known)
    return `${argument}: there is no ${word} ${entry}${meant ? `; did you mean ${meant}?` : ''}`
  })
  const rest = entries.length - named.length
  return rest > 0 ? [...named, `${argument}: ${rest} more are not there`] : named
}

/** Entries to remove that no list has. An entry that some lists have is no mistake. */
export function missingEverywhere(
  reports: readonly (readonly MissingEntries[])[],
): MissingEntries[] {
  const [first = [], ...others] = reports
  return first.map(({ list, argument, entries, known }) => {
    const same = others.map((all) => all.find((one) => one.list === list))
    const sets = same.map((one) => new Set(one?.entries))
    return {
      ...{ list, argument },
      entries: entries.filter((entry) => sets.every((set) => set.has(entry))),
      known: [...new Set([...known, ...same.flatMap((one) => one?.known ?? [])])],
    }
  })
}

/**
 * A change of a list as text: `+new −old`. Shows only the entries that differ, so different lists
 * with the same change have the same text. Empty if the values are not lists.
 */
export function listChangeInWords(
  before: unknown,
  after: unknown,
  named: (entry: string) => string,
): string {
  const [stored, wanted] = [textsOf(before ?? []), textsOf(after ?? [])]
  if (!stored || !wanted || (before ?? after) === undefined) return ''
  const [had, has] = [new Set(stored), new Set(wanted)]
  const added = wanted.filter((entry) => !had.has(entry)).map((one) => `+${named(one)}`)
  const removed = stored.filter((entry) => !has.has(entry)).map((one) => `−${named(one)}`)
  return [...added, ...removed].join(' ')
}

/** A list of texts; `undefined` for any other value. */
export const textsOf = (value: unknown): readonly string[] | undefined =>
  z.array(z.string()).safeParse(value).data
