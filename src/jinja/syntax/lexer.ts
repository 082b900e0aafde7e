import { TemplateError } from '../error.ts'
import { readNumber, unescapeString } from './literals.ts'
import { isDigit, isIdentifier, isSpace, isWord, quote, skipSpace, trimEnd } from './text.ts'
import { longOperators, shortOperators, type Token, type TokenType } from './token.ts'

type Mode = 'text' | 'raw' | 'block' | 'variable'

const hash = 0x23
const percent = 0x25
const brace = 0x7b

const anyName = /[_\p{L}\p{N}\p{XID_Continue}]+/uy

/**
 * Splits a template into tokens on demand, as Jinja2 does: a parse error at the top of a template
 * is reported even if a lexing error follows.
 */
export class Lexer {
  /** Names met so far, so that all occurrences of a name share one string. */
  readonly names = new Map<string, string>()
  private readonly source: string
  private at = 0
  private line = 1
  /** End of the current line. */
  private newline: number
  private mode: Mode = 'text'
  /** Closing brackets that the current tag still needs; until then `}}` does not end the tag. */
  private readonly open: string[] = []

  constructor(source: string) {
    // Only these three sequences are line breaks; one at the end of the template is dropped.
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
    this.source = text.endsWith('\n') ? text.slice(0, -1) : text
    this.newline = this.findNewline(0)
  }

  /** Reads the next token into `token`; false at the end of the template. */
  read(token: Token): boolean {
    while (this.at < this.source.length) {
      if (this.step(token)) return true
    }
    return false
  }

  /** Moves on. Returns false if it skipped only text without a token. */
  private step(token: Token): boolean {
    if (this.mode === 'text') return this.readText(token)
    if (this.mode === 'raw') return this.readRaw(token)
    return this.readTagToken(token, this.mode)
  }

  /** Moves to `end` and counts lines. Each newline is searched for once, even on a long line. */
  private advance(end: number): void {
    while (this.newline < end) {
      this.line++
      this.newline = this.findNewline(this.newline + 1)
    }
    this.at = end
  }

  private findNewline(from: number): number {
    const at = this.source.indexOf('\n', from)
    return at < 0 ? this.source.length + 1 : at
  }

  private fail(message: string): never {
    throw new TemplateError('syntax_error', message, this.line)
  }

  private readText(token: Token): boolean {
    const start = this.findTag()
    if (start < 0) return this.takeData(token, this.source.length, '')
    const sign = this.signAt(start + 2)
    if (start > this.at && this.takeData(token, start, sign)) return true
    const kind = this.source.charCodeAt(start + 1)
    const inside = start + 2 + sign.length
    if (kind === hash) this.skipComment(inside)
    else if (kind === brace) return this.openTag(token, 'variable', inside)
    else if (!this.openRaw(start)) return this.openTag(token, 'block', inside)
    return false
  }

  private findTag(): number {
    let at = this.source.indexOf('{', this.at)
    while (at >= 0) {
      const kind = this.source.charCodeAt(at + 1)
      if (kind === brace || kind === percent || kind === hash) return at
      at = this.source.indexOf('{', at + 1)
    }
    return -1
  }

  private signAt(at: number): string {
    const char = this.source[at]
    return char === '-' || char === '+' ? char : ''
  }

  /** The text up to a tag, if there is any. A `-` on the tag strips the whitespace before it. */
  private takeData(token: Token, end: number, sign: string): boolean {
    const text = this.source.slice(this.at, end)
    token.type = 'data'
    token.value = sign === '-' ? trimEnd(text) : text
    token.line = this.line
    this.advance(end)
    return token.value !== ''
  }

  private openTag(token: Token, mode: 'block' | 'variable', end: number): boolean {
    token.type = mode === 'block' ? 'block_begin' : 'variable_begin'
    token.line = this.line
    this.at = end
    this.mode = mode
    return true
  }

  /**
   * `#}` ends a comment; `-#}` also strips the whitespace after it. A `{#` at the very end is
   * dropped.
   */
  private skipComment(from: number): void {
    this.at = from
    if (from >= this.source.length) return
    const end = this.source.indexOf('#}', from)
    if (end < 0) this.fail('Missing end of comment tag')
    const strips = end > from && this.source[end - 1] === '-'
    this.advance(strips ? skipSpace(this.source, end + 2) : end + 2)
  }

  /** End of the tag at `start` if it contains only `word`; otherwise -1. */
  private wordTagEnd(start: number, word: string, plus: boolean): number {
    const from = skipSpace(this.source, start + 2 + this.signAt(start + 2).length)
    if (!this.source.startsWith(word, from)) return -1
    const end = skipSpace(this.source, from + word.length)
    if (this.source.startsWith('-%}', end)) return skipSpace(this.source, end + 3)
    if (plus && this.source.startsWith('+%}', end)) return end + 3
    return this.source.startsWith('%}', end) ? end + 2 : -1
  }

