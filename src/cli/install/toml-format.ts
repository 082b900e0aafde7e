import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import {
  type Edit,
  endOfLine,
  FormatError,
  lineStartOf,
  type Path,
  type PlainValue,
  type TextFormat,
} from './config-text-edits.ts'

/** TOML. New tables are appended to the file, in TOML 1.0 syntax. */
export const toml: TextFormat = {
  read: (text) => getStaticTOMLValue(parsed(text)),
  edits(text, step) {
    const { body } = parsed(text).body[0]
    if ('remove' in step) return removed(text, body, step.remove)
    return set(text, body, step.set, step.value)
  },
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text)
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const { lineNumber: line, column } = error
    throw new FormatError('it is not TOML', { line, column: column + 1 })
  }
}

type Statement = AST.TOMLKeyValue | AST.TOMLTable

const keysOf = ({ keys }: AST.TOMLKey) =>
  keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))

const isSame = (one: Path, other: Path) =>
  one.length === other.length && one.every((key, at) => key === other[at])

const isWithin = (path: Path, outer: Path) => isSame(path.slice(0, outer.length), outer)

const isTable = (statement: Statement): statement is AST.TOMLTable => statement.type === 'TOMLTable'

/** A key with its value, and its full path. */
interface Assignment {
  readonly path: Path
  readonly node: AST.TOMLKeyValue
}

/** All keys with a value: top-level, in tables and in inline tables. */
function assignments(body: readonly Statement[]): Assignment[] {
  return body.flatMap((statement) =>
    isTable(statement)
      ? statement.body.flatMap((node) => assigned(node, statement.resolvedKey))
      : assigned(statement, []),
  )
}

function assigned(node: AST.TOMLKeyValue, outer: Path): Assignment[] {
  const path = [...outer, ...keysOf(node.key)]
  const { value } = node
  const inner =
    value.type === 'TOMLInlineTable' ? value.body.flatMap((one) => assigned(one, path)) : []
  return [{ path, node }, ...inner]
}

const standardTable = (body: readonly Statement[], path: Path) =>
  body
    .filter(isTable)
    .find(({ kind, resolvedKey }) => kind === 'standard' && isSame(resolvedKey, path))

function set(text: string, body: readonly Statement[], path: Path, value: PlainValue): Edit[] {
  const all = assignments(body)
  const existing = all.find((one) => isSame(one.path, path))
  if (existing) {
    const [start, end] = existing.node.value.range
    return [{ start, end, text: inlineValue(value) }]
  }
  const parent = path.slice(0, -1)
  const line = `${tomlKey(path.at(-1))} = ${inlineValue(value)}`
  const inline = all.find((one) => isSame(one.path, parent))?.node.value
  if (inline?.type === 'TOMLInlineTable') return insertedInline(inline, line)
  const table = standardTable(body, parent)
  if (table && !isPlainObject(value)) {
    // Insert after the table's last line and its comment, or after the header of an empty table.
    const last = (table.body.at(-1) ?? table.key).range[1]
    const at = last + (/^[^\r\n]*/.exec(text.slice(last))?.[0].length ?? 0)
    return [{ start: at, end: at, text: endOfLine(text) + line }]
  }
  const tables = isPlainObject(value)
    ? tableTexts(path, value)
    : tableTexts(parent, { [String(path.at(-1))]: value })
  return [appended(text, tables)]
}

function insertedInline({ body, range }: AST.TOMLInlineTable, item: string): Edit[] {
  const last = body.at(-1)
  const at = last ? last.range[1] : range[0] + 1
  return [{ start: at, end: at, text: last ? `, ${item}` : ` ${item} ` }]
}

/**
 * Appends tables, given by their lines, each after an empty line. The file keeps its final newline, or the lack of one.
 */
function appended(text: string, tables: readonly (readonly string[])[]): Edit {
  const eol = endOfLine(text)
  const isEmpty = text.trim() === ''
  const hasEnd = isEmpty || text.endsWith('\n')
  const before = isEmpty ? '' : hasEnd ? eol : eol + eol
  const joinedTables = tables.map((lines) => lines.join(eol)).join(eol + eol)
  const added = before + joinedTables + (hasEnd ? eol : '')
  return { start: text.length, end: text.length, text: added }
}

