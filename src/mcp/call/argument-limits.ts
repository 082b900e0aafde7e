import { boundExceededByValue, type JsonBound, type JsonBounds } from '../../json/bounds.ts'

/** What the arguments of one call may hold; more is a mistake, or an attack. */
const bounds: JsonBounds = { depth: 100, values: 10_000 }

const exceeded: Readonly<Record<JsonBound, string>> = {
  values: `more than ${bounds.values} values`,
  depth: `nested more than ${bounds.depth} deep`,
}

/**
 * Why arguments cannot be sent as they were given; `undefined` when they can. JavaScript would
 * change such values silently, or run out of stack, so they are refused.
 */
export function unsendable(value: unknown): string | undefined {
  const bound = boundExceededByValue(value, bounds)
  return bound ? exceeded[bound] : inexact(value)
}

function inexact(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isExact =
      Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return isExact ? undefined : 'holds a number too large to be passed on exactly; send it as text'
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, '__proto__'))
    return 'holds the name __proto__, which cannot be passed on'
  for (const item of Object.values(value)) {
    const reason = inexact(item)
    if (reason) return reason
  }
  return undefined
}

/** Why a text cannot be passed on: half of a surrogate pair is no character (RFC 3629 §3). */
export const brokenText = 'holds half of a character (broken Unicode), which cannot be passed on'

/**
 * The path of the first text or name with half of a character in it. What is stored for it differs
 * from platform to platform, and two such texts may be stored as the same.
 */
export function brokenTextAt(value: unknown, path: readonly string[] = []): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path.join('.')
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, item] of Object.entries(value)) {
    const at = name.isWellFormed() ? brokenTextAt(item, [...path, name]) : path.join('.')
    if (at !== undefined) return at
  }
  return undefined
}
