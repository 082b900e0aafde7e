/** How much a JSON text may hold. */
export interface JsonBounds {
  /** Levels of objects and arrays within each other. */
  readonly depth: number
  /** Items of arrays and properties of objects, all together. */
  readonly values: number
}

/** What there is too much of. */
export type JsonExcess = keyof JsonBounds

const code = (text: string): number => text.charCodeAt(0)
const quote = code('"')
const backslash = code('\\')
const comma = code(',')
const openList = code('[')
const closeList = code(']')
const openObject = code('{')
const closeObject = code('}')

/**
 * Which bound a JSON text exceeds, from one look at it before it is parsed: ten megabytes of
 * `{},{},…` become a gigabyte of objects, and what works on them recursively runs out of stack. It
 * reads strings as JSON does, and leaves it to the parser to find out whether the rest is JSON.
 */
export function jsonExcess(text: string, { depth, values }: JsonBounds): JsonExcess | undefined {
  // A text has at most one value for two characters, so most are within the bounds by their length.
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
      case openList:
      case openObject:
        if (++open > depth) return 'depth'
        if (++count > values) return 'values'
        break
      case closeList:
      case closeObject:
        open--
        break
    }
  }
  return undefined
}

/** Where the string that begins here ends; the end of the text if it does not. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

/** Whether an odd number of backslashes stands before: each two of them are one. */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}
