/**
 * What can go wrong with a template. The first six are found before rendering, the others while
 * rendering.
 *
 * - `syntax_error`: the lexer, the parser or the compiler refuses the template
 * - `undefined_tag`: `{% foo %}` where no such tag exists (extensions such as `do` are off)
 * - `unknown_filter`, `unknown_test`: a name missing from the catalogue
 * - `too_large`, `too_deep`: our own caps, see `limits.ts`
 * - `undefined_error`: something undefined was used for more than printing
 * - `security_error`: the sandbox refused an attribute
 * - `runtime_error`: any other failure that Python would raise (wrong types, division by zero…)
 * - `limit_exceeded`: the render budget ran out
 */
export type TemplateErrorType =
  | 'syntax_error'
  | 'undefined_tag'
  | 'unknown_filter'
  | 'unknown_test'
  | 'too_large'
  | 'too_deep'
  | 'undefined_error'
  | 'security_error'
  | 'runtime_error'
  | 'limit_exceeded'

/** Thrown for a template that cannot be parsed, compiled or rendered. `line` counts from 1. */
export class TemplateError extends Error {
  readonly type: TemplateErrorType
  readonly line: number | null

  constructor(type: TemplateErrorType, message: string, line: number | null) {
    super(message)
    this.name = 'TemplateError'
    this.type = type
    this.line = line
  }
}
