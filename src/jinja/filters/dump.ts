import { MAX_VALUE_DEPTH } from '../limits.ts'
import { compare } from '../python/compare.ts'
import type { BoundArguments } from '../python/methods.ts'
import { asInteger } from '../python/methods.ts'
import { floatRepr } from '../python/numbers.ts'
import { newContainer, newEntry, type Runtime } from '../python/runtime.ts'
import { compareText } from '../python/text.ts'
import { integerText, repr, toText } from '../python/to-text.ts'
import { Dict, List, Markup, Tuple, textOf, typeName, type Value } from '../python/values.ts'
import { type FilterEntry, filter } from './define.ts'

/** JSON as Python's `json.dumps` writes it: spaced, keys sorted, ASCII only. */
class JsonWriter {
  private readonly runtime: Runtime
  private readonly indent: string | null

  constructor(runtime: Runtime, indent: string | null) {
    this.runtime = runtime
    this.indent = indent
  }

  write(value: Value, depth: number): string {
    this.runtime.spend()
    if (depth > MAX_VALUE_DEPTH) this.runtime.fail('maximum recursion depth exceeded')
    const text = textOf(value)
    if (text !== null) return this.string(text)
    if (value === null || typeof value === 'boolean') return String(value)
    if (typeof value === 'bigint') return integerText(this.runtime, value)
    if (typeof value === 'number') return jsonNumber(value)
    if (value instanceof List || value instanceof Tuple) {
      const parts = value.items.map((item) => this.write(item, depth + 1))
      return this.enclose('[', parts, ']', depth)
    }
    if (value instanceof Dict) return this.enclose('{', this.entries(value, depth), '}', depth)
    const type = typeName(value)
    return this.runtime.fail(`TypeError: Object of type ${type} is not JSON serializable`)
  }

  private entries(dict: Dict, depth: number): string[] {
    this.runtime.spend(dict.entries.size)
    const sorted = [...dict.entries.values()].sort(([a], [b]) => compare(this.runtime, a, b))
    return sorted.map(([key, item]) => `${this.key(key)}: ${this.write(item, depth + 1)}`)
  }

  private key(key: Value): string {
    if (textOf(key) !== null) return this.write(key, 0)
    if (key !== null && typeof key === 'object') {
      const type = typeName(key)
      this.runtime.fail(`TypeError: keys must be str, int, float, bool or None, not ${type}`)
    }
    return jsonString(this.write(key, 0))
  }

  private string(text: string): string {
    this.runtime.read(text, 'walk')
    return jsonString(text)
  }

  private enclose(open: string, parts: readonly string[], close: string, depth: number): string {
    if (parts.length === 0) return open + close
    const { indent } = this
    const size = parts.reduce(
      (sum, part) => sum + part.length + (indent ?? '').length * (depth + 1),
      0,
    )
    this.runtime.allowLength(size)
    if (indent === null) return open + parts.join(', ') + close
    const line = `\n${indent.repeat(depth + 1)}`
    return `${open}${line}${parts.join(`,${line}`)}\n${indent.repeat(depth)}${close}`
  }
}

function jsonNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return floatRepr(value)
  return value > 0 ? 'Infinity' : '-Infinity'
}

function jsonString(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\uffff]/g, (char) =>
    char === '\x7f' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** JSON that is safe inside HTML: characters that could end a script are escaped. */
function toJson(runtime: Runtime, value: Value, args: BoundArguments): Value {
  const [indent = null] = args
  const width = textOf(indent) ?? (indent === null ? null : spaces(runtime, indent))
  const json = new JsonWriter(runtime, width).write(value, 0)
  runtime.read(json, 'walk')
  const safe = json.replace(/[<>&']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)
  runtime.allowLength(safe.length)
  return new Markup(safe)
}

function spaces(runtime: Runtime, count: Value): string {
  const width = Math.max(0, asInteger(runtime, count, 0))
  runtime.allowLength(width)
  return ' '.repeat(width)
}

/** Maximum width of a line of `pprint`, characters. */
const PAGE_WIDTH = 80

/** `pprint.pformat`: on one line if it fits, else one element per line; long strings stay whole. */
function prettyPrint(runtime: Runtime, value: Value, indent: number, reserved: number): string {
  const sorted = sortedKeys(runtime, value)
  const flat = repr(runtime, sorted)
  const fits = flat.length <= PAGE_WIDTH - indent - reserved
  if (fits || indent > MAX_VALUE_DEPTH) return flat
  if (sorted instanceof Dict) return prettyDict(runtime, sorted, indent, reserved)
  if (!(sorted instanceof List || sorted instanceof Tuple)) return flat
  const [open, close] =
    sorted instanceof List ? ['[', ']'] : ['(', sorted.items.length === 1 ? ',)' : ')']
  const parts = sorted.items.map((item, index) => {
    const rest = index === sorted.items.length - 1 ? reserved + close.length : 1
    return prettyPrint(runtime, item, indent + 1, rest)
  })
  return open + parts.join(`,\n${' '.repeat(indent + 1)}`) + close
}

function prettyDict(runtime: Runtime, dict: Dict, indent: number, reserved: number): string {
  const entries = [...dict.entries.values()]
  const parts = entries.map(([key, item], index) => {
    const name = repr(runtime, key)
    const rest = index === entries.length - 1 ? reserved + 1 : 1
    return `${name}: ${prettyPrint(runtime, item, indent + name.length + 3, rest)}`
  })
  return `{${parts.join(`,\n${' '.repeat(indent + 1)}`)}}`
}

/** The value with the keys of all its dicts in order. */
function sortedKeys(runtime: Runtime, value: Value): Value {
  const sort = (item: Value): Value => sortedKeys(runtime, item)
  runtime.spend(newContainer)
  if (value instanceof List) return new List(value.items.map(sort))
  if (value instanceof Tuple) return new Tuple(value.items.map(sort))
  if (!(value instanceof Dict)) return value
  runtime.spend(newEntry * value.entries.size)
  const sorted = [...value.entries].sort(([a], [b]) => {
    runtime.read(a)
    return compareText(a, b)
  })
  return new Dict(new Map(sorted.map(([hash, [key, item]]) => [hash, [key, sort(item)]])))
}

export const dumpFilters: readonly FilterEntry[] = [
  filter('tojson', 'indent?', toJson, 'free'),
  filter(
    'pprint',
    '',
    (runtime, value) => {
      // Rendered once unchanged, which refuses values that are too deep or too large.
      toText(runtime, value)
      return prettyPrint(runtime, value, 0, 0)
    },
    'free',
  ),
]
