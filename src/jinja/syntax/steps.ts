import { TemplateError } from '../error.ts'
import { MAX_CHAIN_LENGTH } from '../limits.ts'
import type { TokenStream } from './stream.ts'
import type { TokenType } from './token.ts'
import type {
  Arguments,
  Binding,
  Body,
  Branch,
  Expr,
  FilterStep,
  Keyword,
  Name,
  Parameter,
  SliceStep,
  Step,
  Target,
} from './tree.ts'

/*
 * Interfaces of the two parsers. Arguments contain expressions and expressions contain arguments,
 * so their files use these interfaces and do not import each other.
 */

/** Rules of `parseTuple` for a list without brackets. */
export type TupleRules = {
  /** Only names and literals, for the targets of assignments. */
  readonly simplified?: boolean
  /** True if an inline `if` may follow; false where a tag has an `if` of its own. */
  readonly conditional?: boolean
  /** True inside parentheses, where an empty tuple is allowed. */
  readonly parenthesised?: boolean
}

/** Parses expressions; implemented in expressions.ts. */
export interface ExpressionParser {
  readonly stream: TokenStream
  readonly lists: ListBuilder<Expr>
  readonly keywords: ListBuilder<Keyword>
  readonly steps: ListBuilder<Step>
  parseExpression(conditional?: boolean): Expr
  parsePrimary(): Expr
  parseTuple(rules?: TupleRules): Expr
}

/** Parses text, `{{ … }}` and tags into statements; implemented in parse.ts. */
export interface StatementParser {
  readonly stream: TokenStream
  readonly expressions: ExpressionParser
  readonly branches: ListBuilder<Branch>
  readonly parameters: ListBuilder<Parameter>
  readonly bindings: ListBuilder<Binding>
  /**
   * The statements of a tag's body. The name that ended it stays the current token unless it is
   * dropped.
   */
  parseBody(endNames: readonly string[], dropEnd?: boolean): Body
}

const none: readonly never[] = []

/**
 * Lists under construction, as a stack. An array grown by `push` reserves room for sixteen more
 * items; arrays taken from here have the exact size, which saves memory in trees of short lists.
 */
export class ListBuilder<T> {
  private readonly items: T[] = []
  /** Number of items. The array may have stale items after them. */
  private height = 0

  /** Begins a list. Returns the start to pass to `take`. */
  begin(): number {
    return this.height
  }

  add(item: T): void {
    this.items[this.height++] = item
  }

  /** True if items were added since `start`. */
  has(start: number): boolean {
    return this.height > start
  }

  /** Ends a list, and all lists begun after it. */
  take(start: number): readonly T[] {
    if (this.height === start) return none
    const list = this.items.slice(start, this.height)
    this.height = start
    return list
  }
}

/** Throws if a chain has more operations than Python allows nested parentheses. */
export function checkChain(operations: number, line: number): void {
  if (operations <= MAX_CHAIN_LENGTH) return
  const message = `at most ${MAX_CHAIN_LENGTH} operations may follow each other in an expression`
  throw new TemplateError('too_deep', message, line)
}

/** Appends steps to a value. Parentheses make no difference: `(a.b).c` is `a.b.c`. */
function makeChain(head: Expr, steps: readonly Step[], line: number): Expr {
  if (steps.length === 0) return head
  checkChain(steps.length, line)
  if (head.kind !== 'chain') return { kind: 'chain', head, steps, line }
  return { kind: 'chain', head: head.head, steps: [...head.steps, ...steps], line: head.line }
}

/** Parses the postfixes of a value: attributes, subscripts and calls, then filters and tests. */
export function parsePostfixes(
  parser: ExpressionParser,
  head: Expr,
  withFilters: boolean,
  line: number,
): Expr {
  if (!isStep(parser.stream)) return head
  const start = parser.steps.begin()
  addSteps(parser)
  if (withFilters) addTestAndFilterSteps(parser)
  return makeChain(head, parser.steps.take(start), line)
}

