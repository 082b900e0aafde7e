/** Bounds of a JSON text or value. */
export interface JsonBounds {
  /** Maximum levels of nested objects and arrays. */
  readonly depth: number
  /** Maximum number of array items and object properties in total. */
  readonly values: number
}

export type JsonBound = keyof JsonBounds

const code = (text: string): number => text.charCodeAt(0)
const quote = code('"')
const backslash = code('\\')
const comma = code(',')
const openArray = code('[')
const closeArray = code(']')
const openObject = code('{')
const closeObject = code('}')

/**
 * The bound that a JSON text exceeds, if any. Scans the text before it is parsed, because ten
 * megabytes of `{},{},…` become a gigabyte of objects, and deep nesting exhausts the stack of
 * recursive functions. Skips strings as JSON does, but does not check whether the text is valid
 * JSON.
 */
export function boundExceededByText(
  text: string,
  { depth, values }: JsonBounds,
): JsonBound | undefined {
  // A text has at most one value per two characters, so a short text cannot exceed the bounds.
  if (text.length < Math.min(depth, values * 2)) return undefined
  let open = 0
  let count = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = stringEnd(text, at)
        break
      case comma:
        if (++count > values) return 'values'
        break
      case openArray:
      case openObject:
        if (++open > depth) return 'depth'
        if (++count > values) return 'values'
        break
      case closeArray:
      case closeObject:
        open--
        break
    }
  }
  return undefined
}

/**
 * Index of the quote that ends the string at `start`; the text's length if the string has no end.
 */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

/**
 * True if the character at `at` is escaped: an odd number of backslashes precedes it, because two
 * backslashes are one escaped backslash.
 */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}

/** The bound that a JSON value exceeds. Not recursive, so that depth cannot exhaust the stack. */
export function boundExceededByValue(
  value: unknown,
  { depth: maxDepth, values }: JsonBounds,
): JsonBound | undefined {
  let count = 0
  let isTooDeep = false
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: current, depth } = next
    if (typeof current !== 'object' || current === null) continue
    const items = Object.values(current)
    count += items.length
    if (count > values) return 'values'
    if (depth >= maxDepth) isTooDeep = true
    for (const item of items) open.push({ value: item, depth: depth + 1 })
  }
  return isTooDeep ? 'depth' : undefined
}

/** Thrown if an object of a JSON text has the same key twice. The message has path and line. */
export class DuplicateKeyError extends Error {
  override readonly name = 'DuplicateKeyError'
}

/**
 * Parses JSON that a person wrote. Accepts a byte order mark, because some editors write one.
 * Refuses a duplicate key, of which JSON.parse would keep only the last value (RFC 8259 §4). Throws
 * SyntaxError and DuplicateKeyError.
 */
export function parseJsonText(text: string): unknown {
  const json = text.replace(/^\uFEFF/, '')
  const value: unknown = JSON.parse(json)
  refuseDuplicateKeys(json)
  return value
}

/** An object or array that contains the current position. */
interface Open {
  /** Keys found so far; absent for an array. */
  readonly keys?: Set<string>
  /** Key or index of the current position. */
  at: string | number
}

/** Strings and structure. Numbers, true, false and null do not matter here. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

/** Throws DuplicateKeyError for the first key that an object has twice. The text must be JSON. */
function refuseDuplicateKeys(json: string): void {
  const open: Open[] = []
  let isKey = false
  for (const { 0: token, index } of json.matchAll(tokens)) {
    const current = open.at(-1)
    if (token === '{') open.push({ keys: new Set(), at: '' })
    else if (token === '[') open.push({ at: 0 })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && typeof current?.at === 'number') current.at++
    else if (isKey && current?.keys && token.startsWith('"')) {
      // Keys are compared without escapes: "\u0061" is "a".
      current.at = String(JSON.parse(token))
      if (current.keys.has(current.at)) {
        const path = open.map(({ at }) => at).join('.')
        const line = json.slice(0, index).split('\n').length
        throw new DuplicateKeyError(`${path} is given twice, the second time in line ${line}`)
      }
      current.keys.add(current.at)
    }
    isKey = token === '{' || (token === ',' && open.at(-1)?.keys !== undefined)
  }
}

/** The value of a JSON text; `undefined` if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for a JSON object: not for null or an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** True for null, an empty text, list or object, and for an absent value. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** JSON with sorted property names. Equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join()}}`
}
