/** How much a JSON text or value may hold. */
export interface JsonBounds {
  /** Levels of objects and arrays within each other. */
  readonly depth: number
  /** Items of arrays and properties of objects, all together. */
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
 * The bound that a JSON text exceeds, found by one scan before it is parsed: ten megabytes of
 * `{},{},…` become a gigabyte of objects, and recursive functions run out of stack on deep nesting.
 * Strings are skipped as JSON reads them; whether the rest is JSON is for the parser to decide.
 */
export function boundExceededByText(
  text: string,
  { depth, values }: JsonBounds,
): JsonBound | undefined {
  // A text has at most one value per two characters, so a short one needs no scan.
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

/** Where the string that begins here ends; the end of the text if it does not end. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

/** Whether an odd number of backslashes precedes: each pair of them is one backslash. */
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
