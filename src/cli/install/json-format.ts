import { getNodeValue, type Node } from 'jsonc-parser'
import { insertedChild, jsonText, removedChild } from './json-edits.ts'
import {
  childAt,
  childrenOf,
  endOf,
  isComment,
  type JsonSource,
  parsedJson,
  tokensOf,
  valueNode,
} from './json-tree.ts'
import {
  type Edit,
  endOfLine,
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
      if (isBlank(text, isStrict)) return {}
      const root = parsedJson(text, isStrict)
      if (root.type === 'object') return plainValueOf(root)
      throw new FormatError('it must hold one JSON object', [text, root.offset])
    },
    edits(text, step) {
      if (isBlank(text, isStrict)) return 'set' in step ? newText(text, step.set, step.value) : []
      const root = parsedJson(text, isStrict)
      const source = { text, tokens: tokensOf(text) }
      return 'set' in step
        ? setIn(source, root, step.set, step.value)
        : removeIn(source, root, step.remove)
    },
  }
}

/** The value of a node. Of a key that is there several times the last counts, as for all clients. */
function plainValueOf(node: Node): unknown {
  if (node.type === 'array') return childrenOf(node).map(plainValueOf)
  if (node.type !== 'object') return getNodeValue(node)
  return Object.fromEntries(
    childrenOf(node).map((member) => [
      member.children?.[0]?.value,
      plainValueOf(valueNode(member)),
    ]),
  )
}

/** Whether a text holds no value: it is empty, or has only comments. */
const isBlank = (text: string, isStrict: boolean) =>
  text.trim() === '' || (!isStrict && tokensOf(text).every(isComment))

/** A text that is empty becomes an object; comments stay before it. */
function newText(text: string, path: Path, value: PlainValue): Edit[] {
  const json = JSON.stringify(nested(path, value), undefined, 2)
  const end = text.length
  if (text.trim() === '') return [{ start: 0, end, text: `${json}\n` }]
  const eol = endOfLine(text)
  const before = text.endsWith('\n') ? '' : eol
  return [{ start: end, end, text: `${before}${json.replaceAll('\n', eol)}${eol}` }]
}

/** A value within objects, and a list of one, for the keys of a path. */
const nested = (path: Path, value: PlainValue): PlainValue =>
  path.reduceRight<PlainValue>(
    (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
    value,
  )

function setIn(source: JsonSource, node: Node, path: Path, value: PlainValue): Edit[] {
  const [key, ...rest] = path
  const { text } = source
  const { offset: start } = node
  if (key === undefined) {
    const isSpread = text.slice(start, endOf(node)).includes('\n')
    const indent = isSpread ? indentAt(text, start) : undefined
    return [{ start, end: endOf(node), text: jsonText(text, value, indent) }]
  }
  if (node.type !== (typeof key === 'number' ? 'array' : 'object')) {
    const kind = typeof key === 'number' ? 'a list' : 'an object'
    throw new FormatError(`${kind} is expected there`, [text, start])
  }
  const child = childAt(text, node, key)
  if (child) return setIn(source, valueNode(child), rest, value)
  return insertedChild(source, node, key, nested(rest, value))
}

function removeIn(source: JsonSource, node: Node, path: Path): Edit[] {
  const [key, ...rest] = path
  if (key === undefined) return []
  const child = childAt(source.text, node, key)
  if (!child) return []
  if (rest.length > 0) return removeIn(source, valueNode(child), rest)
  return removedChild(source, node, child)
}
