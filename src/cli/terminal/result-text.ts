import { isObject } from '../../json/is-object.ts'
import { safeLines } from '../../text/safe-text.ts'
import { fieldLines } from './field-lines.ts'
import { type Row, tableLines } from './table.ts'

/** How a result is shown. */
export interface Shown {
  /** Columns of the terminal. */
  readonly width: number
  readonly styleHead: (text: string) => string
}

type Data = Readonly<Record<string, unknown>>

/**
 * A result for a person. A tool whose text says more than its data is shown by its text; the data of any
 * other as tables and fields, without what is empty. Nothing from outside has an effect on the terminal.
 */
export function resultText(text: string, data: Data | undefined, shown: Shown): string {
  if (data && isJsonObject(text)) return dataLines(withoutEmpty(data), shown).join('\n')
  // The text was shortened for a model.
  const ours = text.replace(/structuredContent has all of it\.$/, '--json shows all of it.')
  return safeLines(ours.split('\n'))
}

/** Text that is the data as JSON. */
function isJsonObject(text: string): boolean {
  if (!text.startsWith('{')) return false
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** Each list of objects as a table, under its name where there are several; then all other fields. */
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

/** A table, or where the terminal is too narrow for it, the fields of one object after the other. */
const listLines = (rows: readonly Row[], { width, styleHead }: Shown): string[] =>
  tableLines(rows, width, styleHead) ??
  rows.flatMap((row, at) => [...(at === 0 ? [] : ['']), ...fieldLines(row)])

/** Data without fields that say nothing. */
const withoutEmpty = (data: Data): Data =>
  Object.fromEntries(
    Object.entries(data)
      .map(([name, value]): [string, unknown] => [name, valueWithoutEmpty(value)])
      .filter(([, value]) => !isEmpty(value)),
  )

function valueWithoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueWithoutEmpty)
  return isObject(value) ? withoutEmpty(value) : value
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
