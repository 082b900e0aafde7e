import type { Node } from 'jsonc-parser'
import {
  childrenOf,
  endOf,
  isComment,
  type JsonSource,
  type JsonToken,
  tokensIn,
} from './json-tree.ts'
import { type Edit, endOfLine, endsLine, indentAt, type PlainValue } from './text-format.ts'

/** Adds a last member or element, in the style of the others. */
export function insertedChild(
  source: JsonSource,
  node: Node,
  key: string | number,
  value: PlainValue,
): Edit[] {
  const { text } = source
  const { isSpread, indent, outer } = layoutOf(text, node)
  const json = jsonText(text, value, isSpread ? indent : undefined)
  const item =
    typeof key === 'number' ? json : `${JSON.stringify(key)}:${isSpread ? ' ' : ''}${json}`
  const tokens = tokensIn(source, node)
  const last = tokens.at(-1)
  const eol = endOfLine(text)
  if (!last) {
    const [before, after] = isSpread ? [eol + indent, eol + outer] : ['', '']
    const inner = { start: node.offset + 1, end: endOf(node) - 1 }
    return [{ ...inner, text: before + item + after }]
  }
  const end = last.end
  const before = isSpread || last.kind === 'line comment' ? eol + indent : ' '
  const lastChild = childrenOf(node).at(-1)
  if (!lastChild) {
    const after = endsLine(text, end) ? '' : eol + outer
    return [{ start: end, end, text: before + item + after }]
  }
  // A comma after the last value is the style of the file, and stays so.
  if (tokens.findLast((token) => !isComment(token))?.kind === 'comma') {
    return [{ start: end, end, text: `${before}${item},` }]
  }
  const childEnd = endOf(lastChild)
  if (childEnd === end) return [{ start: end, end, text: `,${before}${item}` }]
  return [
    { start: childEnd, end: childEnd, text: ',' },
    { start: end, end, text: before + item },
  ]
}

/** Whether the children of a node have lines of their own, and their indentation. */
function layoutOf(text: string, node: Node) {
  const open = node.offset
  const outer = indentAt(text, open)
  const first = childrenOf(node)[0]
  const inner = text.slice(open, first ? endOf(node) : open)
  const startsLine = first && text.slice(open, first.offset).includes('\n')
  return {
    isSpread: first ? inner.includes('\n') : hasSeveralLines(text),
    indent: startsLine ? indentAt(text, first.offset) : outer + indentUnit(text),
    outer,
  }
}

/** An object that is empty gets lines, unless the whole file is one line with something in it. */
const hasSeveralLines = (text: string) => /\n\s*\S/.test(text) || /^\s*\{\s*\}\s*$/.test(text)

/** One more level of indentation, as the first line that is indented has it. */
const indentUnit = (text: string): string => /\n([ \t]+)["[{]/.exec(text)?.[1] ?? '  '

/** A value as JSON text, on several lines with that indentation, or on one line without. */
export function jsonText(text: string, value: PlainValue, indent: string | undefined): string {
  if (indent === undefined) return JSON.stringify(value)
  const json = JSON.stringify(value, undefined, indentUnit(text))
  return json.replaceAll('\n', endOfLine(text) + indent)
}

/** Takes out a member or element with its comma. */
export function removedChild(source: JsonSource, node: Node, child: Node): Edit[] {
  const { text, tokens } = source
  const children = childrenOf(node)
  if (children.length === 1 && !tokensIn(source, node).some(isComment)) {
    return [{ start: node.offset + 1, end: endOf(node) - 1, text: '' }]
  }
  const start = child.offset
  const end = endOf(child)
  const before = tokens.findLast((token) => token.end <= start)
  const after = nextSignificant(tokens, end)
  const hasComma = after?.kind === 'comma'
  const cutEnd = hasComma ? after.end : end
  // What follows on the same line must not become a part of a line comment before.
  const mustKeepLine = before?.kind === 'line comment' && !endsLine(text, cutEnd)
  const cutStart = mustKeepLine ? start : (before?.end ?? start)
  const cut = { start: cutStart, end: cutEnd, text: '' }
  const previous = children[children.indexOf(child) - 1]
  const comma = previous && nextSignificant(tokens, endOf(previous))
  if (hasComma || !comma) return [cut]
  return [{ start: comma.start, end: comma.end, text: '' }, cut]
}

const nextSignificant = (tokens: readonly JsonToken[], offset: number) =>
  tokens.find((token) => token.start >= offset && !isComment(token))
