import { TemplateError } from '../error.ts'
import {
  type AnalysisBudget,
  MAX_BLOCK_DEPTH,
  MAX_LOOP_DEPTH,
  MAX_SOURCE_LENGTH,
} from '../limits.ts'
import { JinjaExpressionParser } from './expressions.ts'
import {
  type ExpressionParser,
  ListBuilder,
  parseFilter,
  parseFilters,
  type StatementParser,
  targetParser,
} from './steps.ts'
import { TokenStream } from './stream.ts'
import { parseBlock, parseExtends, parseFrom, parseImport, parseInclude } from './templates.ts'
import { quote } from './text.ts'
import type {
  Binding,
  Body,
  Branch,
  CallBlock,
  Data,
  Expr,
  Parameter,
  Statement,
  Template,
} from './tree.ts'

export type ParseOptions = {
  /** Maximum length of a template, UTF-16 code units. */
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

type TagParser = (parser: StatementParser, line: number) => Statement

/** Jinja2's own tags, without those of extensions. Each parser starts after the tag's name. */
const tags: ReadonlyMap<string, TagParser> = new Map<string, TagParser>([
  ['for', parseFor],
  ['if', parseIf],
  ['set', parseSet],
  ['with', parseWith],
  ['macro', parseMacro],
  ['call', parseCallBlock],
  ['filter', parseFilterBlock],
  ['print', parsePrint],
  ['autoescape', parseAutoescape],
  ['block', parseBlock],
  ['extends', parseExtends],
  ['include', parseInclude],
  ['import', parseImport],
  ['from', parseFrom],
])

/** Parses text, `{{ … }}` and tags into statements. */
class JinjaStatementParser implements StatementParser {
  readonly stream: TokenStream
  readonly expressions: ExpressionParser
  readonly branches = new ListBuilder<Branch>()
  readonly parameters = new ListBuilder<Parameter>()
  readonly bindings = new ListBuilder<Binding>()
  private readonly statements = new ListBuilder<Statement>()
  private readonly output = new ListBuilder<Data | Expr>()
  /**
   * Names of the open tags, innermost last, and for each list of statements the names that may end
   * it.
   */
  private readonly openTags: string[] = []
  private readonly endings: (readonly string[])[] = []
  /** Number of open loops in the Python function that Jinja2 would generate for this part. */
  private loops = 0

  constructor(stream: TokenStream) {
    this.stream = stream
    this.expressions = new JinjaExpressionParser(stream)
  }

  /**
   * The statements of a tag's body. The name that ended it stays the current token unless it is
   * dropped.
   */
  parseBody(endNames: readonly string[], dropEnd = true): Body {
    // Jinja2 accepts a colon here, as Python does.
    this.stream.skipType('colon')
    this.stream.expect('block_end')
    if (this.endings.length >= MAX_BLOCK_DEPTH) {
      const message = `blocks may nest at most ${MAX_BLOCK_DEPTH} levels deep`
      throw new TemplateError('too_deep', message, this.stream.current.line)
    }
    this.endings.push(endNames)
    const body = this.parseStatements(endNames)
    if (this.stream.isType('eof')) unexpectedEnd(this.stream, this.endings, this.openTags)
    this.endings.pop()
    if (dropEnd) this.stream.next()
    return body
  }

  /** Statements up to an end name or the end of the template. */
  parseStatements(endNames: readonly string[]): Body {
    const start = this.statements.begin()
    const outputStart = this.output.begin()
    while (!this.stream.isType('eof')) {
      const token = this.stream.next()
      if (token.type === 'data') {
        this.output.add({ kind: 'data', text: token.value, line: token.line })
      } else if (token.type === 'variable_begin') {
        this.output.add(this.expressions.parseTuple())
        this.stream.expect('variable_end')
      } else {
        this.endOutput(outputStart)
        if (this.stream.isOneOf(endNames)) return this.statements.take(start)
        this.statements.add(this.parseTag())
        this.stream.expect('block_end')
      }
    }
    this.endOutput(outputStart)
    return this.statements.take(start)
  }

  /** Merges consecutive text and prints into one statement. */
  private endOutput(start: number): void {
    if (!this.output.has(start)) return
    const nodes = this.output.take(start)
    this.statements.add({ kind: 'output', nodes, line: nodes[0]?.line ?? 1 })
  }

  /** Counts nested loops, from zero in a tag that starts a Python function. */
  private enter(tag: string, line: number): void {
    this.openTags.push(tag)
    if (functionTags.has(tag)) this.loops = 0
    else if (tag === 'for') this.loops++
    if (this.loops <= MAX_LOOP_DEPTH) return
    const message = `loops may nest at most ${MAX_LOOP_DEPTH} levels deep`
    throw new TemplateError('too_deep', message, line)
  }

  private parseTag(): Statement {
    const { type, value: tag, line } = this.stream.current
    if (type !== 'name') this.stream.fail('tag name expected')
    const parse = tags.get(tag) ?? unknownTag(tag, line, this.endings, this.openTags)
    const loopsAround = this.loops
    this.enter(tag, line)
    this.stream.next()
    const statement = parse(this, line)
    this.openTags.pop()
    this.loops = loopsAround
    return statement
  }
}

const none: Body = []

const functionTags: ReadonlySet<string> = new Set(['block', 'macro', 'call'])

function parseFor(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const target = targetParser.parseList(expressions)
  stream.expectName('in')
  const iterable = expressions.parseTuple({ conditional: false })
  const test = stream.skipName('if') ? expressions.parseExpression() : null
  const recursive = stream.skipName('recursive')
  const body = parser.parseBody(['endfor', 'else'], false)
  const hasElse = stream.skipName('else')
  if (!hasElse) stream.next()
  const otherwise = hasElse ? parser.parseBody(['endfor']) : none
  return { kind: 'for', target, iterable, test, recursive, body, otherwise, line }
}

function parseIf(parser: StatementParser, line: number): Statement {
  const { stream, branches } = parser
  const first = parseBranch(parser, line)
  const start = branches.begin()
  while (stream.skipName('elif')) branches.add(parseBranch(parser, stream.current.line))
  const elifs = branches.take(start)
  const hasElse = stream.skipName('else')
  if (!hasElse) stream.next()
  const otherwise = hasElse ? parser.parseBody(['endif']) : none
  return { kind: 'if', first, elifs, otherwise, line }
}

function parseBranch(parser: StatementParser, line: number): Branch {
  const test = parser.expressions.parseTuple({ conditional: false })
  return { test, body: parser.parseBody(['elif', 'else', 'endif'], false), line }
}

function parseSet(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const target = targetParser.parseListOrAttribute(expressions)
  if (stream.skipType('assign')) {
    return { kind: 'set', target, value: expressions.parseTuple(), line }
  }
  const filters = parseFilters(expressions)
  return { kind: 'set_block', target, filters, body: parser.parseBody(['endset']), line }
}

function parseWith(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const start = parser.bindings.begin()
  while (!stream.isType('block_end')) {
    if (parser.bindings.has(start)) stream.expect('comma')
    const target = targetParser.parseList(expressions)
    stream.expect('assign')
    parser.bindings.add({ target, value: expressions.parseExpression() })
  }
  const bindings = parser.bindings.take(start)
  return { kind: 'with', bindings, body: parser.parseBody(['endwith']), line }
}

function parseMacro(parser: StatementParser, line: number): Statement {
  const { name } = targetParser.parseName(parser.expressions)
  const parameters = parseParameters(parser)
  return { kind: 'macro', name, parameters, body: parser.parseBody(['endmacro']), line }
}

function parseCallBlock(parser: StatementParser, line: number): CallBlock {
  const { stream, expressions } = parser
  const parameters = stream.isType('lparen') ? parseParameters(parser) : []
  const { callee, call } = splitCall(stream, expressions.parseExpression(), line)
  const body = parser.parseBody(['endcall'])
  return { kind: 'call_block', callee, call, parameters, body, line }
}

function splitCall(stream: TokenStream, expr: Expr, line: number) {
  const call = expr.kind === 'chain' ? expr.steps.at(-1) : undefined
  if (expr.kind !== 'chain' || call?.kind !== 'call') stream.fail('expected call', line)
  const steps = expr.steps.slice(0, -1)
  const callee: Expr = steps.length === 0 ? expr.head : { ...expr, steps }
  return { callee, call }
}

/** `(a, b=1)`; a parameter without a default may not follow one with. */
function parseParameters(parser: StatementParser): readonly Parameter[] {
  const { stream, expressions } = parser
  const start = parser.parameters.begin()
  let hasFallbacks = false
  stream.expect('lparen')
  while (!stream.isType('rparen')) {
    if (parser.parameters.has(start)) stream.expect('comma')
    const { name, line } = targetParser.parseName(expressions)
    const fallback = stream.skipType('assign') ? expressions.parseExpression() : null
    if (fallback === null && hasFallbacks) {
      stream.fail('non-default argument follows default argument')
    }
    hasFallbacks = hasFallbacks || fallback !== null
    parser.parameters.add({ name, fallback, line })
  }
  stream.expect('rparen')
  return parser.parameters.take(start)
}

function parseFilterBlock(parser: StatementParser, line: number): Statement {
  const { expressions } = parser
  const filters = [parseFilter(expressions), ...parseFilters(expressions)]
  return { kind: 'filter_block', filters, body: parser.parseBody(['endfilter']), line }
}

function parsePrint(parser: StatementParser, line: number): Statement {
  const { stream, expressions } = parser
  const start = expressions.lists.begin()
  while (!stream.isType('block_end')) {
    if (expressions.lists.has(start)) stream.expect('comma')
    expressions.lists.add(expressions.parseExpression())
  }
  return { kind: 'output', nodes: expressions.lists.take(start), line }
}

function parseAutoescape(parser: StatementParser, line: number): Statement {
  const value = parser.expressions.parseExpression()
  return { kind: 'autoescape', value, body: parser.parseBody(['endautoescape']), line }
}

type Endings = readonly (readonly string[])[]

/** Names that are valid only inside a block; elsewhere the error is 'misplaced', not 'unknown'. */
const blockParts: ReadonlySet<string> = new Set([
  ...['elif', 'else', 'endif', 'endfor', 'endset', 'endwith', 'endmacro', 'endcall'],
  ...['endfilter', 'endautoescape', 'endblock', 'endraw'],
])

/** Throws Jinja2's error for a tag that does not exist or is misplaced. */
function unknownTag(
  name: string,
  line: number,
  endings: Endings,
  openTags: readonly string[],
): never {
  const message = explain(`Encountered unknown tag ${quote(name)}.`, name, endings, openTags)
  const type = blockParts.has(name) ? 'syntax_error' : 'undefined_tag'
  throw new TemplateError(type, message, line)
}

/** Throws Jinja2's error for a template that ends inside a block. */
function unexpectedEnd(stream: TokenStream, endings: Endings, openTags: readonly string[]): never {
  stream.fail(explain('Unexpected end of template.', null, endings, openTags))
}

function explain(
  what: string,
  name: string | null,
  endings: Endings,
  openTags: readonly string[],
): string {
  const parts = [what]
  const wanted = endings.at(-1)?.map(quote).join(' or ')
  if (wanted !== undefined) {
    const isOuterEnd = name !== null && endings.some((names) => names.includes(name))
    parts.push(
      isOuterEnd
        ? 'You probably made a nesting mistake. Jinja is expecting this tag, ' +
            `but currently looking for ${wanted}.`
        : `Jinja was looking for the following tags: ${wanted}.`,
    )
  }
  const innermost = openTags.at(-1)
  if (innermost !== undefined) {
    parts.push(`The innermost block that needs to be closed is ${quote(innermost)}.`)
  }
  return parts.join(' ')
}
