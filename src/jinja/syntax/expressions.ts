import { TemplateError } from '../error.ts'
import { MAX_EXPRESSION_DEPTH } from '../limits.ts'
import type { ExpressionParser, TupleRules } from './steps.ts'
import { checkChain, ListBuilder, parsePostfixes } from './steps.ts'
import type { TokenStream } from './stream.ts'
import { quote } from './text.ts'
import { describe } from './token.ts'
import type {
  BinaryOperator,
  CompareOperator,
  Entry,
  Expr,
  Keyword,
  Operation,
  Step,
} from './tree.ts'
import { binaryOperators, compareOperators, constants, levels, operatorLevels } from './tree.ts'

const noRules: TupleRules = {}
const parenthesised: TupleRules = { parenthesised: true }

/**
 * Parses expressions, loosest operator first: inline if, `or`, `and`, `not`, comparisons, `+ -`,
 * `~`, `* / // %`, `**`, signs, then a value and its postfixes. Binary operators are parsed by
 * precedence climbing: most expressions have none, and need one check instead of nine calls.
 */
export class JinjaExpressionParser implements ExpressionParser {
  readonly stream: TokenStream
  readonly lists = new ListBuilder<Expr>()
  readonly keywords = new ListBuilder<Keyword>()
  readonly steps = new ListBuilder<Step>()
  private readonly entries = new ListBuilder<Entry>()
  private readonly operations = new ListBuilder<Operation<BinaryOperator>>()
  private readonly comparisons = new ListBuilder<Operation<CompareOperator>>()
  private depth = 0

  constructor(stream: TokenStream) {
    this.stream = stream
  }

  parseExpression(conditional = true): Expr {
    const { line } = this.stream.current
    this.enter()
    let expr = this.parseOperators(levels.or)
    if (conditional && this.stream.skipName('if')) expr = this.parseCondition(expr, line)
    this.depth--
    return expr
  }

  /**
   * Enters one level of nesting; the caller leaves it by `depth--`. An error ends the parser
   * anyway.
   */
  private enter(): void {
    if (this.depth >= MAX_EXPRESSION_DEPTH) {
      const message = `expressions may nest at most ${MAX_EXPRESSION_DEPTH} levels deep`
      throw new TemplateError('too_deep', message, this.stream.current.line)
    }
    this.depth++
  }

  /** An `if` without `else` may be followed by another one, which nests to the left. */
  private parseCondition(then: Expr, line: number): Expr {
    this.enter()
    const test = this.parseOperators(levels.or)
    const otherwise = this.stream.skipName('else') ? this.parseExpression() : null
    let expr: Expr = { kind: 'conditional', test, then, otherwise, line }
    if (this.stream.skipName('if')) expr = this.parseCondition(expr, this.stream.current.line)
    this.depth--
    return expr
  }

  /** A value and the operators after it that bind at least as tightly as `loosest`. */
  private parseOperators(loosest: number): Expr {
    const { line } = this.stream.current
    let expr =
      loosest <= levels.not && this.stream.skipName('not')
        ? this.parseNegation(line)
        : this.parseUnary(true)
    for (let level = this.level(); level >= loosest; level = this.level()) {
      expr = this.parseLevel(level, expr, line)
    }
    return expr
  }

  /** Precedence of the next operator, or 0 if there is none. */
  private level(): number {
    const { type, value } = this.stream.current
    if (type !== 'name') return operatorLevels[type] ?? 0
    if (value === 'or') return levels.or
    if (value === 'and') return levels.and
    return value === 'in' || (value === 'not' && this.isNotIn()) ? levels.compare : 0
  }

  private isNotIn(): boolean {
    const { type, value } = this.stream.look()
    return type === 'name' && value === 'in'
  }

  /** The operators of one precedence and their operands. */
  private parseLevel(level: number, first: Expr, line: number): Expr {
    switch (level) {
      case levels.or:
        return this.parseLogic('or', first, line)
      case levels.and:
        return this.parseLogic('and', first, line)
      case levels.compare:
        return this.parseCompare(first, line)
      case levels.concat:
        return this.parseConcat(first, line)
      default:
        return this.parseBinary(level, first, line)
    }
  }

  private parseLogic(kind: 'and' | 'or', first: Expr, line: number): Expr {
    const start = this.lists.begin()
    this.lists.add(first)
    while (this.stream.skipName(kind)) this.lists.add(this.parseOperators(levels[kind] + 1))
    const operands = this.lists.take(start)
    checkChain(operands.length - 1, line)
    return { kind, operands, line }
  }

  private parseNegation(line: number): Expr {
    this.enter()
    const operand = this.parseOperators(levels.not)
    this.depth--
    return { kind: 'not', operand, line }
  }

