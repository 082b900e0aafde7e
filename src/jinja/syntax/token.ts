/** Tokens carry Jinja2's own type names because its error messages are built from them. */

const operators = {
  '//': 'floordiv',
  '**': 'pow',
  '==': 'eq',
  '!=': 'ne',
  '>=': 'gteq',
  '<=': 'lteq',
  '+': 'add',
  '-': 'sub',
  '/': 'div',
  '*': 'mul',
  '%': 'mod',
  '~': 'tilde',
  '[': 'lbracket',
  ']': 'rbracket',
  '(': 'lparen',
  ')': 'rparen',
  '{': 'lbrace',
  '}': 'rbrace',
  '>': 'gt',
  '<': 'lt',
  '=': 'assign',
  '.': 'dot',
  ':': 'colon',
  '|': 'pipe',
  ',': 'comma',
  ';': 'semicolon',
} as const

type Operator = (typeof operators)[keyof typeof operators]

type Bracket = 'block_begin' | 'block_end' | 'variable_begin' | 'variable_end' | 'eof'

export type TokenType = Operator | Bracket | 'name' | 'string' | 'data' | 'integer' | 'float'

/**
 * One token. It is written over by a later one: a long template has a million, and making an
 * object of each takes longer than all the rest of reading it.
 */
export type Token = {
  type: TokenType
  /** The text of a name, a string or template data. */
  value: string
  /** The value of an integer or a float. */
  number: bigint | number
  line: number
}

const codeOf = (text: string): number => text.charCodeAt(0)

/** The operators of one character, by its code. */
export const shortOperators: ReadonlyMap<number, TokenType> = new Map(
  Object.entries(operators)
    .filter(([text]) => text.length === 1)
    .map(([text, type]) => [codeOf(text), type]),
)

/** The operators of two characters, by the code of the first: no two begin with the same. */
export const longOperators: ReadonlyMap<number, { readonly second: number; type: TokenType }> =
  new Map(
    Object.entries(operators)
      .filter(([text]) => text.length === 2)
      .map(([text, type]) => [codeOf(text), { second: text.charCodeAt(1), type }]),
  )

const operatorText = new Map<string, string>(
  Object.entries(operators).map(([text, type]) => [type, text]),
)

const plainWords: Readonly<Record<string, string>> = {
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  data: 'template data / text',
  eof: 'end of template',
}

/** How an error message names a kind of token. */
export function describeType(type: string): string {
  return operatorText.get(type) ?? plainWords[type] ?? type
}

/** How an error message names a token; names are shown as written. */
export function describe(token: Token): string {
  return token.type === 'name' ? token.value : describeType(token.type)
}