  private openRaw(start: number): boolean {
    const end = this.wordTagEnd(start, 'raw', false)
    if (end < 0) return false
    this.advance(end)
    this.mode = 'raw'
    return true
  }

  private readRaw(token: Token): boolean {
    let tag = this.source.indexOf('{%', this.at)
    while (tag >= 0) {
      const end = this.wordTagEnd(tag, 'endraw', true)
      if (end >= 0) {
        const hasData = this.takeData(token, tag, this.signAt(tag + 2))
        this.advance(end)
        this.mode = 'text'
        return hasData
      }
      tag = this.source.indexOf('{%', tag + 2)
    }
    this.fail('Missing end of raw directive')
  }

  private readTagToken(token: Token, mode: 'block' | 'variable'): boolean {
    const code = this.source.charCodeAt(this.at)
    token.line = this.line
    if (this.open.length === 0 && this.closeTag(token, mode, code)) return true
    if (isSpace(code)) {
      this.advance(skipSpace(this.source, this.at + 1))
      return false
    }
    if (isDigit(code)) this.at = readNumber(this.source, this.at, token)
    else if (isWord(code) || code > 127) this.readName(token)
    else if (!this.readString(token, code)) this.readOperator(token, code)
    return true
  }

  private closeTag(token: Token, mode: 'block' | 'variable', code: number): boolean {
    // Only `}`, `%`, `-` and `+` can begin the end of a tag; brackets, names and spaces cannot.
    if (code !== 0x7d && code !== percent && code !== 0x2d && code !== 0x2b) return false
    const end = mode === 'block' ? this.tagEnd('%}', true) : this.tagEnd('}}', false)
    if (end < 0) return false
    token.type = mode === 'block' ? 'block_end' : 'variable_end'
    this.advance(end)
    this.mode = 'text'
    return true
  }

  private tagEnd(mark: string, plus: boolean): number {
    const { source, at } = this
    if (source.startsWith(mark, at)) return at + 2
    if (!source.startsWith(mark, at + 1)) return -1
    if (source[at] === '-') return skipSpace(source, at + 3)
    return plus && source[at] === '+' ? at + 3 : -1
  }

  private readName(token: Token): void {
    const { source, at } = this
    let end = at + 1
    while (isWord(source.charCodeAt(end))) end++
    const isAscii = !(source.charCodeAt(at) > 127 || source.charCodeAt(end) > 127)
    token.type = 'name'
    token.value = this.nameOnce(isAscii ? source.slice(at, end) : this.matchName())
    this.at += token.value.length
  }

  /** A name with non-ASCII letters. */
  private matchName(): string {
    anyName.lastIndex = this.at
    const name = anyName.exec(this.source)?.[0]
    if (name === undefined) this.failUnexpected()
    if (!isIdentifier(name)) this.fail('Invalid character in identifier')
    return name
  }

  private nameOnce(name: string): string {
    const known = this.names.get(name)
    if (known !== undefined) return known
    this.names.set(name, name)
    return name
  }

  /** Reads a string if a terminated one begins here. */
  private readString(token: Token, mark: number): boolean {
    if (mark !== 0x22 && mark !== 0x27) return false
    const { source } = this
    let end = this.at + 1
    for (let code = source.charCodeAt(end); code !== mark; code = source.charCodeAt(end)) {
      if (end >= source.length) return false
      end += code === 0x5c ? 2 : 1
    }
    token.type = 'string'
    token.value = unescapeString(source.slice(this.at + 1, end), token.line)
    this.advance(end + 1)
    return true
  }

  private readOperator(token: Token, code: number): void {
    const long = longOperators.get(code)
    if (long !== undefined && this.source.charCodeAt(this.at + 1) === long.second) {
      token.type = long.type
      this.at += 2
      return
    }
    const type = shortOperators.get(code)
    if (type === undefined) this.failUnexpected()
    this.balance(type)
    token.type = type
    this.at++
  }

  private balance(type: TokenType): void {
    if (type === 'lparen') this.open.push(')')
    else if (type === 'lbracket') this.open.push(']')
    else if (type === 'lbrace') this.open.push('}')
    else if (type === 'rparen') this.close(')')
    else if (type === 'rbracket') this.close(']')
    else if (type === 'rbrace') this.close('}')
  }

  private close(text: string): void {
    const expected = this.open.pop()
    if (expected === undefined) this.fail(`unexpected '${text}'`)
    if (expected !== text) this.fail(`unexpected '${text}', expected '${expected}'`)
  }

  /** Python counts characters, JavaScript UTF-16 units. */
  private failUnexpected(): never {
    const char = String.fromCodePoint(this.source.codePointAt(this.at) ?? 0)
    const position = [...this.source.slice(0, this.at)].length
    this.fail(`unexpected char ${quote(char)} at ${position}`)
  }
}
