import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../text/json.ts'

/*
 * A configuration file is changed by text edits, which preserve comments, order and whitespace
 * elsewhere. Each format (JSON, TOML, YAML) computes the edits for a step.
 */

/** Path of a value: object keys and list indices. */
export type Path = readonly (string | number)[]

/** Sets or removes one value. A list index equal to the list's length appends. */
export type Step =
  | { readonly set: Path; readonly value: PlainValue }
  | { readonly remove: Path; readonly value?: never }

/** A JSON value without null, which every format supports. */
export type PlainValue =
  | string
  | number
  | boolean
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue }

/** Replaces the text from `start` to `end` (offsets in UTF-16 units). */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A format of configuration files. */
export interface TextFormat {
  /** Parses a text. An empty text is an empty object. Throws FormatError. */
  read(text: string): unknown
  /** Edits of a step, in order and without overlap. Throws FormatError. */
  edits(text: string, step: Step): Edit[]
}

/** Thrown for an invalid text, or one that cannot be changed safely. The message is a clause. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
  readonly line: number | undefined
  readonly column: number | undefined

  /** `at`: the 1-based line and column, or the offset in a text. */
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

/** Applies edits, which are in order and do not overlap. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight(
    (result, { start, end, text: added }) => result.slice(0, start) + added + result.slice(end),
    text,
  )
}

/** Line ending of a text; `\n` if the text has one line. */
export const endOfLine = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** Start of the line at an offset. */
export const lineStartOf = (text: string, offset: number): number =>
  text.lastIndexOf('\n', offset - 1) + 1

/** Indentation of the line at an offset. */
export const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineStartOf(text, offset)))?.[0] ?? ''

/** True if only whitespace follows on the line. */
export const endsLine = (text: string, offset: number): boolean =>
  /^[ \t]*(?:\r?\n|$)/.test(text.slice(offset))

/** A changed text, with the edits of each step relative to the text before that step. */
export interface ChangedText {
  readonly text: string
  readonly changes: readonly { readonly before: string; readonly edits: readonly Edit[] }[]
}

/**
 * Applies the steps, and parses the text after each step. Throws FormatError if more than the
 * step's value has changed: a bug in an edit must never lose a part of the file.
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
    // A TOML table that is only implied disappears with its last key, so empty parents do not
    // count.
    const outer = 'remove' in step ? step.remove.slice(0, -1) : []
    return isDeepStrictEqual(withoutEmpty(value, outer), withoutEmpty(expected, outer))
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}

/** Removes the object at a path if it is empty, and then its empty ancestors. */
function withoutEmpty(value: unknown, path: Path): unknown {
  if (path.length === 0) return value
  const inner = valueAt(value, path)
  const isEmpty = isObject(inner) && Object.keys(inner).length === 0
  return withoutEmpty(isEmpty ? without(value, path) : value, path.slice(0, -1))
}

/** Wraps a value in the objects of a path. An index becomes a one-item list. */
export const nested = (path: Path, value: PlainValue): PlainValue =>
  path.reduceRight<PlainValue>(
    (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
    value,
  )

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
