import { isDeepStrictEqual } from 'node:util'
import type { ChangedPath } from '../state/undo-log.ts'
import { isObject } from '../text/json.ts'
import { type Fields, shortJson, valueAt } from './field-changes.ts'

/** Changes of an object by an undo. */
interface TakenBack {
  /** The changes, from the current value to the earlier one. */
  readonly back: readonly ChangedPath[]
  /** Reasons why other paths stay unchanged. */
  readonly notes: readonly string[]
}

/**
 * Compares an object with the values that a change left. If the outcome of the change is unknown, a
 * path may hold the intended value or the earlier one.
 */
export function takenBack(current: Fields, paths: readonly ChangedPath[]): TakenBack {
  const found = paths.map(({ path, before, after }) => {
    const now = valueAt(current, path)
    if (isSame(now, before)) return {}
    if (isSame(now, after)) return { back: { path, before: now, after: before } }
    return {
      note: `${path.join('.')}: changed since, and stays ${shortJson(now, longestShown)}, not ${shortJson(after, longestShown)} as the change left it`,
    }
  })
  return {
    back: found.flatMap(({ back }) => back ?? []),
    notes: found.flatMap(({ note }) => note ?? []),
  }
}

/** Longest value in a note, characters. */
const longestShown = 100

/** Compares two values. Replies may omit a field that is null, so absent equals null. */
const isSame = (one: unknown, other: unknown) => isDeepStrictEqual(one ?? null, other ?? null)

const isEmpty = (value: unknown) => value === '' || isDeepStrictEqual(value, [])

/**
 * The body that restores the earlier values of plain fields. `removable`: fields that null removes;
 * no update can remove other fields.
 */
export function earlierBody(
  current: Fields,
  paths: readonly ChangedPath[],
  removable: readonly string[],
): { readonly body: Fields; readonly notes: readonly string[] } {
  const { back, notes } = takenBack(current, paths)
  const isStuck = ({ path: [name = ''], after }: ChangedPath) =>
    (after ?? null) === null && !removable.includes(name)
  const possible = back.filter((change) => !isStuck(change))
  return {
    body: Object.fromEntries(possible.map(({ path: [name = ''], after }) => [name, after ?? null])),
    notes: [...notes, ...back.filter(isStuck).map(cannotBeUnset)],
  }
}

export const cannotBeUnset = ({ path }: ChangedPath): string =>
  `${path.join('.')}: had no value before, and an update cannot remove it`

/**
 * Describes the fields that the platform saved with another value than was sent. For a sent null,
 * an empty list or text is no other value.
 */
export const notTaken = (body: Fields, saved: Fields): string[] =>
  Object.entries(body).flatMap(([name, value]) =>
    isSame(value, saved[name]) || (value === null && isEmpty(saved[name]))
      ? []
      : `${name}: the platform has ${shortJson(saved[name], longestShown)}, not ${shortJson(value, longestShown)}`,
  )

/**
 * The changed fields, each with its complete new value. Omits a value that was absent before the
 * change.
 */
export function withPaths(current: Fields, back: readonly ChangedPath[]): Fields {
  const names = new Set(back.flatMap(({ path }) => path.slice(0, 1)))
  const changed = back.reduce<Fields>(
    (all, { path, after }) => withValue(all, path, after),
    current,
  )
  return Object.fromEntries(Object.entries(changed).filter(([name]) => names.has(name)))
}

function withValue(
  fields: Fields,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Fields {
  const { [name]: inner, ...others } = fields
  const changed = rest.length > 0 ? withValue(isObject(inner) ? inner : {}, rest, value) : value
  return changed === undefined ? others : { ...fields, [name]: changed }
}
