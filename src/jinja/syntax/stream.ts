import { TemplateError } from '../error.ts'
import type { AnalysisBudget } from '../limits.ts'
import { STEPS_PER_TOKEN } from '../limits.ts'
import { Lexer } from './lexer.ts'
import { quote } from './text.ts'
import { describe, describeType, type Token, type TokenType } from './token.ts'

/** Placeholder for the token before the first one. */
const start: Token = { type: 'data', value: '', number: 0n, line: 1 }

/** The parser's view of the tokens: the current one, and one of lookahead. */
export class TokenStream {
  current: Token = { ...start }
  /** The lookahead token after `look`, otherwise the previous token. */
  private other: Token = { ...start }
  private looked = false
  private readonly lexer: Lexer
  private readonly budget: AnalysisBudget

  constructor(source: string, budget: AnalysisBudget) {
    this.budget = budget
    this.lexer = new Lexer(source)
    this.next()
  }

  /** All names so far. */
  get names(): ReadonlyMap<string, string> {
    return this.lexer.names
  }

  /** Moves to the next token. Returns the previous one, which the next move overwrites. */
  next(): Token {
    const left = this.current
    this.current = this.look()
    this.other = left
    this.looked = false
    return left
  }

  /** The token after the current one. */
  look(): Token {
    if (!this.looked) this.pull(this.other)
    this.looked = true
    return this.other
  }

  /** The end of the template has the line on which the last token began. */
  private pull(token: Token): void {
    this.budget.spend(STEPS_PER_TOKEN)
    if (this.current.type !== 'eof' && this.lexer.read(token)) return
    token.type = 'eof'
    token.line = this.current.line
  }

  isType(type: TokenType): boolean {
    return this.current.type === type
  }

  isName(name: string): boolean {
    return this.current.value === name && this.current.type === 'name'
  }

  isOneOf(names: readonly string[]): boolean {
    return this.current.type === 'name' && names.includes(this.current.value)
  }

  /** Skips the token if it has this type. */
  skipType(type: TokenType): boolean {
    if (this.current.type !== type) return false
    this.next()
    return true
  }

  /** Skips the token if it is this name. */
  skipName(name: string): boolean {
    if (this.current.value !== name || this.current.type !== 'name') return false
    this.next()
    return true
  }

  expect(type: TokenType): Token {
    if (this.current.type !== type) this.failExpected(describeType(type))
    return this.next()
  }

  expectName(name: string): void {
    if (!this.skipName(name)) this.failExpected(name)
  }

  /** Any name; returns it with its line. */
  takeName(): Token {
    if (this.current.type !== 'name') this.failExpected('name')
    return this.next()
  }

  fail(message: string, line = this.current.line): never {
    throw new TemplateError('syntax_error', message, line)
  }

  private failExpected(wanted: string): never {
    const expected = quote(wanted)
    if (this.current.type === 'eof') {
      this.fail(`unexpected end of template, expected ${expected}.`)
    }
    this.fail(`expected token ${expected}, got ${quote(describe(this.current))}`)
  }
}
