import { isEmptyValue, isObject, jsonIn } from '../../text/json.ts'
import { safeLine, safeLines } from '../../text/safe-text.ts'
import type { Terminal } from './terminal-io.ts'

/** The terminal on which the result is shown. */
type Shown = Pick<Terminal, 'width' | 'styled'>

type Data = Readonly<Record<string, unknown>>

/**
 * Formats a result for people: the tool's text if it says more than the data, otherwise the data as
 * tables and fields, without empty fields. Control characters in outside text are escaped.
 */
export function resultText(text: string, data: Data | undefined, shown: Shown): string {
  if (data && isJsonObject(text)) return dataLines(withoutEmpty(data), shown).join('\n')
  // The tool has shortened its text. For people, `--json` shows the complete data.
  const ours = text.replace(/structuredContent has all of it\.$/, '--json shows all of it.')
  return safeLines(ours.split('\n'))
}

const isJsonObject = (text: string) => text.startsWith('{') && isObject(jsonIn(text))

/** Shows each list of objects as a table, named if there are several, then all other fields. */
function dataLines(data: Data, shown: Shown): string[] {
  const lists = Object.entries(data).flatMap(([name, value]) =>
    Array.isArray(value) && value.length > 0 && value.every(isObject) ? [{ name, value }] : [],
  )
  const names = new Set(lists.map(({ name }) => name))
  const others = Object.fromEntries(Object.entries(data).filter(([name]) => !names.has(name)))
  const parts = lists.map(({ name, value }) => [
    ...(lists.length > 1 ? [`${name}:`] : []),
    ...listLines(value, shown),
  ])
  const rest = fieldLines(others)
  const all = rest.length > 0 ? [...parts, rest] : parts
  return all.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

/** A table; on a narrow terminal, the fields of one object after the other. */
const listLines = (rows: readonly Data[], shown: Shown): string[] =>
  tableLines(rows, shown) ??
  rows.flatMap((row, at) => [...(at === 0 ? [] : ['']), ...fieldLines(row)])

/** Data without empty fields. */
const withoutEmpty = (data: Data): Data =>
  Object.fromEntries(
    Object.entries(data)
      .map(([name, value]): [string, unknown] => [name, valueWithoutEmpty(value)])
      .filter(([, value]) => !isEmptyValue(value)),
  )

function valueWithoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueWithoutEmpty)
  return isObject(value) ? withoutEmpty(value) : value
}

/** Space between two columns. */
const gap = '  '

/**
 * Formats objects as a table with a column per field, including nested fields (`model.model`);
 * `undefined` if the table is wider than `width`. Never truncates.
 */
function tableLines(
  rows: readonly Data[],
  { width = Number.POSITIVE_INFINITY, styled }: Shown,
): string[] | undefined {
  const flat = rows.map((row) => new Map(cellsOf(row)))
  const names = [...new Set(flat.flatMap((cells) => [...cells.keys()]))]
  const widths = names.map((name) =>
    Math.max(columnsOf(name), ...flat.map((cells) => columnsOf(cells.get(name) ?? ''))),
  )
  const whole = widths.reduce((sum, one) => sum + one, 0) + gap.length * (names.length - 1)
  if (whole > width) return undefined
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => padded(cell, widths[at] ?? 0))
      .join(gap)
      .trimEnd()
  return [
    styled('bold', line(names)),
    ...flat.map((cells) => line(names.map((name) => cells.get(name) ?? ''))),
  ]
}

function cellsOf(row: Data, prefix = ''): (readonly [name: string, text: string])[] {
  return Object.entries(row).flatMap(([name, value]) => {
    const path = prefix + cellText(name)
    return isObject(value) ? cellsOf(value, `${path}.`) : [[path, cellText(value)] as const]
  })
}

const step = '  '

/**
 * Formats the fields of an object, one per line, with nested objects indented. Further lines of a
 * text are indented below its name, so that they cannot pass as fields.
 */
function fieldLines(object: Data, indent = ''): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const label = `${indent}${cellText(name)}:`
    if (isObject(value)) return [label, ...fieldLines(value, indent + step)]
    if (Array.isArray(value) && value.some(isObject))
      return [label, ...value.flatMap((item) => itemLines(item, indent + step))]
    if (typeof value === 'string' && value.includes('\n'))
      return [label, ...value.split('\n').map((line) => `${indent}${step}| ${safeLine(line)}`)]
    return [`${label} ${cellText(value)}`.trimEnd()]
  })
}

/** An item of a list: a line for each field, the first one after a hyphen. */
function itemLines(item: unknown, indent: string): string[] {
  if (!isObject(item)) return [`${indent}- ${cellText(item)}`]
  return fieldLines(item, `${indent}${step}`).map((line, at) =>
    at === 0 ? `${indent}- ${line.slice(indent.length + step.length)}` : line,
  )
}

/** Characters that take two columns: East Asian wide ones and emoji (UAX #11, UTS #51). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

/** Characters without a column of their own: combining marks and zero-width characters. */
const none = /[\p{M}\u200b-\u200d]/u

const isAscii = (text: string) => !/[^ -~]/.test(text)

/** Terminal columns of a text. */
function columnsOf(text: string): number {
  if (isAscii(text)) return text.length
  let columns = 0
  for (const character of text) columns += none.test(character) ? 0 : wide.test(character) ? 2 : 1
  return columns
}

const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)))

/** Outside text for a table cell: one line, with control characters escaped. */
const cellText = (value: unknown): string => safeLine(plainText(value))

/** A JSON value as short text. */
function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(String).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
