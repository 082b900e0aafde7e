import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { FormatError } from './text-format.ts'

/** A part of a JSON text that is not a space. */
export interface JsonToken {
  readonly kind: 'comma' | 'line comment' | 'block comment' | 'other'
  readonly start: number
  readonly end: number
}

/** A text and its tokens, comments among them, in order. */
export interface JsonSource {
  readonly text: string
  readonly tokens: readonly JsonToken[]
}

/** Parses a text. Throws FormatError. `isStrict`: without comments and commas after the last value. */
export function parsedJson(text: string, isStrict: boolean): Node {
  const errors: ParseError[] = []
  const options = { allowTrailingComma: !isStrict, disallowComments: isStrict }
  const root = parseTree(text, errors, options)
  const [error] = errors
  if (root && !error) return root
  const message = isStrict ? 'it is not JSON' : 'it is not JSON with comments'
  throw new FormatError(message, [text, error?.offset ?? 0])
}

/** Kinds of tokens, by the numbers of the library, whose enum exists only in its types. */
const syntaxKind = {
  comma: 5,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  endOfFile: 17,
} as const

/** The tokens of a text that can be parsed. */
export function tokensOf(text: string): JsonToken[] {
  const scanner = createScanner(text, false)
  const tokens: JsonToken[] = []
  for (let kind: number = scanner.scan(); kind !== syntaxKind.endOfFile; kind = scanner.scan()) {
    if (kind === syntaxKind.space || kind === syntaxKind.lineBreak) continue
    const start = scanner.getTokenOffset()
    tokens.push({ kind: tokenKind(kind), start, end: start + scanner.getTokenLength() })
  }
  return tokens
}

function tokenKind(kind: number): JsonToken['kind'] {
  if (kind === syntaxKind.comma) return 'comma'
  if (kind === syntaxKind.lineComment) return 'line comment'
  return kind === syntaxKind.blockComment ? 'block comment' : 'other'
}

export const isComment = ({ kind }: JsonToken): boolean =>
  kind === 'line comment' || kind === 'block comment'

export const endOf = ({ offset, length }: Node): number => offset + length

/** The members of an object, or the elements of a list. */
export const childrenOf = (node: Node): readonly Node[] => node.children ?? []

/** The value of a member or of an element. */
export const valueNode = (child: Node): Node =>
  child.type === 'property' ? (child.children?.[1] ?? child) : child

/** The member or element of that key. Throws FormatError where several members have it. */
export function childAt(text: string, node: Node, key: string | number): Node | undefined {
  if (typeof key === 'number') return childrenOf(node)[key]
  const [first, second] = childrenOf(node).filter(({ children }) => children?.[0]?.value === key)
  if (second === undefined) return first
  throw new FormatError(`${JSON.stringify(key)} is there twice`, [text, second.offset])
}

/** The tokens between the brackets of an object or a list. */
export const tokensIn = ({ tokens }: JsonSource, node: Node): readonly JsonToken[] =>
  tokens.filter(({ start, end }) => start > node.offset && end < endOf(node))
