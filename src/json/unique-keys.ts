/** A name that an object of a JSON text has twice: JSON.parse keeps the last value and says nothing. */
interface DoubledName {
  /** Where it is, such as `quiet_hours.0.from`. */
  readonly path: string
  /** Line of its second occurrence, from 1 on. */
  readonly line: number
}

/** The JSON text holds an object with the same name twice; the message says which and where. */
export class DoubledNameError extends Error {
  override readonly name = 'DoubledNameError'
}

/**
 * Reads JSON that a person has written: a byte order mark is accepted, as some editors write one,
 * and a name that stands twice in an object is refused, because one of its values would be lost
 * (RFC 8259 §4). Throws SyntaxError and DoubledNameError.
 */
export function parseJsonText(text: string): unknown {
  const json = text.replace(/^\uFEFF/, '')
  const value: unknown = JSON.parse(json)
  const doubled = firstDoubled(json)
  if (!doubled) return value
  throw new DoubledNameError(
    `${doubled.path} is given twice, the second time in line ${doubled.line}`,
  )
}

/** An object or array that is open where the text is read. */
interface Open {
  /** Names so far; absent for an array. */
  readonly names?: Set<string>
  /** Name or index of what is read. */
  at: string | number
}

/** Strings, and what gives them their place. Numbers and words do not matter. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

/** The first name that is given twice; the text is valid JSON. */
function firstDoubled(json: string): DoubledName | undefined {
  const open: Open[] = []
  let isName = false
  for (const { 0: token, index } of json.matchAll(tokens)) {
    const current = open.at(-1)
    if (token === '{') open.push({ names: new Set(), at: '' })
    else if (token === '[') open.push({ at: 0 })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && typeof current?.at === 'number') current.at++
    else if (isName && current?.names && token.startsWith('"')) {
      // Names are equal by what they mean: "a" is also spelled "\u0061".
      current.at = String(JSON.parse(token))
      if (current.names.has(current.at)) {
        const path = open.map(({ at }) => at).join('.')
        return { path, line: json.slice(0, index).split('\n').length }
      }
      current.names.add(current.at)
    }
    isName = token === '{' || (token === ',' && open.at(-1)?.names !== undefined)
  }
  return undefined
}
