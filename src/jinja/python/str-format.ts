import { formatValue } from './format-spec.ts'
import { escapeValue } from './markup.ts'
import { repr, toText } from './repr.ts'
import { newContainer, type Runtime } from './runtime.ts'
import { TextBuilder } from './text-builder.ts'
import { type CallArguments, Markup, type Value } from './values.ts'

/** How a replacement field reads `{0.name}` and `{0[key]}`: by the sandbox's rules. */
type FieldAccess = {
  readonly attribute: (runtime: Runtime, value: Value, name: string) => Value
  readonly item: (runtime: Runtime, value: Value, key: Value) => Value
}

/** `format.format(*positional, **keywords)`. On markup, what is filled in is escaped. */
export function formatText(
  runtime: Runtime,
  format: string,
  args: CallArguments,
  access: FieldAccess,
  escapes: boolean,
): string {
  return new BraceFormatter(runtime, args, access, escapes).expand(format, 2)
}

class BraceFormatter {
  private readonly runtime: Runtime
  private readonly args: CallArguments
  private readonly access: FieldAccess
  private readonly escapes: boolean
  private nextIndex = 0

  constructor(runtime: Runtime, args: CallArguments, access: FieldAccess, escapes: boolean) {
    this.runtime = runtime
    this.args = args
    this.access = access
    this.escapes = escapes
  }

  /** A format specification may hold fields itself, which may not: two levels in all. */
  expand(format: string, levels: number): string {
    if (levels === 0) this.runtime.fail('ValueError: Max string recursion exceeded')
    const out = new TextBuilder(this.runtime)
    let at = 0
    while (at < format.length) {
      const [piece, end] = this.readPiece(format, at, levels)
      this.runtime.spend(newContainer)
      out.write(piece)
      at = end
    }
    return out.text()
  }

  private readPiece(format: string, at: number, levels: number): [string, number] {
    const char = format[at]
    if (char !== '{' && char !== '}') {
      const end = format.slice(at).search(/[{}]/)
      return end < 0 ? [format.slice(at), format.length] : [format.slice(at, at + end), at + end]
    }
    if (format[at + 1] === char) return [char, at + 2]
    if (char === '}') this.runtime.fail("ValueError: Single '}' encountered in format string")
    const end = fieldEnd(format, at + 1)
    if (end < 0) this.runtime.fail("ValueError: expected '}' before end of string")
    return [this.field(format.slice(at + 1, end), levels), end + 1]
  }

  private field(field: string, levels: number): string {
    const match = /^([^!:]*)(?:!([^:]*))?(?::([\s\S]*))?$/.exec(field)
    if (match === null) return this.runtime.fail('ValueError: bad replacement field')
    const [, name = '', conversion, spec = ''] = match
    const value = this.converted(this.value(name), conversion)
    const text = formatValue(this.runtime, value, spec && this.expand(spec, levels - 1))
    if (!this.escapes) return text
    return value instanceof Markup ? text : escapeValue(this.runtime, text).text
  }

  private converted(value: Value, conversion: string | undefined): Value {
    if (conversion === undefined) return value
    if (conversion === 'r' || conversion === 'a') return repr(this.runtime, value)
    if (conversion === 's') return toText(this.runtime, value)
    return this.runtime.fail(`ValueError: Unknown conversion specifier ${conversion}`)
  }

  private value(path: string): Value {
    const first = /^[^.[]*/.exec(path)?.[0] ?? ''
    let value = this.argument(first)
    const rest = path.slice(first.length)
    let read = 0
    for (const match of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]/gy)) {
      const [whole, name, key = ''] = match
      read += whole.length
      if (name !== undefined) value = this.access.attribute(this.runtime, value, name)
      else value = this.access.item(this.runtime, value, /^\d+$/.test(key) ? BigInt(key) : key)
    }
    if (read < rest.length) this.runtime.fail('ValueError: Empty attribute in format string')
    return value
  }

  private argument(name: string): Value {
    const { positional, keywords } = this.args
    if (name !== '' && !/^\d+$/.test(name)) {
      const value = keywords.get(name)
      return value === undefined ? this.runtime.fail(`KeyError: '${name}'`) : value
    }
    const index = name === '' ? this.nextIndex++ : Number(name)
    const value = positional[index]
    if (value !== undefined) return value
    const message = 'IndexError: Replacement index out of range for positional args tuple'
    return this.runtime.fail(message)
  }
}

/** Where the field that starts at `from` ends, counting the braces of nested fields. */
function fieldEnd(format: string, from: number): number {
  let depth = 1
  for (let at = from; at < format.length; at++) {
    if (format[at] === '{') depth++
    if (format[at] === '}' && --depth === 0) return at
  }
  return -1
}
