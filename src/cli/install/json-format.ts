import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser'
import {
  type Edit,
  endOfLine,
  endsLine,
  FormatError,
  indentAt,
  nested,
  type Path,
  type PlainValue,
  type TextFormat,
} from './config-text-edits.ts'

/** JSON as JSON.parse reads it. */
export const strictJson: TextFormat = jsonFormat(true)

/** JSON with comments and trailing commas. */
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

/** Value of a node. The last of duplicate keys wins, as in all clients. */
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

/** True if a text is empty or has only comments. */
const isBlank = (text: string, isStrict: boolean) =>
  text.trim() === '' || (!isStrict && tokensOf(text).every(isComment))

/** Turns an empty text into an object; comments stay before it. */
function newText(text: string, path: Path, value: PlainValue): Edit[] {
  const json = JSON.stringify(nested(path, value), undefined, 2)
  const end = text.length
  if (text.trim() === '') return [{ start: 0, end, text: `${json}\n` }]
  const eol = endOfLine(text)
  const before = text.endsWith('\n') ? '' : eol
  return [{ start: end, end, text: `${before}${json.replaceAll('\n', eol)}${eol}` }]
}

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

/** Appends a member or element in the style of its siblings. */
function insertedChild(
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
  // The last item has a trailing comma, so the new one gets one, too.
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

/** Returns whether the children of a node are on separate lines, and their indentation. */
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

/** True if a new object spans several lines: always, except in a one-line file with content. */
const hasSeveralLines = (text: string) => /\n\s*\S/.test(text) || /^\s*\{\s*\}\s*$/.test(text)

/** Indentation unit: that of the first indented line. */
const indentUnit = (text: string): string => /\n([ \t]+)["[{]/.exec(text)?.[1] ?? '  '

/** A value as JSON text: on several lines with `indent`, else on one line. */
function jsonText(text: string, value: PlainValue, indent: string | undefined): string {
  if (indent === undefined) return JSON.stringify(value)
  const json = JSON.stringify(value, undefined, indentUnit(text))
  return json.replaceAll('\n', endOfLine(text) + indent)
}

/** Removes a member or element with its comma. */
function removedChild(source: JsonSource, node: Node, child: Node): Edit[] {
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
  // A line comment before the cut would otherwise comment out the rest of the line.
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

/** A JSON token or comment. */
interface JsonToken {
  readonly kind: 'comma' | 'line comment' | 'block comment' | 'other'
  readonly start: number
  readonly end: number
}

/** A text and its tokens in order, including comments. */
interface JsonSource {
  readonly text: string
  readonly tokens: readonly JsonToken[]
}

/** Parses a text. Throws FormatError. `isStrict`: no comments, no trailing commas. */
function parsedJson(text: string, isStrict: boolean): Node {
  const errors: ParseError[] = []
  const options = { allowTrailingComma: !isStrict, disallowComments: isStrict }
  const root = parseTree(text, errors, options)
  const [error] = errors
  if (root && !error) return root
  const message = isStrict ? 'it is not JSON' : 'it is not JSON with comments'
  throw new FormatError(message, [text, error?.offset ?? 0])
}

/** Token kinds of jsonc-parser, whose enum exists only in its types. Other kinds are `other`. */
const tokenKinds: Readonly<Record<number, JsonToken['kind'] | 'space' | 'end of file'>> = {
  5: 'comma',
  12: 'line comment',
  13: 'block comment',
  14: 'space',
  15: 'space',
  17: 'end of file',
}

/** Tokens of a valid text. */
function tokensOf(text: string): JsonToken[] {
  const scanner = createScanner(text, false)
  const tokens: JsonToken[] = []
  for (;;) {
    const kind = tokenKinds[scanner.scan()] ?? 'other'
    if (kind === 'end of file') return tokens
    if (kind === 'space') continue
    const start = scanner.getTokenOffset()
    tokens.push({ kind, start, end: start + scanner.getTokenLength() })
  }
}

const isComment = ({ kind }: JsonToken): boolean =>
  kind === 'line comment' || kind === 'block comment'

const endOf = ({ offset, length }: Node): number => offset + length

/** Members of an object, or elements of a list. */
const childrenOf = (node: Node): readonly Node[] => node.children ?? []

/** The value of a member or of an element. */
const valueNode = (child: Node): Node =>
  child.type === 'property' ? (child.children?.[1] ?? child) : child

/** Member or element at `key`. Throws FormatError for duplicate keys. */
function childAt(text: string, node: Node, key: string | number): Node | undefined {
  if (typeof key === 'number') return childrenOf(node)[key]
  const [first, second] = childrenOf(node).filter(({ children }) => children?.[0]?.value === key)
  if (second === undefined) return first
  throw new FormatError(`${JSON.stringify(key)} is there twice`, [text, second.offset])
}

/** The tokens between the brackets of an object or a list. */
const tokensIn = ({ tokens }: JsonSource, node: Node): readonly JsonToken[] =>
  tokens.filter(({ start, end }) => start > node.offset && end < endOf(node))
