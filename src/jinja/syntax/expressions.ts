import { TemplateError } from '../error.ts'
import { MAX_EXPRESSION_DEPTH } from '../limits.ts'
import { binaryLevels, compareOperators, constants } from './operators.ts'
import { checkChain, makeChain, parseSteps, parseTestAndFilterSteps } from './steps.ts'
import type { TokenStream } from './stream.ts'
import { quote } from './text.ts'
import { describe } from './token.ts'
import type { BinaryOperator, CompareOperator, Entry, Expr, Step } from './tree.ts'

/** How `parseTuple` reads a list that may lack brackets. */
type TupleRules = {
  /** Only names and literals, for the targets of assignments. */
  readonly simplified?: boolean
  /** Whether an inline `if` may follow; it may not where a tag's own `if` could. */
  readonly conditional?: boolean
  /** Inside parentheses even an empty tuple is one. */
  readonly parenthesised?: boolean
}

/**
 * Parses expressions by recursive descent, loosest operator first: inline if, `or`, `and`, `not`,
 * comparisons, `+ -`, `~`, `* / // %`, `**`, signs, then a value and its postfixes.
 */
export class ExpressionParser {
  readonly stream: TokenStream
  readonly names = new Set<string>()
  private depth = 0

  constructor(stream: TokenStream) {
    this.stream = stream
  }

  // Bound once: expressions are parsed so often that making closures each time would show.
  private readonly parseConditional = (): Expr => this.parseIf()
  private readonly parseOr = (): Expr => this.parseLogic('or', this.parseAnd)
  private readonly parseAnd = (): Expr => this.parseLogic('and', this.parseNot)
  private readonly parseNot = (): Expr => this.parseNegation()
  private readonly parseConcat = (): Expr => this.parseConcatenation()
  private readonly parsePower = (): Expr => this.parseBinary(2, this.parseOperand)
  private readonly parseOperand = (): Expr => this.parseUnary(true)

  parseExpression(conditional = true): Expr {
    return this.nested(conditional ? this.parseConditional : this.parseOr)
  }

  private nested<T>(parse: () => T): T {
    if (this.depth >= MAX_EXPRESSION_DEPTH) {
      const message = `expressions may nest at most ${MAX_EXPRESSION_DEPTH} levels deep`
      throw new TemplateError('too_deep', message, this.stream.current.line)
    }
    this.depth++
    try {
      return parse()
    } finally {
      this.depth--
    }
  }

  /** An `if` without `else` may be followed by another; that nests to the left. */
  private parseIf(): Expr {
    const { line } = this.stream.current
    const then = this.parseOr()
    if (!this.stream.skipName('if')) return then
    return this.nested(() => this.parseCondition(then, line))
  }

  private parseCondition(then: Expr, line: number): Expr {
    const test = this.parseOr()
    const otherwise = this.stream.skipName('else') ? this.nested(this.parseConditional) : null
    const whole: Expr = { kind: 'conditional', test, then, otherwise, line }
    if (!this.stream.skipName('if')) return whole
    return this.nested(() => this.parseCondition(whole, this.stream.current.line))
  }

  private parseLogic(kind: 'and' | 'or', parse: () => Expr): Expr {
    const { line } = this.stream.current
    const first = parse()
    if (!this.stream.isName(kind)) return first
    const operands = [first]
    while (this.stream.skipName(kind)) operands.push(parse())
    checkChain(operands.length - 1, line)
    return { kind, operands, line }
  }

  private parseNegation(): Expr {
    const { line } = this.stream.current
    if (!this.stream.skipName('not')) return this.parseCompare()
    return { kind: 'not', operand: this.nested(this.parseNot), line }
  }

  private parseCompare(): Expr {
    const { line } = this.stream.current
    const first = this.parseSum()
    const rest: { op: CompareOperator; operand: Expr }[] = []
    for (let op = this.takeCompareOperator(); op !== null; op = this.takeCompareOperator()) {
      rest.push({ op, operand: this.parseSum() })
    }
    return rest.length === 0 ? first : { kind: 'compare', first, rest, line }
  }

  private takeCompareOperator(): CompareOperator | null {
    const { stream } = this
    const op = compareOperators[stream.current.type]
    if (op !== undefined) {
      stream.next()
      return op
    }
    if (stream.skipName('in')) return 'in'
    if (!stream.isName('not')) return null
    const after = stream.look()
    if (after.type !== 'name' || after.value !== 'in') return null
    stream.next()
    stream.next()
    return 'notin'
  }

  private parseSum(): Expr {
    return this.parseBinary(0, this.parseConcat)
  }

  private parseConcatenation(): Expr {
    const { line } = this.stream.current
    const first = this.parseProduct()
    if (!this.stream.isType('tilde')) return first
    const operands = [first]
    while (this.stream.skipType('tilde')) operands.push(this.parseProduct())
    return { kind: 'concat', operands, line }
  }

