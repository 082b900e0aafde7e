/** Tokens carry Jinja2's own type names because its error messages are built from them. */

export const operators = {
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

export type Token =
  | { readonly type: Operator | Bracket; readonly value: ''; readonly line: number }
  | { readonly type: 'name' | 'string' | 'data'; readonly value: string; readonly line: number }
  | { readonly type: 'integer'; readonly value: bigint; readonly line: number }
  | { readonly type: 'float'; readonly value: number; readonly line: number }

type Bracket = 'block_begin' | 'block_end' | 'variable_begin' | 'variable_end' | 'eof'

export type TokenType = Token['type']

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
