import { TemplateError } from '../error.ts'
import { Lexer } from './lexer.ts'
import { quote } from './text.ts'
import { describe, describeType, type Token, type TokenType } from './token.ts'

/** The parser's view of the tokens: the current one, and one more when it must look ahead. */
export class TokenStream {
  current: Token
  private readonly lexer: Lexer
  private pushed: Token | null = null

  constructor(source: string) {
    this.lexer = new Lexer(source)
    this.current = this.lexer.next() ?? { type: 'eof', value: '', line: 1 }
  }

  /** Moves on by one token and returns the one left behind. */
  next(): Token {
    const left = this.current
    this.current = this.pushed ?? this.pull()
    this.pushed = null
    return left
  }

  /** The end of the template stands on the line where the last token began. */
  private pull(): Token {
    if (this.current.type === 'eof') return this.current
    return this.lexer.next() ?? { type: 'eof', value: '', line: this.current.line }
  }

  /** The token after the current one. */
  look(): Token {
    this.pushed ??= this.pull()
    return this.pushed
  }

  isType(type: TokenType): boolean {
    return this.current.type === type
  }

  isName(...names: readonly string[]): boolean {
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
  takeName(): { readonly value: string; readonly line: number } {
    const token = this.current
    if (token.type !== 'name') this.failExpected('name')
    this.next()
    return token
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