function isStep(stream: TokenStream): boolean {
  const { type } = stream.current
  if (type === 'name') return stream.isName('is')
  return type === 'dot' || type === 'lbracket' || type === 'lparen' || type === 'pipe'
}

function addSteps(parser: ExpressionParser): void {
  const { steps } = parser
  for (;;) {
    const { type, line } = parser.stream.current
    if (type === 'dot') steps.add(parseAttribute(parser.stream))
    else if (type === 'lbracket') steps.add(parseSubscript(parser))
    else if (type === 'lparen') steps.add({ kind: 'call', args: parseArguments(parser), line })
    else return
  }
}

/** Filters and tests, and calls of their results. */
function addTestAndFilterSteps(parser: ExpressionParser): void {
  const { stream, steps } = parser
  for (;;) {
    const { type, line } = stream.current
    if (stream.skipType('pipe')) steps.add(parseFilter(parser))
    else if (stream.isName('is')) steps.add(parseTest(parser))
    else if (type === 'lparen') steps.add({ kind: 'call', args: parseArguments(parser), line })
    else return
  }
}

/** Filters in a row: `| f | g(x)`. */
export function parseFilters(parser: ExpressionParser): FilterStep[] {
  const filters: FilterStep[] = []
  while (parser.stream.skipType('pipe')) filters.push(parseFilter(parser))
  return filters
}

/** A filter's dotted name and arguments, without the pipe. */
export function parseFilter(parser: ExpressionParser): FilterStep {
  const { line } = parser.stream.current
  const name = parseDottedName(parser.stream)
  const args = parser.stream.isType('lparen') ? parseArguments(parser) : noArguments
  return { kind: 'filter', name, args, line }
}

function parseDottedName(stream: TokenStream): string {
  let { value: name } = stream.takeName()
  while (stream.skipType('dot')) name += `.${stream.takeName().value}`
  return name
}

function parseTest(parser: ExpressionParser): Step {
  const { stream } = parser
  const { line } = stream.next()
  const negated = stream.skipName('not')
  const name = parseDottedName(stream)
  return { kind: 'test', name, args: parseTestArguments(parser), negated, line }
}

const testArgumentStarts: ReadonlySet<string> = new Set<TokenType>([
  'name',
  'string',
  'integer',
  'float',
  'lbracket',
  'lbrace',
])

/** A test may take one argument without parentheses: `x is divisibleby 3`. */
function parseTestArguments(parser: ExpressionParser): Arguments {
  const { stream } = parser
  if (stream.isType('lparen')) return parseArguments(parser)
  if (!testArgumentStarts.has(stream.current.type)) return noArguments
  if (stream.isOneOf(['else', 'or', 'and'])) return noArguments
  if (stream.isName('is')) stream.fail('You cannot chain multiple tests with is')
  const { line } = stream.current
  const argument = parsePostfixes(parser, parser.parsePrimary(), false, line)
  return { positional: [argument], keywords: [], spread: null, spreadKeywords: null }
}

/** After a dot comes a name, or an integer that is then a subscript. */
function parseAttribute(stream: TokenStream): Step {
  const { line } = stream.next()
  const token = stream.current
  if (token.type === 'name') {
    stream.next()
    return { kind: 'attribute', name: token.value, line }
  }
  // Jinja2 reads the next token before it fails, so a lexing error there takes precedence.
  stream.next()
  if (token.type !== 'integer') stream.fail('expected name or number', token.line)
  return { kind: 'item', index: { kind: 'const', value: token.number, line: token.line }, line }
}

function parseSubscript(parser: ExpressionParser): Step {
  const { stream } = parser
  const { line } = stream.next()
  if (stream.skipType('rbracket')) return { kind: 'item', index: emptyTuple(line), line }
  const first = parseSubscribed(parser)
  if (stream.skipType('rbracket')) {
    return first.kind === 'slice' ? first : { kind: 'item', index: first, line }
  }
  const parts = [first]
  while (!stream.isType('rbracket')) {
    stream.expect('comma')
    parts.push(parseSubscribed(parser))
  }
  stream.next()
  const items = parts.map((part) => (part.kind === 'slice' ? failSlice(stream, part) : part))
  return { kind: 'item', index: { kind: 'tuple', items, line }, line }
}

