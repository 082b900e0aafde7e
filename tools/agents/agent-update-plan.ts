import { isDeepStrictEqual } from 'node:util'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { closestWord } from '../../src/text/closest-match.ts'
import { isObject } from '../../src/text/json.ts'
import { clearablePaths, isClearable } from '../../src/tool/clear-argument.ts'
import {
  type ChangedPath,
  cannotBeUnset,
  changesBetween,
  changesOf,
  type FieldChange,
  type Fields,
  fieldsNamedIn,
  overlay,
  shortJson,
  takenBack,
  withPaths,
} from '../../src/tool/field-changes.ts'
import type { MissingEntries } from '../../src/tool/list-edits.ts'
import { badArgument } from '../../src/tool/refused.ts'

interface WantedFields {
  /** The fields to change, each with its complete new value. */
  readonly wanted: Fields
  /** Warnings about fields to clear that the agent does not have. */
  readonly warnings: string[]
}

/**
 * Returns the fields to change, each with its complete new value. A metadata key to clear is
 * removed, because null is an ordinary metadata value. A field to clear that a merged object
 * already lacks gets no null: the platform would store the null, or a new object around it.
 */
export function wantedFields(
  stored: Fields,
  { body, cleared }: { readonly body: Fields; readonly cleared: readonly string[] },
): WantedFields {
  const absent = cleared.filter(
    (path) =>
      mergedByPlatform.some((name) => path.startsWith(`${name}.`)) &&
      keysAt(stored, path).length === 0,
  )
  const change = absent.reduce((rest, path) => withoutNullAt(rest, path.split('.')), body)
  const missingFields = absent.map((path) => `clear: the agent has no ${path}`)
  const wanted = Object.fromEntries(
    Object.entries(change).map(([name, change]) => [name, overlay(stored[name], change)]),
  )
  const keys = cleared
    .filter((path) => path.startsWith(metadataPrefix))
    .map((path) => path.slice(metadataPrefix.length))
  if (keys.length === 0) return { wanted, warnings: missingFields }
  const found = keys.map((key) => ({ key, at: onlyKeyAt(stored.metadata, key) }))
  const metadata = found.reduce(
    (rest, { at }) => (at ? withoutKeys(rest, at) : rest),
    wanted.metadata ?? stored.metadata,
  )
  const missingKeys = found.flatMap(({ key, at }) => (at ? [] : [missingKey(stored.metadata, key)]))
  return { wanted: { ...wanted, metadata }, warnings: [...missingFields, ...missingKeys] }
}

const metadataPrefix = 'metadata.'

/** Removes the null of a cleared field from a body, and objects that become empty. */
function withoutNullAt(body: Fields, [name = '', ...rest]: readonly string[]): Fields {
  const { [name]: inner, ...others } = body
  if (rest.length === 0) return others
  // The whole parent object is null, which clears this field with it.
  if (!isObject(inner)) return body
  const left = withoutNullAt(inner, rest)
  return Object.keys(left).length === 0 ? others : { ...body, [name]: left }
}

/**
 * The keys that lead from the metadata to the value at a dotted path; `undefined`: there is no
 * value. Throws Refused if two values match.
 */
function onlyKeyAt(metadata: unknown, path: string): string[] | undefined {
  const [one, other] = keysAt(metadata, path)
  if (!one || !other) return one
  const message = `two keys match ${path}: ${JSON.stringify(one)} and ${JSON.stringify(other)}; clear what holds one of them`
  throw badArgument('clear', message)
}

/**
 * A missing key is a warning, not an error: the result is the same, and a request may be repeated.
 */
function missingKey(metadata: unknown, key: string): string {
  const meant = isObject(metadata) && closestWord(key, pathsIn(metadata))
  return `clear: there is no ${metadataPrefix}${key}${meant ? `; did you mean ${metadataPrefix}${meant}?` : ''}`
}

/** The changes that an update makes to an agent. */
export interface UpdatePlan {
  /** The fields to change, each with its complete new value. */
  readonly wanted: Fields
  /** Dotted paths of the fields that are cleared. */
  readonly cleared: readonly string[]
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  readonly missing: readonly MissingEntries[]
  /** True if `is_archived: false` is sent. */
  readonly unarchives: boolean
  /** True if the update undoes an earlier one. */
  readonly isUndo?: boolean
}

/**
 * Objects that the platform merges with the stored ones, one level deep [R]. It replaces all other
 * objects.
 */
const mergedByPlatform = ['model', 'transcriber', 'voice']

/** The PATCH body that turns `stored` into `wanted`. */
export function patchBetween(stored: Fields, wanted: Fields): Fields {
  return Object.fromEntries(
    Object.entries(differing(stored, wanted)).map(([name, value]) => {
      const before = stored[name]
      if (!mergedByPlatform.includes(name) || !isObject(before) || !isObject(value))
        return [name, value]
      // The provider decides the type of the object, so the body repeats it, changed or not.
      const { provider } = before
      return [name, { ...(provider !== undefined && { provider }), ...differing(before, value) }]
    }),
  )
}

const differing = (stored: Fields, wanted: Fields): Fields =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => changesBetween(stored[name], value).length > 0,
    ),
  )

/** Fields that the platform removed from merged objects although the update did not ask for it. */
interface LostFields {
  /** Dotted paths of the lost fields. */
  readonly fields: readonly string[]
  /** The PATCH body that restores the fields. It has each affected object in full. */
  readonly body: Fields
}

