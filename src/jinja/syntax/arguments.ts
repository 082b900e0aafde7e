import type { ExpressionParser } from './parser-types.ts'
import type { TokenStream } from './stream.ts'
import type { Arguments, Expr, Keyword } from './tree.ts'

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
  const { stream, lists, keywords } = parser
  const { line } = stream.expect('lparen')
  const start = lists.begin()
  const keywordStart = keywords.begin()
  let spread: Expr | null = null
  let spreadKeywords: Expr | null = null
  for (let first = true; !stream.isType('rparen'); first = false) {
    if (!first) {
      stream.expect('comma')
      if (stream.isType('rparen')) break
    }
    if (stream.isType('mul')) {
      if (spread !== null || spreadKeywords !== null) refuse(stream, line)
      stream.next()
      spread = parser.parseExpression()
    } else if (stream.isType('pow')) {
      if (spreadKeywords !== null) refuse(stream, line)
      stream.next()
      spreadKeywords = parser.parseExpression()
    } else if (stream.isType('name') && stream.look().type === 'assign') {
      if (spreadKeywords !== null) refuse(stream, line)
      keywords.add(parseKeyword(parser))
    } else {
      const late = spread !== null || spreadKeywords !== null || keywords.has(keywordStart)
      if (late) refuse(stream, line)
      lists.add(parser.parseExpression())
    }
  }
  stream.expect('rparen')
  return {
    positional: lists.take(start),
    keywords: keywords.take(keywordStart),
    spread,
    spreadKeywords,
  }
}

function refuse(stream: TokenStream, line: number): never {
  stream.fail('invalid syntax for function call expression', line)
}

function parseKeyword(parser: ExpressionParser): Keyword {
  const { value: name } = parser.stream.takeName()
  parser.stream.expect('assign')
  return { name, value: parser.parseExpression() }
}
