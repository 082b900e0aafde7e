import type { ListBuilder } from './list-builder.ts'
import type { TokenStream } from './stream.ts'
import type { Binding, Body, Branch, Expr, Keyword, Parameter, Step } from './tree.ts'

/*
 * The parsers as the functions use them that parse parts: an argument holds expressions, and an
 * expression arguments, but their files do not import each other.
 */

/** How `parseTuple` reads a list that may lack brackets. */
export type TupleRules = {
  /** Only names and literals, for the targets of assignments. */
  readonly simplified?: boolean
  /** Whether an inline `if` may follow; it may not where a tag's own `if` could. */
  readonly conditional?: boolean
  /** Inside parentheses even an empty tuple is one. */
  readonly parenthesised?: boolean
}

/** Parses expressions; it is made in expressions.ts. */
export interface ExpressionParser {
  readonly stream: TokenStream
  readonly lists: ListBuilder<Expr>
  readonly keywords: ListBuilder<Keyword>
  readonly steps: ListBuilder<Step>
  parseExpression(conditional?: boolean): Expr
  parsePrimary(): Expr
  parseTuple(rules?: TupleRules): Expr
}

/** Parses text, `{{ … }}` and tags into statements; it is made in statements.ts. */
export interface StatementParser {
  readonly stream: TokenStream
  readonly expressions: ExpressionParser
  readonly branches: ListBuilder<Branch>
  readonly parameters: ListBuilder<Parameter>
  readonly bindings: ListBuilder<Binding>
  /** The statements of a tag's body. The name that ended it stays current unless it is dropped. */
  parseBody(endNames: readonly string[], dropEnd?: boolean): Body
}