  private parseProduct(): Expr {
    return this.parseBinary(1, this.parsePower)
  }

  private parseBinary(level: number, parse: () => Expr): Expr {
    const { line } = this.stream.current
    const first = parse()
    if (this.binaryOperator(level) === undefined) return first
    const rest: { op: BinaryOperator; operand: Expr }[] = []
    for (let op = this.binaryOperator(level); op; op = this.binaryOperator(level)) {
      this.stream.next()
      rest.push({ op, operand: parse() })
    }
    checkChain(rest.length, line)
    return { kind: 'binary', first, rest, line }
  }

  private binaryOperator(level: number): BinaryOperator | undefined {
    return binaryLevels[level]?.[this.stream.current.type]
  }

  /** A sign binds looser than attributes and calls, tighter than filters: `-x.y|abs`. */
  private parseUnary(withFilters: boolean): Expr {
    const { line } = this.stream.current
    const head = this.parseSigned(line) ?? this.parsePrimary()
    const steps: Step[] = parseSteps(this)
    if (withFilters) steps.push(...parseTestAndFilterSteps(this))
    return makeChain(head, steps, line)
  }

  private parseSigned(line: number): Expr | null {
    const kind = this.stream.isType('sub') ? 'neg' : this.stream.isType('add') ? 'pos' : null
    if (kind === null) return null
    this.stream.next()
    return { kind, operand: this.nested(() => this.parseUnary(false)), line }
  }

  /** A literal, a name or something in brackets. */
  parsePrimary(): Expr {
    const token = this.stream.current
    switch (token.type) {
      case 'name':
        this.stream.next()
        this.names.add(token.value)
        return nameOrConstant(token.value, token.line)
      case 'string':
        return this.parseStrings()
      case 'integer':
      case 'float':
        this.stream.next()
        return { kind: 'const', value: token.value, line: token.line }
      case 'lparen':
        return this.parseParentheses()
      case 'lbracket':
        return this.parseList()
      case 'lbrace':
        return this.parseDict()
      default:
        return this.stream.fail(`unexpected ${quote(describe(token))}`)
    }
  }

  /** Adjacent string literals are one, as in Python. */
  private parseStrings(): Expr {
    const { line } = this.stream.current
    const parts: string[] = []
    for (let token = this.stream.current; token.type === 'string'; token = this.stream.current) {
      parts.push(token.value)
      this.stream.next()
    }
    return { kind: 'const', value: parts.join(''), line }
  }

  private parseParentheses(): Expr {
    this.stream.next()
    const inner = this.parseTuple({ parenthesised: true })
    this.stream.expect('rparen')
    return inner
  }

  private parseList(): Expr {
    const { line } = this.stream.next()
    const items: Expr[] = []
    while (!this.stream.isType('rbracket')) {
      if (items.length > 0) this.stream.expect('comma')
      if (this.stream.isType('rbracket')) break
      items.push(this.parseExpression())
    }
    this.stream.expect('rbracket')
    return { kind: 'list', items, line }
  }

  private parseDict(): Expr {
    const { line } = this.stream.next()
    const entries: Entry[] = []
    while (!this.stream.isType('rbrace')) {
      if (entries.length > 0) this.stream.expect('comma')
      if (this.stream.isType('rbrace')) break
      const key = this.parseExpression()
      this.stream.expect('colon')
      entries.push({ key, value: this.parseExpression() })
    }
    this.stream.expect('rbrace')
    return { kind: 'dict', entries, line }
  }

  /** One expression, or several separated by commas, which make a tuple. */
  parseTuple(rules: TupleRules = {}): Expr {
    let { line } = this.stream.current
    const items: Expr[] = []
    let isTuple = false
    for (;;) {
      if (items.length > 0) this.stream.expect('comma')
      if (this.isTupleEnd()) break
      items.push(this.parseTupleItem(rules))
      if (!this.stream.isType('comma')) break
      isTuple = true
      line = this.stream.current.line
    }
    const [only] = items
    if (!isTuple && only !== undefined) return only
    if (!isTuple && rules.parenthesised !== true) {
      const got = quote(describe(this.stream.current))
      this.stream.fail(`Expected an expression, got ${got}`)
    }
    return { kind: 'tuple', items, line }
  }

  private isTupleEnd(): boolean {
    const { type } = this.stream.current
    return type === 'variable_end' || type === 'block_end' || type === 'rparen'
  }

  private parseTupleItem(rules: TupleRules): Expr {
    if (rules.simplified === true) return this.parsePrimary()
    return this.parseExpression(rules.conditional ?? true)
  }
}

function nameOrConstant(name: string, line: number): Expr {
  const value = constants.get(name)
  return value === undefined ? { kind: 'name', name, line } : { kind: 'const', value, line }
}
