import { type DocumentNode, parse, type ValueNode } from '@humanwhocodes/momoa'
import { isObject } from '../../json/is-object.ts'
import { insertedChild, jsonText, removedChild } from './json-edits.ts'
import { childAt, isContainer, type JsonSource } from './json-tree.ts'
import {
  type Edit,
  FormatError,
  indentAt,
  type Path,
  type PlainValue,
  type TextFormat,
} from './text-format.ts'

/** JSON as JSON.parse reads it. */
export const strictJson: TextFormat = jsonFormat(true)

/** JSON with comments and commas after the last value. */
export const jsonWithComments: TextFormat = jsonFormat(false)

function jsonFormat(isStrict: boolean): TextFormat {
  return {
    read(text) {
      if (text.trim() === '') return {}
      const { body } = parsed(text, isStrict)
      const value = plainValueOf(body, text)
      if (isObject(value)) return value
      throw new FormatError('it must hold one JSON object', [text, body.loc.start.offset])
    },
    edits(text, step) {
      if (text.trim() === '') return 'set' in step ? newText(text, step.set, step.value) : []
      const document = parsed(text, isStrict)
      const source = { text, tokens: document.tokens ?? [] }
      return 'set' in step
        ? setIn(source, document.body, step.set, step.value)
        : removeIn(source, document.body, step.remove)
    },
  }
}

function parsed(text: string, isStrict: boolean): DocumentNode {
  try {
    return parse(text, {
      mode: isStrict ? 'json' : 'jsonc',
      ranges: true,
      tokens: true,
      allowTrailingCommas: !isStrict,
    })
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError('it is nested too deeply')
    const { line, column } = error as { line?: number; column?: number }
    const at = line === undefined || column === undefined ? undefined : { line, column }
    // The message of the parser repeats a part of the file, which may belong to a secret.
    throw new FormatError(isStrict ? 'it is not JSON' : 'it is not JSON with comments', at)
  }
}

/** The value of a node. Of a key that is there several times the last counts, as for all clients. */
function plainValueOf(node: ValueNode, text: string): unknown {
  switch (node.type) {
    case 'Object':
      return Object.fromEntries(
        node.members.map(({ name, value }) => [
          name.type === 'String' ? stringOf(name, text) : name.name,
          plainValueOf(value, text),
        ]),
      )
    case 'Array':
      return node.elements.map(({ value }) => plainValueOf(value, text))
    case 'String':
      return stringOf(node, text)
    case 'Null':
      return null
    case 'Number':
    case 'Boolean':
      return node.value
    default:
      throw new FormatError('it has a value that is not JSON', [text, node.loc.start.offset])
  }
}

/** The parser accepts line breaks and other control characters in strings, which JSON does not. */
function stringOf({ value, loc }: ValueNode & { value: string }, text: string): string {
  const raw = text.slice(loc.start.offset, loc.end.offset)
  for (let at = 0; at < raw.length; at++) {
    if (raw.charCodeAt(at) < 0x20) {
      const place: [string, number] = [text, loc.start.offset + at]
      throw new FormatError('a text holds a line break or control character', place)
    }
  }
  return value
}

/** A text that is empty becomes an object. */
function newText(text: string, path: Path, value: PlainValue): Edit[] {
  const json = JSON.stringify(nested(path, value), undefined, 2)
  return [{ start: 0, end: text.length, text: `${json}\n` }]
}

/** A value within objects, and a list of one, for the keys of a path. */
const nested = (path: Path, value: PlainValue): PlainValue =>
  path.reduceRight<PlainValue>(
    (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
    value,
  )

function setIn(source: JsonSource, node: ValueNode, path: Path, value: PlainValue): Edit[] {
  const [key, ...rest] = path
  const { start, end } = node.loc
  if (key === undefined) {
    const isSpread = source.text.slice(start.offset, end.offset).includes('\n')
    const indent = isSpread ? indentAt(source.text, start.offset) : undefined
    return [{ start: start.offset, end: end.offset, text: jsonText(source.text, value, indent) }]
  }
  if (!isContainer(node) || (node.type === 'Array') !== (typeof key === 'number')) {
    const kind = typeof key === 'number' ? 'a list' : 'an object'
    throw new FormatError(`${kind} is expected there`, [source.text, start.offset])
  }
  const child = childAt(source, node, key)
  if (child) return setIn(source, child.value, rest, value)
  return insertedChild(source, node, key, nested(rest, value))
}

function removeIn(source: JsonSource, node: ValueNode, path: Path): Edit[] {
  const [key, ...rest] = path
  if (key === undefined || !isContainer(node)) return []
  const child = childAt(source, node, key)
  if (!child) return []
  return rest.length > 0 ? removeIn(source, child.value, rest) : removedChild(source, node, child)
}
