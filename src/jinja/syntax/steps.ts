import { TemplateError } from '../error.ts'
import { MAX_CHAIN_LENGTH } from '../limits.ts'
import { noArguments, parseArguments } from './arguments.ts'
import type { ExpressionParser } from './parser-types.ts'
import type { TokenStream } from './stream.ts'
import type { TokenType } from './token.ts'
import type { Arguments, Expr, FilterStep, SliceStep, Step } from './tree.ts'

/** Refuses more operations in a row than Python takes parentheses within each other. */
export function checkChain(operations: number, line: number): void {
  if (operations <= MAX_CHAIN_LENGTH) return
  const message = `at most ${MAX_CHAIN_LENGTH} operations may follow each other in an expression`
  throw new TemplateError('too_deep', message, line)
}

/** Puts steps behind a value; parentheses make no difference: `(a.b).c` is `a.b.c`. */
function makeChain(head: Expr, steps: readonly Step[], line: number): Expr {
  if (steps.length === 0) return head
  checkChain(steps.length, line)
  if (head.kind !== 'chain') return { kind: 'chain', head, steps, line }
  return { kind: 'chain', head: head.head, steps: [...head.steps, ...steps], line: head.line }
}

/** Reads what is done to a value: attributes, subscripts and calls, then filters and tests. */
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

/** `| f | g(x)`, as long as there are pipes. */
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
  // Jinja2 moves on before it complains, so a lexing error right behind is reported instead.
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

/** `a[1:2, 3]`: Jinja2 parses it, then writes Python that Python refuses. */
function failSlice(stream: TokenStream, slice: SliceStep): never {
  stream.fail('invalid syntax: a slice cannot be part of a tuple', slice.line)
}

/** An index, or a slice `start:stop:step` of which any part may be absent. */
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
