/** Tokens have Jinja2's type names, which its error messages contain. */

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
 * One token, overwritten by a later one. A long template has a million tokens, and allocating each
 * would take longer than the rest of lexing.
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

/** One-character operators, by character code. */
export const shortOperators: ReadonlyMap<number, TokenType> = new Map(
  Object.entries(operators)
    .filter(([text]) => text.length === 1)
    .map(([text, type]) => [codeOf(text), type]),
)

/** Two-character operators, by the code of the first character: all first characters differ. */
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

/** Name of a token type in error messages. */
export function describeType(type: string): string {
  return operatorText.get(type) ?? plainWords[type] ?? type
}

/** Name of a token in error messages; names are shown as written. */
export function describe(token: Token): string {
  return token.type === 'name' ? token.value : describeType(token.type)
}
