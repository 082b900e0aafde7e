import { boundExceededByValue, type JsonBound, type JsonBounds } from '../../json/bounds.ts'
import type { ArgumentProblem } from './advice.ts'

/** What the arguments of one call may hold; more is a mistake, or an attack. */
const bounds: JsonBounds = { depth: 100, values: 10_000 }

const exceeded: Readonly<Record<JsonBound, string>> = {
  values: `more than ${bounds.values} values`,
  depth: `nested more than ${bounds.depth} deep`,
}

/**
 * Why arguments cannot be sent unchanged; `undefined` when they can. JavaScript would change such
 * values silently, or run out of stack, so they are refused.
 */
export function argumentLimitProblem(given: unknown): ArgumentProblem | undefined {
  const bound = boundExceededByValue(given, bounds)
  const message = bound ? exceeded[bound] : inexactValue(given)
  if (message) return { argument: 'arguments', message }
  const path = brokenTextPath(given)
  return path === undefined ? undefined : { argument: path || 'arguments', message: brokenText }
}

/** A number or name that JSON in JavaScript does not keep exactly. */
function inexactValue(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isExact =
      Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return isExact ? undefined : 'holds a number too large to be passed on exactly; send it as text'
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, '__proto__'))
    return 'holds the name __proto__, which cannot be passed on'
  for (const item of Object.values(value)) {
    const reason = inexactValue(item)
    if (reason) return reason
  }
  return undefined
}

/** Half of a surrogate pair is not a character (RFC 3629 §3). */
const brokenText = 'holds half of a character (broken Unicode), which cannot be passed on'

/**
 * The path of the first text or name with half of a surrogate pair. Platforms store such texts in
 * different ways, and may store two of them as the same text.
 */
function brokenTextPath(value: unknown, path: readonly string[] = []): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path.join('.')
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, item] of Object.entries(value)) {
    const at = name.isWellFormed() ? brokenTextPath(item, [...path, name]) : path.join('.')
    if (at !== undefined) return at
  }
  return undefined
}
