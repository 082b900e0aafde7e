import { isObject } from '../../json/is-object.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import { closestWord } from '../../text/closest-match.ts'
import { firstCharacters } from '../../text/first-characters.ts'
import { changesBetween, type Fields, overlay, sameFieldsOf } from '../field-changes.ts'
import { keysAt, pathsIn, withoutKeys } from './dotted-paths.ts'

export interface WantedFields {
  /** The fields to change, each with its whole new value. */
  readonly wanted: Fields
  /** Warnings about metadata keys to clear that do not exist. */
  readonly missing: string[]
}

/**
 * The fields to change, each with its whole new value. In metadata null is a value like any other,
 * so a key to clear is removed instead.
 */
export function wantedFields(
  stored: Fields,
  { body, cleared }: { readonly body: Fields; readonly cleared: readonly string[] },
): WantedFields {
  const wanted = Object.fromEntries(
    Object.entries(body).map(([name, change]) => [name, overlay(stored[name], change)]),
  )
  const keys = cleared
    .filter((path) => path.startsWith(metadataPrefix))
    .map((path) => path.slice(metadataPrefix.length))
  if (keys.length === 0) return { wanted, missing: [] }
  const found = keys.map((key) => ({ key, at: onlyKeyAt(stored.metadata, key) }))
  const metadata = found.reduce(
    (rest, { at }) => (at ? withoutKeys(rest, at) : rest),
    wanted.metadata ?? stored.metadata,
  )
  const missing = found.flatMap(({ key, at }) => (at ? [] : [missingKey(stored.metadata, key)]))
  return { wanted: { ...wanted, metadata }, missing }
}

const metadataPrefix = 'metadata.'

/** Throws Refused if two keys match the path. */
function onlyKeyAt(metadata: unknown, path: string): string[] | undefined {
  const [one, other] = keysAt(metadata, path)
  if (!one || !other) return one
  const message = `two keys match ${path}: ${JSON.stringify(one)} and ${JSON.stringify(other)}; clear what holds one of them`
  throw badArguments([{ argument: 'clear', message }])
}

/** A warning, not an error: the result is the same, and a repeated request is no mistake. */
function missingKey(metadata: unknown, key: string): string {
  const meant = isObject(metadata) && closestWord(key, pathsIn(metadata))
  return `clear: there is no ${metadataPrefix}${key}${meant ? `; did you mean ${metadataPrefix}${meant}?` : ''}`
}

/** Objects that the platform merges, one level deep [R]; it replaces all others. */
const mergedByPlatform = new Set(['model', 'transcriber', 'voice'])

/** The body that turns `stored` into `wanted`. */
export function patchBetween(stored: Fields, wanted: Fields): Fields {
  const differing = Object.entries(wanted).filter(
    ([name, value]) => changesBetween(stored[name], value).length > 0,
  )
  return Object.fromEntries(
    differing.map(([name, value]) => {
      const before = stored[name]
      const isMerged = mergedByPlatform.has(name) && isObject(before) && isObject(value)
      return [name, isMerged ? patchBetween(before, value) : value]
    }),
  )
}

interface AgentStates {
  readonly stored: Fields
  readonly wanted: Fields
  readonly updated: Fields
}

/** Warnings about fields that the platform did not change. A cleared field may be at any default. */
export function ignoredFields(
  { stored, wanted, updated }: AgentStates,
  cleared: readonly string[],
): string[] {
  return changesBetween(sameFieldsOf(updated, wanted), wanted).flatMap(
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

/** Longest value in a text, in characters. */
const longestValue = 500

export function shortJson(value: unknown, most = longestValue): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > most ? `${firstCharacters(text, most)}… (${text.length} characters)` : text
}
