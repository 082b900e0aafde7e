import { isMap, isScalar, isSeq, type Pair, parseAllDocuments, stringify, type YAMLMap } from 'yaml'
import {
  type Edit,
  endOfLine,
  FormatError,
  indentAt,
  lineStartOf,
  nested,
  type Path,
  type PlainValue,
  type TextFormat,
} from './config-text-edits.ts'

/*
 * YAML. The library's document API would reformat the whole file, so only the ranges of its nodes
 * are used.
 */

export const yaml: TextFormat = {
  read(text) {
    try {
      return parsed(text)?.toJS() ?? {}
    } catch (error) {
      if (error instanceof FormatError) throw error
      // Too many aliases, or an alias without its anchor.
      throw new FormatError('it is not YAML')
    }
  },
  edits(text, step) {
    const root = rootOf(text)
    if ('remove' in step) return root ? removeIn(text, root, step.remove) : []
    if (root) return setIn(text, root, step.set, step.value)
    const block = blockText(step.set, step.value, '', endOfLine(text))
    return [appendedLines(text, text.length, block)]
  },
}

function parsed(text: string) {
  const documents = parseAllDocuments(text, { logLevel: 'error' })
  if (!Array.isArray(documents)) return undefined
  const [document, second] = documents
  const error = document?.errors[0]
  if (error) throw new FormatError('it is not YAML', [text, error.pos[0]])
  if (second) throw new FormatError('it holds several documents', [text, second.range[0]])
  return document
}

/** Root object; `undefined` for an empty file. Throws FormatError for a list or text. */
function rootOf(text: string): YAMLMap | undefined {
  const contents = parsed(text)?.contents
  if (!contents || (isScalar(contents) && contents.value === null)) return undefined
  if (isMap(contents)) return contents
  throw new FormatError('it must hold one object', [text, rangeOf(contents)[0]])
}

type Ranges = readonly [start: number, valueEnd: number, end: number]

function rangeOf(node: unknown): Ranges {
  const { range } = node as { range?: Ranges | null }
  if (range) return range
  throw new FormatError('it cannot be changed safely')
}

const keyOf = ({ key }: Pair) => (isScalar(key) ? key.value : undefined)
const pairOf = (map: YAMLMap, key: string | number | undefined) =>
  map.items.find((pair) => keyOf(pair) === key)

const isNull = (node: unknown) => !node || (isScalar(node) && node.value === null)

function setIn(text: string, map: YAMLMap, path: Path, value: PlainValue): Edit[] {
  const [key, ...rest] = path
  const pair = pairOf(map, key)
  if (!pair) return [insertedPair(text, map, path, value)]
  const node = pair.value
  const isEmpty = isNull(node) || (isMap(node) && node.items.length === 0)
  if (rest.length > 0 && isMap(node) && !isEmpty) return setIn(text, node, rest, value)
  if (rest.length > 0 && !isEmpty) {
    throw new FormatError('an object is expected there', [text, rangeOf(node)[0]])
  }
  return [replacedValue(text, map, pair, rest, value)]
}

/**
 * Replaces the value of a pair. If `rest` names keys below the pair, they become block lines,
 * except in a flow map. All other values become JSON.
 */
function replacedValue(
  text: string,
  map: YAMLMap,
  pair: Pair,
  rest: Path,
  value: PlainValue,
): Edit {
  const keyEnd = rangeOf(pair.key)[1]
  const colon = text.indexOf(':', keyEnd)
  const end = isNull(pair.value) ? colon + 1 : rangeOf(pair.value)[1]
  const start = colon + 1
  if (rest.length === 0 || map.flow) {
    return { start, end: trimmedEnd(text, start, end), text: ` ${flowText(rest, value)}` }
  }
  const eol = endOfLine(text)
  const indent = `${indentAt(text, rangeOf(pair.key)[0])}  `
  const block = blockText(rest, value, indent, eol)
  return { start, end: trimmedEnd(text, start, end), text: `${eol}${block.trimEnd()}` }
}

/** End of a value without the trailing whitespace of block ranges. */
const trimmedEnd = (text: string, start: number, end: number): number =>
  start + text.slice(start, end).trimEnd().length

/** Appends a pair. */
function insertedPair(text: string, map: YAMLMap, path: Path, value: PlainValue): Edit {
  const last = map.items.at(-1)
  if (map.flow) {
    const [start, end] = rangeOf(map)
    const json = flowText(path, value).slice(1, -1)
    const at = last ? rangeOf(last.value ?? last.key)[1] : start + 1
    return { start: at, end: at, text: last ? `, ${json}` : json || String(end) }
  }
  const first = map.items[0]
  const at = rangeOf(isNull(last?.value) ? last?.key : last?.value)
  const indent = indentAt(text, rangeOf(first?.key)[0])
  const lineEnd = isNull(last?.value) ? endOfLineAt(text, at[1]) : at[2]
  return appendedLines(text, lineEnd, blockText(path, value, indent, endOfLine(text)))
}

const endOfLineAt = (text: string, offset: number) => {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end + 1
}

/** Inserts lines at a line start, or at the end of a file without final newline. */
function appendedLines(text: string, at: number, block: string): Edit {
  const isAtLineStart = at === 0 || text[at - 1] === '\n'
  if (isAtLineStart) return { start: at, end: at, text: block }
  return { start: at, end: at, text: endOfLine(text) + block.trimEnd() }
}

/** A value at a path as block lines, each with a line ending. */
function blockText(path: Path, value: PlainValue, indent: string, eol: string): string {
  return stringify(nested(path, value), { indent: 2, lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => indent + line + eol)
    .join('')
}

const flowText = (path: Path, value: PlainValue) => JSON.stringify(nested(path, value))

function removeIn(text: string, map: YAMLMap, path: Path): Edit[] {
  const [key, ...rest] = path
  const pair = pairOf(map, key)
  if (!pair) return []
  if (rest.length === 0) return [removedPair(text, map, pair)]
  if (!isMap(pair.value)) return []
  const [next] = rest
  if (rest.length === 1 && pair.value.items.length === 1 && pairOf(pair.value, next)) {
    // A block without pairs would not be an object, so `{}` replaces it.
    return [replacedValue(text, map, pair, [], {})]
  }
  return removeIn(text, pair.value, rest)
}

function removedPair(text: string, map: YAMLMap, pair: Pair): Edit {
  const index = map.items.indexOf(pair)
  const start = rangeOf(pair.key)[0]
  const end = rangeOf(isNull(pair.value) ? pair.key : pair.value)
  if (map.flow) {
    const previous = map.items[index - 1]
    const next = map.items[index + 1]
    if (previous)
      return { start: rangeOf(previous.value ?? previous.key)[1], end: end[1], text: '' }
    return { start, end: next ? rangeOf(next.key)[0] : end[1], text: '' }
  }
  const lineStart = lineStartOf(text, start)
  const lineEnd = isSeq(pair.value) || isMap(pair.value) ? end[2] : endOfLineAt(text, end[1])
  if (lineEnd < text.length || text.endsWith('\n'))
    return { start: lineStart, end: lineEnd, text: '' }
  return { start: text.slice(0, lineStart).replace(/\r?\n$/, '').length, end: lineEnd, text: '' }
}
