import { TemplateError } from '../error.ts'
import { readNumber } from './number-literal.ts'
import { unescapeString } from './string-literal.ts'
import { isDigit, isIdentifier, isSpace, quote, skipSpace, trimEnd } from './text.ts'
import { operators, type Token } from './token.ts'

type Mode = 'text' | 'raw' | 'block' | 'variable'

const asciiName = /[A-Za-z0-9_]+/y
const anyName = /[_\p{L}\p{N}\p{XID_Continue}]+/uy
const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const operatorTypes = new Map(Object.entries(operators))

/**
 * Cuts a template into tokens, one at a time. It is lazy because Jinja2's is: a parse error at the
 * top of a template is reported although a worse lexing error may follow further down.
 */
export class Lexer {
  private readonly source: string
  private at = 0
  private line = 1
  /** Where the current line ends. */
  private newline: number
  private mode: Mode = 'text'
  /** Tokens found together with one already handed out. */
  private ready: Token | null = null
  /** Brackets still open in the current tag; while there are any, `}}` does not end it. */
  private readonly open: string[] = []

  constructor(source: string) {
    // Only these three are line breaks, and one at the very end is dropped.
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
    this.source = text.endsWith('\n') ? text.slice(0, -1) : text
    this.newline = this.findNewline(0)
  }

  /** The next token, or null at the end of the template. */
  next(): Token | null {
    if (this.ready !== null) {
      const token = this.ready
      this.ready = null
      return token
    }
    while (this.at < this.source.length) {
      const token = this.step()
      if (token !== null) return token
    }
    return null
  }

  private step(): Token | null {
    if (this.mode === 'text') return this.readText()
    if (this.mode === 'raw') return this.readRaw()
    return this.readTagToken(this.mode)
  }

  /** Moves on to `end`, counting lines. Each newline is looked for once, also in one long line. */
  private advance(end: number): void {
    while (this.newline < end) {
      this.line++
      this.newline = this.findNewline(this.newline + 1)
    }
    this.at = end
  }

  private findNewline(from: number): number {
    const at = this.source.indexOf('\n', from)
    return at < 0 ? Number.POSITIVE_INFINITY : at
  }

  private fail(message: string): never {
    throw new TemplateError('syntax_error', message, this.line)
  }

  private readText(): Token | null {
    const start = this.findTag()
    if (start < 0) return this.takeData(this.source.length, '')
    const sign = this.signAt(start + 2)
    const data = this.takeData(start, sign)
    const kind = this.source[start + 1]
    if (kind === '#') this.skipComment(start + 2 + sign.length)
    else if (kind === '{') this.ready = this.openTag('variable', start + 2 + sign.length)
    else if (!this.openRaw(start)) this.ready = this.openTag('block', start + 2 + sign.length)
    return data ?? this.takeReady()
  }

  private takeReady(): Token | null {
    const token = this.ready
    this.ready = null
    return token
  }

  private findTag(): number {
    let brace = this.source.indexOf('{', this.at)
    while (brace >= 0) {
      const kind = this.source[brace + 1]
      if (kind === '{' || kind === '%' || kind === '#') return brace
      brace = this.source.indexOf('{', brace + 1)
    }
    return -1
  }

  private signAt(at: number): string {
    const char = this.source[at]
    return char === '-' || char === '+' ? char : ''
  }

  /** The text up to a tag; a `-` on that tag strips the whitespace before it. */
  private takeData(end: number, sign: string): Token | null {
    const text = this.source.slice(this.at, end)
    const value = sign === '-' ? trimEnd(text) : text
    const { line } = this
    this.advance(end)
    return value === '' ? null : { type: 'data', value, line }
  }

  private openTag(mode: 'block' | 'variable', end: number): Token {
    this.at = end
    this.mode = mode
    return { type: `${mode}_begin`, value: '', line: this.line }
  }

  /** `#}` ends a comment; `-#}` eats the whitespace after it. A `{#` at the very end is nothing. */
  private skipComment(from: number): void {
    this.at = from
    if (from >= this.source.length) return
    const end = this.source.indexOf('#}', from)
    if (end < 0) this.fail('Missing end of comment tag')
    const strips = end > from && this.source[end - 1] === '-'
    this.advance(strips ? skipSpace(this.source, end + 2) : end + 2)
  }

  /** Where `word` stands alone in the tag that starts at `start`, the end of that tag, or -1. */
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

  private readRaw(): Token | null {
    let tag = this.source.indexOf('{%', this.at)
    while (tag >= 0) {
      const end = this.wordTagEnd(tag, 'endraw', true)
      if (end >= 0) {
        const data = this.takeData(tag, this.signAt(tag + 2))
        this.advance(end)
        this.mode = 'text'
        return data
      }
      tag = this.source.indexOf('{%', tag + 2)
    }
    this.fail('Missing end of raw directive')
  }

  private readTagToken(mode: 'block' | 'variable'): Token | null {
    if (this.open.length === 0) {
      const end = this.tagEnd(mode === 'block' ? '%}' : '}}', mode === 'block')
      if (end >= 0) {
        const token: Token = { type: `${mode}_end`, value: '', line: this.line }
        this.advance(end)
        this.mode = 'text'
        return token
      }
    }
    const code = this.source.charCodeAt(this.at)
    if (isSpace(code)) {
      this.advance(skipSpace(this.source, this.at + 1))
      return null
    }
    if (isDigit(code)) {
      const [token, end] = readNumber(this.source, this.at, this.line)
      this.at = end
      return token
    }
    return this.readName() ?? this.readString() ?? this.readOperator()
  }

  private tagEnd(mark: string, plus: boolean): number {
    const { source, at } = this
    // Brackets, names and spaces are no end; only these four characters can begin one.
    if (!'}%-+'.includes(source.charAt(at))) return -1
    if (source.startsWith(mark, at)) return at + 2
    if (!source.startsWith(mark, at + 1)) return -1
    if (source[at] === '-') return skipSpace(source, at + 3)
    return plus && source[at] === '+' ? at + 3 : -1
  }

  private readName(): Token | null {
    const value = this.matchName()
    if (value === '') return null
    if (!isIdentifier(value)) this.fail('Invalid character in identifier')
    this.at += value.length
    return { type: 'name', value, line: this.line }
  }

  private matchName(): string {
    asciiName.lastIndex = this.at
    const ascii = asciiName.exec(this.source)?.[0] ?? ''
    if (!(this.source.charCodeAt(this.at + ascii.length) > 127)) return ascii
    anyName.lastIndex = this.at
    return anyName.exec(this.source)?.[0] ?? ''
  }

  private readString(): Token | null {
    const mark = this.source[this.at]
    if (mark !== '"' && mark !== "'") return null
    let end = this.at + 1
    while (end < this.source.length && this.source[end] !== mark) {
      end += this.source[end] === '\\' ? 2 : 1
    }
    if (end >= this.source.length) return null
    const { line } = this
    const value = unescapeString(this.source.slice(this.at + 1, end), line)
    this.advance(end + 1)
    return { type: 'string', value, line }
  }

  private readOperator(): Token {
    const { source, at, line } = this
    const two = source.slice(at, at + 2)
    const text = operatorTypes.has(two) ? two : source.slice(at, at + 1)
    const type = operatorTypes.get(text)
    if (type === undefined) this.failUnexpected()
    this.balance(text)
    this.at += text.length
    return { type, value: '', line }
  }

  private balance(text: string): void {
    const closer = closers[text]
    if (closer !== undefined) this.open.push(closer)
    if (text !== ')' && text !== ']' && text !== '}') return
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