function emptyTuple(line: number): Expr {
  return { kind: 'tuple', items: [], line }
}

/** `a[1:2, 3]`: Jinja2 parses it, but Python refuses the generated code. */
function failSlice(stream: TokenStream, slice: SliceStep): never {
  stream.fail('invalid syntax: a slice cannot be part of a tuple', slice.line)
}

/** An index, or a slice `start:stop:step` with optional parts. */
function parseSubscribed(parser: ExpressionParser): Expr | SliceStep {
  const { stream } = parser
  const { line } = stream.current
  const start = stream.isType('colon') ? null : parser.parseExpression()
  if (start !== null && !stream.isType('colon')) return start
  stream.next()
  const stop = parseBound(parser)
  const step = stream.skipType('colon') ? parseBound(parser) : null
  return { kind: 'slice', bounds: [start, stop, step], line }
}

function parseBound(parser: ExpressionParser): Expr | null {
  const { type } = parser.stream.current
  const absent = type === 'colon' || type === 'rbracket' || type === 'comma'
  return absent ? null : parser.parseExpression()
}

const noArguments: Arguments = {
  positional: [],
  keywords: [],
  spread: null,
  spreadKeywords: null,
}

/**
 * The arguments of a call, a filter or a test, from `(` to `)`. Positional arguments come first;
 * one `*list` and one `**dict` may follow, and keywords anywhere before the `**dict`.
 */
function parseArguments(parser: ExpressionParser): Arguments {
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

/** Parses the targets of assignments. */
export const targetParser = { parseName, parseList, parseListOrAttribute }

const reserved: ReadonlySet<string> = new Set(['true', 'True', 'false', 'False', 'none', 'None'])

/** A single name. */
function parseName({ stream }: ExpressionParser): Name {
  const { value: name, line } = stream.takeName()
  if (reserved.has(name)) stream.fail("can't assign to 'name'", line)
  return { kind: 'name', name, line }
}

/** A name, or a tuple of names, possibly nested. */
function parseList(parser: ExpressionParser): Target {
  const expr = parser.parseTuple({ simplified: true })
  return toTarget(expr) ?? parser.stream.fail(`can't assign to '${nodeName(expr)}'`, expr.line)
}

/** Like `parseList`, or an attribute of a namespace. */
function parseListOrAttribute(parser: ExpressionParser): Target {
  const { stream } = parser
  if (stream.look().type !== 'dot') return parseList(parser)
  const { value: name, line } = stream.takeName()
  stream.next()
  return { kind: 'attribute', name, attribute: stream.takeName().value, line }
}

function toTarget(expr: Expr): Target | null {
  if (expr.kind === 'name') return expr
  if (expr.kind !== 'tuple') return null
  const items = expr.items.map(toTarget)
  const valid = items.filter((item) => item !== null)
  return valid.length === items.length ? { kind: 'tuple', items: valid, line: expr.line } : null
}

const stepNames: Readonly<Record<Step['kind'], string>> = {
  attribute: 'getattr',
  item: 'getitem',
  slice: 'getitem',
  call: 'call',
  filter: 'filter',
  test: 'test',
}

/** Jinja2's name for a node: the class of the outermost one. */
function nodeName(expr: Expr): string {
  switch (expr.kind) {
    case 'conditional':
      return 'condexpr'
    case 'binary':
      return expr.rest.at(-1)?.op ?? expr.kind
    case 'chain': {
      const last = expr.steps.at(-1)
      if (last?.kind === 'test' && last.negated) return 'not'
      return last === undefined ? expr.kind : stepNames[last.kind]
    }
    default:
      return expr.kind
  }
}
