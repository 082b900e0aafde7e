import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../text/json.ts'

/*
 * A configuration file is changed by edits of its text, so that comments, order and spaces of
 * everything else stay as they are. Each format (JSON, TOML, YAML) gives such edits for a step.
 */

/** Where a value is: the keys of the objects around it, an index for a place in a list. */
export type Path = readonly (string | number)[]

/** A change of one value: a new value at a path, or none. A list is appended to at its length. */
export type Step =
  | { readonly set: Path; readonly value: PlainValue }
  | { readonly remove: Path; readonly value?: never }

/** What we write: values of JSON, which every format has. */
export type PlainValue =
  | string
  | number
  | boolean
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue }

/** The text from `start` to `end` (offsets in UTF-16 units) is replaced. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A format of configuration files. */
export interface TextFormat {
  /** The value of a text. Throws FormatError. An empty text is an empty object. */
  read(text: string): unknown
  /** The edits that make a step, which do not overlap, in order. Throws FormatError. */
  edits(text: string, step: Step): Edit[]
}

/** A text is not of its format, or cannot be changed safely; the message is a clause. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
  readonly line: number | undefined
  readonly column: number | undefined

  /** `at`: the line and column from 1 on, or the offset in a text. */
  constructor(message: string, at?: { line: number; column: number } | [string, number]) {
    super(message)
    const place = Array.isArray(at) ? placeOf(...at) : at
    this.line = place?.line
    this.column = place?.column
  }
}

/** Line and column of an offset, 1-based. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** The text after edits that are in order and do not overlap. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight(
    (result, { start, end, text: added }) => result.slice(0, start) + added + result.slice(end),
    text,
  )
}

/** The end of line that a text uses; a text of one line gets the usual one. */
export const endOfLine = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** Where the line that holds an offset begins. */
export const lineStartOf = (text: string, offset: number): number =>
  text.lastIndexOf('\n', offset - 1) + 1

/** The spaces and tabs at the beginning of the line that holds an offset. */
export const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineStartOf(text, offset)))?.[0] ?? ''

/** Whether nothing but spaces is between an offset and the end of its line. */
export const endsLine = (text: string, offset: number): boolean =>
  /^[ \t]*(?:\r?\n|$)/.test(text.slice(offset))

/** A text that steps have changed, with the edits of each step for the text before that step. */
export interface ChangedText {
  readonly text: string
  readonly changes: readonly { readonly before: string; readonly edits: readonly Edit[] }[]
}

/**
 * Makes the steps, and reads the text after each: only what the step says may be different. So a
 * fault of an edit can never lose a part of somebody's file. Throws FormatError.
 */
export function changedText(format: TextFormat, text: string, steps: readonly Step[]): ChangedText {
  let current = text
  const changes: ChangedText['changes'][number][] = []
  for (const step of steps) {
    const value = format.read(current)
    const edits = format.edits(current, step)
    if (edits.length === 0) continue
    const next = applyEdits(current, edits)
    if (!isSafe(format, next, step, valueAfter(value, step))) {
      throw new FormatError('its form is one that this program cannot change safely')
    }
    changes.push({ before: current, edits })
    current = next
  }
  return { text: current, changes }
}

function isSafe(format: TextFormat, text: string, step: Step, expected: unknown): boolean {
  try {
    const value = format.read(text)
    if (isDeepStrictEqual(value, expected)) return true
    // TOML has no tables that are there only for what they hold.
    const outer = 'remove' in step ? step.remove.slice(0, -1) : []
    return isDeepStrictEqual(withoutEmpty(value, outer), withoutEmpty(expected, outer))
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}

/** The value without the object at a path if that is empty, and then without those around it. */
function withoutEmpty(value: unknown, path: Path): unknown {
  if (path.length === 0) return value
  const inner = valueAt(value, path)
  const isEmpty = isObject(inner) && Object.keys(inner).length === 0
  return withoutEmpty(isEmpty ? without(value, path) : value, path.slice(0, -1))
}

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((outer, key) => {
    if (Array.isArray(outer)) return outer[Number(key)]
    return isObject(outer) && Object.hasOwn(outer, key) ? outer[key] : undefined
  }, value)

function valueAfter(value: unknown, step: Step): unknown {
  return 'set' in step ? withValue(value, step.set, step.value) : without(value, step.remove)
}

function withValue(value: unknown, [key, ...rest]: Path, leaf: unknown): unknown {
  if (key === undefined) return leaf
  if (typeof key === 'number') {
    const items: unknown[] = Array.isArray(value) ? [...value] : []
    items[key] = withValue(items[key], rest, leaf)
    return items
  }
  const outer = isObject(value) ? value : {}
  const entries = Object.entries(outer).filter(([name]) => name !== key)
  const inner = Object.hasOwn(outer, key) ? outer[key] : undefined
  return Object.fromEntries([...entries, [key, withValue(inner, rest, leaf)]])
}

function without(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return value
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.toSpliced(Number(key), 1)
    return value.map((item, at) => (at === key ? without(item, rest) : item))
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    if (name !== key) return [[name, inner] as const]
    return rest.length === 0 ? [] : [[name, without(inner, rest)] as const]
  })
  return Object.fromEntries(entries)
}