const isPlainObject = (value: PlainValue): value is { readonly [key: string]: PlainValue } =>
  typeof value === 'object' && !Array.isArray(value)

function tableTexts(path: Path, value: { readonly [key: string]: PlainValue }): string[][] {
  const entries = Object.entries(value)
  const own = entries.filter(([, one]) => !isPlainObject(one))
  const inner = entries.flatMap(([key, one]) =>
    isPlainObject(one) ? tableTexts([...path, key], one) : [],
  )
  const head = `[${path.map(tomlKey).join('.')}]`
  return [[head, ...own.map(([key, one]) => `${tomlKey(key)} = ${inlineValue(one)}`)], ...inner]
}

const tomlKey = (key: string | number | undefined): string =>
  /^[\w-]+$/.test(String(key)) ? String(key) : tomlString(String(key))

/** A basic string. JSON escapes the same characters, except DEL. */
const tomlString = (value: string) => JSON.stringify(value).replaceAll('\x7f', '\\u007F')

function inlineValue(value: PlainValue): string {
  if (typeof value === 'string') return tomlString(value)
  if (typeof value !== 'object') return String(value)
  if (isPlainObject(value)) {
    const items = Object.entries(value).map(([key, one]) => `${tomlKey(key)} = ${inlineValue(one)}`)
    return items.length > 0 ? `{ ${items.join(', ')} }` : '{}'
  }
  return `[${value.map(inlineValue).join(', ')}]`
}

/** Removes tables and keys at or below a path. */
function removed(text: string, body: readonly Statement[], path: Path): Edit[] {
  const cuts = body.flatMap((statement) => {
    if (isTable(statement) && isWithin(statement.resolvedKey, path)) return [cut(text, statement)]
    const keys = isTable(statement) ? statement.body : [statement]
    const outer = isTable(statement) ? statement.resolvedKey : []
    return keys.flatMap((node) => removedKey(text, node, [...outer, ...keysOf(node.key)], path))
  })
  return joined(text, cuts)
}

function removedKey(text: string, node: AST.TOMLKeyValue, at: Path, path: Path): Edit[] {
  if (isWithin(at, path)) return [cut(text, node)]
  const { value } = node
  if (value.type !== 'TOMLInlineTable' || !isWithin(path, at)) return []
  const index = value.body.findIndex((one) => isWithin(path, [...at, ...keysOf(one.key)]))
  const found = value.body[index]
  if (!found) return []
  const foundPath = [...at, ...keysOf(found.key)]
  if (!isWithin(foundPath, path)) return removedKey(text, found, foundPath, path)
  const previous = value.body[index - 1]
  const next = value.body[index + 1]
  if (previous) return [{ start: previous.range[1], end: found.range[1], text: '' }]
  return [{ start: found.range[0], end: next ? next.range[0] : found.range[1], text: '' }]
}

/** Removes the lines of a statement, its trailing comment, and an empty line before a table. */
function cut(text: string, statement: Statement): Edit {
  const [from, to] = statement.range
  const lineStart = lineStartOf(text, from)
  const rest = /^[^\n]*(?:\n|$)/.exec(text.slice(to))?.[0] ?? ''
  const blank = /(?:^|\n)([ \t]*\r?\n)$/.exec(text.slice(0, lineStart))?.[1] ?? ''
  const start = isTable(statement) ? lineStart - blank.length : lineStart
  return { start, end: to + rest.length, text: '' }
}

/** Merges adjacent cuts. Keeps a missing final newline. */
function joined(text: string, cuts: readonly Edit[]): Edit[] {
  const merged: Edit[] = []
  for (const one of cuts) {
    const last = merged.at(-1)
    if (last && last.end === one.start) merged.splice(-1, 1, { ...last, end: one.end })
    else merged.push(one)
  }
  const last = merged.at(-1)
  if (!last || last.end < text.length || text.endsWith('\n')) return merged
  const start = text.slice(0, last.start).replace(/\r?\n$/, '').length
  return [...merged.slice(0, -1), { ...last, start }]
}
