import type {
  ArrayNode,
  ElementNode,
  MemberNode,
  ObjectNode,
  Token,
  ValueNode,
} from '@humanwhocodes/momoa'
import { FormatError } from './text-format.ts'

/** A text and its tokens, comments among them, in order. */
export interface JsonSource {
  readonly text: string
  readonly tokens: readonly Token[]
}

export type JsonContainer = ObjectNode | ArrayNode
export type JsonChild = MemberNode | ElementNode

export const isContainer = (node: ValueNode): node is JsonContainer =>
  node.type === 'Object' || node.type === 'Array'

export const childrenOf = (node: JsonContainer): readonly JsonChild[] =>
  node.type === 'Object' ? node.members : node.elements

const nameOf = ({ name }: MemberNode): string => (name.type === 'String' ? name.value : name.name)

/** The member or element of that key. Throws FormatError where several members have it. */
export function childAt(
  { text }: JsonSource,
  node: JsonContainer,
  key: string | number,
): JsonChild | undefined {
  if (node.type === 'Array') return node.elements[Number(key)]
  const [first, second] = node.members.filter((member) => nameOf(member) === key)
  if (second === undefined) return first
  throw new FormatError(`${JSON.stringify(key)} is there twice`, [text, second.loc.start.offset])
}

export const isComment = ({ type }: Token): boolean =>
  type === 'LineComment' || type === 'BlockComment'

/** The tokens between the brackets of an object or a list. */
export function tokensIn({ tokens }: JsonSource, node: JsonContainer): readonly Token[] {
  const { start, end } = node.loc
  return tokens.filter(({ loc }) => loc.start.offset > start.offset && loc.end.offset < end.offset)
}
