import { nestsDeeperThan } from '../../contract/nesting.ts'

/** Deepest nesting of an argument that is passed on. */
const deepest = 100

/** Most values in the arguments of one call: more is no request but a mistake, or an attack. */
const mostValues = 10_000

/**
 * Why an argument cannot be passed on as it was meant; `undefined` when it can. JavaScript would
 * change such values silently, or run out of stack over them, so they are refused instead.
 */
export function unsendable(value: unknown): string | undefined {
  if (holdsMoreThan(value, mostValues)) return `more than ${mostValues} values`
  if (nestsDeeperThan(value, deepest)) return `nested more than ${deepest} deep`
  return inexact(value)
}

/** Counts without visiting what is too much already. */
function holdsMoreThan(value: unknown, most: number): boolean {
  let count = 0
  const open = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const items = Object.values(next)
    count += items.length
    if (count > most) return true
    open.push(...items)
  }
  return false
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
