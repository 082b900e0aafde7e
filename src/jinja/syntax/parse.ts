import type { AnalysisBudget } from '../analysis-budget.ts'
import { TemplateError } from '../error.ts'
import { MAX_SOURCE_LENGTH } from '../limits.ts'
import { JinjaStatementParser } from './statements.ts'
import { TokenStream } from './stream.ts'
import type { Template } from './tree.ts'

export type ParseOptions = {
  /** Longest template accepted, in UTF-16 code units. */
  readonly maxLength?: number
}

/**
 * Parses a template as Jinja2 3.1's default environment does: no extensions, no line statements,
 * one trailing newline dropped. Throws a `TemplateError` at the first mistake, of type
 * `syntax_error`, `undefined_tag`, `too_large` or `too_deep`.
 */
export function parse(
  source: string,
  budget: AnalysisBudget,
  options: ParseOptions = {},
): Template {
  const maxLength = options.maxLength ?? MAX_SOURCE_LENGTH
  if (source.length > maxLength) {
    const message = `the template has ${source.length} characters; at most ${maxLength} are allowed`
    throw new TemplateError('too_large', message, null)
  }
  const stream = new TokenStream(source, budget)
  const body = new JinjaStatementParser(stream).parseStatements([])
  return { kind: 'template', body, names: stream.names }
}