/**
 * Finds fields that the update left unchanged, but that the platform dropped from the objects in
 * `sent`. If the provider changes, no field counts as lost, because another provider has other
 * fields.
 */
export function lostFields({ stored, wanted, updated }: AgentStates, sent: Fields): LostFields {
  const lost = mergedByPlatform.flatMap((name) => {
    const [before, value, after] = [stored[name], wanted[name], updated[name]]
    if (!(name in sent) || !isObject(before) || !isObject(value) || !isObject(after)) return []
    if (before.provider !== value.provider) return []
    const unwanted = missingFrom(after, value, name)
    const fields = missingFrom(after, before, name).filter((one) =>
      unwanted.some((other) => isDeepStrictEqual(one, other)),
    )
    return fields.length > 0 ? [{ name, value, fields }] : []
  })
  return {
    fields: lost.flatMap(({ fields }) => fields.map(({ field }) => field)),
    body: Object.fromEntries(lost.map(({ name, value }) => [name, value])),
  }
}

const missingFrom = (after: Fields, before: Fields, path: string) =>
  changesBetween(before, after, path).filter(
    ({ before: had, after: has }) => (had ?? null) !== null && (has ?? null) === null,
  )

export interface AgentStates {
  readonly stored: Fields
  readonly wanted: Fields
  readonly updated: Fields
}

/**
 * Warnings about fields that the platform did not change. A cleared field may return to any
 * default.
 */
export function ignoredFields(
  { stored, wanted, updated }: AgentStates,
  cleared: readonly string[],
): string[] {
  return changesBetween(fieldsNamedIn(wanted, updated), wanted).flatMap(
    ({ field, before, after }) => {
      if (after !== null || !cleared.includes(field))
        return [`${field}: the platform has ${shortJson(before)}, not ${shortJson(after)}`]
      const isSame = !changesBetween(stored, updated).some((change) =>
        isWithin(field, change.field),
      )
      return isSame && before !== undefined
        ? [`${field}: the platform still has ${shortJson(before)}, which may be its default`]
        : []
    },
  )
}

const isWithin = (path: string, inner: string) => inner === path || inner.startsWith(`${path}.`)

/**
 * Finds the lists of keys that lead to a value at a dotted path in free-form data. A key may itself
 * contain dots, so several lists can match.
 */
function keysAt(data: unknown, path: string): string[][] {
  if (!isObject(data)) return []
  return Object.entries(data).flatMap(([key, value]) => {
    if (key === path) return [[key]]
    if (!path.startsWith(`${key}.`)) return []
    return keysAt(value, path.slice(key.length + 1)).map((rest) => [key, ...rest])
  })
}

/** Returns the data without the value at `keys`. */
function withoutKeys(data: unknown, [key = '', ...rest]: readonly string[]): unknown {
  if (!isObject(data)) return data
  const { [key]: value, ...others } = data
  return rest.length === 0 ? others : { ...data, [key]: withoutKeys(value, rest) }
}

/** Longest path, in characters, that is compared with the path a user typed. */
const longestPath = 200

/**
 * Returns all keys as dotted paths. `levels` bounds the depth, because free-form data may have any
 * shape.
 */
function pathsIn(data: Fields, prefix = '', levels = 3): string[] {
  return Object.entries(data).flatMap(([key, value]) => {
    const path = `${prefix}${key}`
    if (path.length > longestPath) return []
    const inner = isObject(value) && levels > 1 ? pathsIn(value, `${path}.`, levels - 1) : []
    return [path, ...inner]
  })
}

const archived = 'is_archived'

/**
 * Plans an undo: restores the earlier values of an agent, except for values that have changed again
 * since.
 */
export function undoPlan(stored: Agent, paths: readonly ChangedPath[]): UpdatePlan {
  const fields = paths.filter(({ path: [name] }) => name !== archived)
  const { back, notes } = takenBack(stored, fields)
  const nulled = back.filter((change) => isNulled(change, back))
  const stuck = nulled.filter(({ path }) => !isClearable({ route, clearable }, path.join('.')))
  const possible = back.filter((change) => !stuck.includes(change))
  const wanted = withPaths(
    stored,
    possible.map((change) => (nulled.includes(change) ? { ...change, after: null } : change)),
  )
  return {
    wanted,
    changes: changesOf(possible),
    cleared: nulled.map(({ path }) => path.join('.')),
    warnings: [
      ...notes,
      ...stuck.map(cannotBeUnset),
      ...archivingNotes(stored, fields.length < paths.length),
    ],
    missing: [],
    unarchives: false,
    isUndo: true,
  }
}

const route = routes.agents.update
const clearable = clearablePaths(route, undefined)

/**
 * True if null must be sent to undo an added value: null removes a whole field, or a setting in a
 * merged object. Settings of an object whose provider the undo changes get no null, because the
 * earlier provider may not have them.
 */
const isNulled = (
  { path: [name = '', ...inner], after }: ChangedPath,
  all: readonly ChangedPath[],
) =>
  after === undefined &&
  (inner.length === 0 ||
    (mergedByPlatform.includes(name) &&
      !all.some(({ path }) => path[0] === name && path[1] === 'provider')))

function archivingNotes({ is_archived }: Agent, wasUnarchived: boolean): string[] {
  if (is_archived) return wasUnarchived ? [] : ['the agent was archived since, and stays so']
  return wasUnarchived ? ['is_archived: archive_agent archives it again'] : []
}
