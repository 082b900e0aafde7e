import { MAX_VALUE_DEPTH } from '../limits.ts'
import { quote } from '../syntax/text.ts'
import { bitLength, floatRepr } from './numbers.ts'
import type { Runtime } from './runtime.ts'
import { Dict, List, Markup, Tuple, Undefined, type Value } from './values.ts'

/** CPython's limit on writing an integer in decimal. */
const MAX_DIGITS = 4300

/** `str(value)`: what a template prints. */
export function toText(runtime: Runtime, value: Value): string {
  if (typeof value === 'string') return value
  if (value instanceof Markup) return value.text
  if (!(value instanceof Undefined)) return repr(runtime, value)
  if (value.source !== null) runtime.noteGap(value.source, value.steps)
  return ''
}

/** `repr(value)`. */
export function repr(runtime: Runtime, value: Value): string {
  const out = new TextBuilder(runtime)
  new ReprWriter(runtime, out).write(value, 0)
  return out.text()
}

/**
 * An integer in decimal. Refused before the conversion if it is too long, because the time grows
 * faster than the length.
 */
export function integerText(runtime: Runtime, value: bigint): string {
  const bits = bitLength(value)
  runtime.allowBits(bits)
  const text = bits > 4 * MAX_DIGITS ? null : String(value)
  if (text === null || text.length > MAX_DIGITS) {
    const limit = `Exceeds the limit (${MAX_DIGITS} digits) for integer string conversion`
    return runtime.fail(`ValueError: ${limit}`)
  }
  return text
}

class ReprWriter {
  private readonly runtime: Runtime
  private readonly out: TextBuilder
  /** Containers being written; one that contains itself is shown as `[...]`. */
  private readonly open = new Set<Value>()

  constructor(runtime: Runtime, out: TextBuilder) {
    this.runtime = runtime
    this.out = out
  }

  private put(text: string): void {
    this.out.write(text)
  }

  write(value: Value, depth: number): void {
    this.runtime.spend()
    if (depth > MAX_VALUE_DEPTH) this.runtime.fail('maximum recursion depth exceeded')
    if (value instanceof List) this.sequence('[', value, value.items, ']', depth)
    else if (value instanceof Tuple) {
      this.sequence('(', value, value.items, value.items.length === 1 ? ',)' : ')', depth)
    } else if (value instanceof Dict) this.dict(value, depth)
    else this.put(this.simple(value))
  }

  private simple(value: Exclude<Value, List | Tuple | Dict>): string {
    if (value === null) return 'None'
    if (value === true) return 'True'
    if (value === false) return 'False'
    if (typeof value === 'bigint') return integerText(this.runtime, value)
    if (typeof value === 'number') return floatRepr(value)
    if (typeof value === 'string') return this.quoted(value)
    if (value instanceof Markup) return `Markup(${this.quoted(value.text)})`
    return value instanceof Undefined ? 'Undefined' : value.repr(this.runtime)
  }

  private quoted(text: string): string {
    this.runtime.read(text, 'walk')
    return quote(text)
  }

  private sequence(
    start: string,
    value: Value,
    items: readonly Value[],
    end: string,
    depth: number,
  ): void {
    if (this.open.has(value)) {
      this.put(`${start}...${start === '[' ? ']' : ')'}`)
      return
    }
    this.open.add(value)
    this.put(start)
    for (const [index, item] of items.entries()) {
      if (index > 0) this.put(', ')
      this.write(item, depth + 1)
    }
    this.put(end)
    this.open.delete(value)
  }

  private dict(value: Dict, depth: number): void {
    if (this.open.has(value)) {
      this.put('{...}')
      return
    }
    this.open.add(value)
    this.put('{')
    let separator = ''
    for (const [key, item] of value.entries.values()) {
      this.put(separator)
      this.write(key, depth + 1)
      this.put(': ')
      this.write(item, depth + 1)
      separator = ', '
    }
    this.put('}')
    this.open.delete(value)
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
}

export function escapeText(text: string): string {
  return text.replace(/[&<>'"]/g, (char) => entities[char] ?? char)
}

/** `markupsafe.escape(value)`: text made safe for HTML; markup stays as it is. */
export function escapeValue(runtime: Runtime, value: Value): Markup {
  if (value instanceof Markup) return value
  const text = toText(runtime, value)
  runtime.read(text, 'walk')
  const escaped = escapeText(text)
  runtime.allowLength(escaped.length)
  return new Markup(escaped)
}

/** A string of the same kind as `like`: markup or plain text. */
export function sameKind(like: Value, text: string): string | Markup {
  return like instanceof Markup ? new Markup(text) : text
}

/** Builds a text, and pays for each piece before it is stored. */
export class TextBuilder {
  private readonly runtime: Runtime
  private readonly parts: string[] = []
  private length = 0

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  write(text: string): void {
    this.length += text.length
    this.runtime.payForText(text.length, this.length)
    if (text !== '') this.parts.push(text)
  }

  text(): string {
    return this.parts.join('')
  }
}
