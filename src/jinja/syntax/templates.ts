import { TemplateError } from '../error.ts'
import type { StatementParser } from './steps.ts'
import { targetParser } from './steps.ts'
import type { TokenStream } from './stream.ts'
import { isSpace } from './text.ts'
import type { Body, Expr, Statement } from './tree.ts'

/** Tags that relate templates to each other: blocks, inheritance, includes and imports. */

const contextWords: readonly string[] = ['with', 'without']

export function parseBlock(parser: StatementParser, line: number): Statement {
  const { stream } = parser
  const { value: name } = stream.takeName()
  const scoped = stream.skipName('scoped')
  const required = stream.skipName('required')
  if (stream.isType('sub')) {
    stream.fail(
      'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, ' +
        'use an underscore instead.',
    )
  }
  const body = parser.parseBody(['endblock'])
  if (required && !isBlank(body)) {
    stream.fail('Required blocks can only contain comments or whitespace')
  }
  stream.skipName(name)
  return { kind: 'block', name, scoped, required, body, line }
}

function isBlank(body: Body): boolean {
  return body.every((statement) => {
    // Jinja2 refuses any tag here; before 3.1.3 with an AttributeError instead of this error.
    if (statement.kind !== 'output') return false
    return statement.nodes.every(
      (node) => node.kind === 'data' && [...node.text].every(isBlankChar),
    )
  })
}

function isBlankChar(char: string): boolean {
  return isSpace(char.charCodeAt(0))
}

export function parseExtends(parser: StatementParser, line: number): Statement {
  return { kind: 'extends', template: parser.expressions.parseExpression(), line }
}

export function parseInclude(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const template = expressions.parseExpression()
  if (stream.isName('ignore') && isNameAhead(stream, 'missing')) {
    stream.next()
    stream.next()
  }
  if (stream.isOneOf(contextWords)) skipContext(stream)
  return { kind: 'include', template, line }
}

export function parseImport(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const template = expressions.parseExpression()
  stream.expectName('as')
  const { name } = targetParser.parseName(expressions)
  if (stream.isOneOf(contextWords)) skipContext(stream)
  return { kind: 'import', template, names: [name], line }
}

export function parseFrom(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const template: Expr = expressions.parseExpression()
  stream.expectName('import')
  const names: string[] = []
  for (let more = true; more; ) {
    if (names.length > 0) stream.expect('comma')
    if (stream.isOneOf(contextWords) && skipContext(stream)) break
    names.push(parseImportedName(parser))
    const ended = stream.isOneOf(contextWords) && skipContext(stream)
    more = !ended && stream.isType('comma')
  }
  return { kind: 'import', template, names, line }
}

function parseImportedName({ stream, expressions }: StatementParser): string {
  const { name, line } = targetParser.parseName(expressions)
  if (name.startsWith('_')) {
    const message = 'names starting with an underline can not be imported'
    throw new TemplateError('syntax_error', message, line)
  }
  return stream.skipName('as') ? targetParser.parseName(expressions).name : name
}

function isNameAhead(stream: TokenStream, name: string): boolean {
  const ahead = stream.look()
  return ahead.type === 'name' && ahead.value === name
}

/** Skips `with context` or `without context`, which make no difference without a loader. */
function skipContext(stream: TokenStream): boolean {
  if (!isNameAhead(stream, 'context')) return false
  stream.next()
  stream.next()
  return true
}
