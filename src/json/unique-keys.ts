/** A key that an object of a JSON text has twice: JSON.parse keeps the last value without an error. */
interface DuplicateKey {
  /** Where it is, such as `quiet_hours.0.from`. */
  readonly path: string
  /** Line of its second occurrence, from 1 on. */
  readonly line: number
}

/** An object of a JSON text has the same key twice; the message says which and where. */
export class DuplicateKeyError extends Error {
  override readonly name = 'DuplicateKeyError'
}

/**
 * Parses JSON that a person has written. A byte order mark is accepted, because some editors write
 * one. A duplicate key is an error, because one of its values would be lost (RFC 8259 §4). Throws
 * SyntaxError and DuplicateKeyError.
 */
export function parseJsonText(text: string): unknown {
  const json = text.replace(/^\uFEFF/, '')
  const value: unknown = JSON.parse(json)
  const duplicate = firstDuplicate(json)
  if (!duplicate) return value
  throw new DuplicateKeyError(
    `${duplicate.path} is given twice, the second time in line ${duplicate.line}`,
  )
}

/** An object or array that contains the current position. */
interface Open {
  /** Keys so far; absent for an array. */
  readonly keys?: Set<string>
  /** Key or index of the current position. */
  at: string | number
}

/** Strings and structure; numbers, true, false and null do not matter. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

/** The first key that is given twice; the text is valid JSON. */
function firstDuplicate(json: string): DuplicateKey | undefined {
  const open: Open[] = []
  let isKey = false
  for (const { 0: token, index } of json.matchAll(tokens)) {
    const current = open.at(-1)
    if (token === '{') open.push({ keys: new Set(), at: '' })
    else if (token === '[') open.push({ at: 0 })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && typeof current?.at === 'number') current.at++
    else if (isKey && current?.keys && token.startsWith('"')) {
      // Keys are compared unescaped: "a" can be written "\u0061".
      current.at = String(JSON.parse(token))
      if (current.keys.has(current.at)) {
        const path = open.map(({ at }) => at).join('.')
        return { path, line: json.slice(0, index).split('\n').length }
      }
      current.keys.add(current.at)
    }
    isKey = token === '{' || (token === ',' && open.at(-1)?.keys !== undefined)
  }
  return undefined
}
