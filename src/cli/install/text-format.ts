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

/** Line and column of an offset, from 1 on. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** The text after edits that are in order and do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight(
    (result, { start, end, text: added }) => result.slice(0, start) + added + result.slice(end),
    text,
  )
}

/** The end of line that a text uses; a text of one line gets the usual one. */
export const endOfLine = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** The spaces and tabs at the beginning of the line that holds an offset. */
export function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''
}

/** Where the line that holds an offset begins. */
export const lineStartOf = (text: string, offset: number): number =>
  text.lastIndexOf('\n', offset - 1) + 1

/** Whether nothing but spaces is between an offset and the end of its line. */
export const endsLine = (text: string, offset: number): boolean =>
  /^[ \t]*(?:\r?\n|$)/.test(text.slice(offset))