  private parseCompare(first: Expr, line: number): Expr {
    const start = this.comparisons.begin()
    while (this.level() === levels.compare) {
      const op = this.takeCompareOperator()
      this.comparisons.add({ op, operand: this.parseOperators(levels.sum) })
    }
    return { kind: 'compare', first, rest: this.comparisons.take(start), line }
  }

  private takeCompareOperator(): CompareOperator {
    const { type, value } = this.stream.next()
    const op = compareOperators[type]
    if (op !== undefined) return op
    if (value === 'in') return 'in'
    this.stream.next()
    return 'notin'
  }

  private parseConcat(first: Expr, line: number): Expr {
    const start = this.lists.begin()
    this.lists.add(first)
    while (this.stream.skipType('tilde')) this.lists.add(this.parseOperators(levels.product))
    return { kind: 'concat', operands: this.lists.take(start), line }
  }

  private parseBinary(level: number, first: Expr, line: number): Expr {
    const start = this.operations.begin()
    while (this.level() === level) {
      const op = binaryOperators[this.stream.next().type] ?? this.stream.fail('unexpected operator')
      this.operations.add({ op, operand: this.parseOperators(level + 1) })
    }
    const rest = this.operations.take(start)
    checkChain(rest.length, line)
    return { kind: 'binary', first, rest, line }
  }

  /**
   * A sign binds less tightly than attributes and calls, and more tightly than filters: `-x.y|abs`.
   */
  private parseUnary(withFilters: boolean): Expr {
    const { line } = this.stream.current
    const head = this.parseSigned(line) ?? this.parsePrimary()
    return parsePostfixes(this, head, withFilters, line)
  }

  private parseSigned(line: number): Expr | null {
    const kind = this.stream.isType('sub') ? 'neg' : this.stream.isType('add') ? 'pos' : null
    if (kind === null) return null
    this.stream.next()
    this.enter()
    const operand = this.parseUnary(false)
    this.depth--
    return { kind, operand, line }
  }

  /** A literal, a name or a bracketed expression. */
  parsePrimary(): Expr {
    const token = this.stream.current
    switch (token.type) {
      case 'name':
        this.stream.next()
        return nameOrConstant(token.value, token.line)
      case 'string':
        return this.parseStrings()
      case 'integer':
      case 'float':
        this.stream.next()
        return { kind: 'const', value: token.number, line: token.line }
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

  /** Adjacent string literals are concatenated, as in Python. */
  private parseStrings(): Expr {
    const { line, value } = this.stream.next()
    if (!this.stream.isType('string')) return { kind: 'const', value, line }
    const parts = [value]
    while (this.stream.isType('string')) parts.push(this.stream.next().value)
    return { kind: 'const', value: parts.join(''), line }
  }

  private parseParentheses(): Expr {
    this.stream.next()
    const inner = this.parseTuple(parenthesised)
    this.stream.expect('rparen')
    return inner
  }

  private parseList(): Expr {
    const { line } = this.stream.next()
    const start = this.lists.begin()
    while (!this.stream.isType('rbracket')) {
      if (this.lists.has(start)) this.stream.expect('comma')
      if (this.stream.isType('rbracket')) break
      this.lists.add(this.parseExpression())
    }
    this.stream.expect('rbracket')
    return { kind: 'list', items: this.lists.take(start), line }
  }

  private parseDict(): Expr {
    const { line } = this.stream.next()
    const start = this.entries.begin()
    while (!this.stream.isType('rbrace')) {
      if (this.entries.has(start)) this.stream.expect('comma')
      if (this.stream.isType('rbrace')) break
      const key = this.parseExpression()
      this.stream.expect('colon')
      this.entries.add({ key, value: this.parseExpression() })
    }
    this.stream.expect('rbrace')
    return { kind: 'dict', entries: this.entries.take(start), line }
  }

  /** One expression, or several separated by commas, which form a tuple. */
  parseTuple(rules = noRules): Expr {
    if (this.isTupleEnd()) return this.emptyTuple(rules)
    const first = this.parseTupleItem(rules)
    if (!this.stream.isType('comma')) return first
    let { line } = this.stream.current
    const start = this.lists.begin()
    this.lists.add(first)
    while (this.stream.isType('comma')) {
      line = this.stream.next().line
      if (this.isTupleEnd()) break
      this.lists.add(this.parseTupleItem(rules))
    }
    return { kind: 'tuple', items: this.lists.take(start), line }
  }

  private emptyTuple({ parenthesised }: TupleRules): Expr {
    const token = this.stream.current
    if (parenthesised === true) return { kind: 'tuple', items: [], line: token.line }
    return this.stream.fail(`Expected an expression, got ${quote(describe(token))}`)
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
