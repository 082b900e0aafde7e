import type { ExpressionParser } from './expressions.ts'
import type { Arguments, Expr } from './tree.ts'

type Keyword = { readonly name: string; readonly value: Expr }

export const noArguments: Arguments = {
  positional: [],
  keywords: [],
  spread: null,
  spreadKeywords: null,
}

/**
 * The arguments of a call, a filter or a test, from `(` to `)`. Positional ones come first; one
 * `*list` and one `**dict` may follow, keywords anywhere before the `**dict`.
 */
export function parseArguments(parser: ExpressionParser): Arguments {
  const { stream } = parser
  const { line } = stream.expect('lparen')
  const positional: Expr[] = []
  const keywords: Keyword[] = []
  let spread: Expr | null = null
  let spreadKeywords: Expr | null = null
  const ensure = (allowed: boolean): void => {
    if (!allowed) stream.fail('invalid syntax for function call expression', line)
  }

  for (let first = true; !stream.isType('rparen'); first = false) {
    if (!first) {
      stream.expect('comma')
      if (stream.isType('rparen')) break
    }
    if (stream.isType('mul')) {
      ensure(spread === null && spreadKeywords === null)
      stream.next()
      spread = parser.parseExpression()
    } else if (stream.isType('pow')) {
      ensure(spreadKeywords === null)
      stream.next()
      spreadKeywords = parser.parseExpression()
    } else if (stream.isType('name') && stream.look().type === 'assign') {
      ensure(spreadKeywords === null)
      keywords.push(parseKeyword(parser))
    } else {
      ensure(spread === null && spreadKeywords === null && keywords.length === 0)
      positional.push(parser.parseExpression())
    }
  }
  stream.expect('rparen')
  return { positional, keywords, spread, spreadKeywords }
}

function parseKeyword(parser: ExpressionParser): Keyword {
  const { value: name } = parser.stream.takeName()
  parser.stream.expect('assign')
  return { name, value: parser.parseExpression() }
}
