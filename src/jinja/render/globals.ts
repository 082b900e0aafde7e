import { MAX_RANGE } from '../limits.ts'
import { sliceBounds } from '../python/access.ts'
import { numberOf } from '../python/compare.ts'
import { dictEntries, tupleMethods } from '../python/container-methods.ts'
import { toArray } from '../python/iterate.ts'
import { asInteger, asText, bind, bound } from '../python/methods.ts'
import { newContainer, newEntry, type Runtime } from '../python/runtime.ts'
import { joinTexts } from '../python/string-operations.ts'
import { repr } from '../python/to-text.ts'
import {
  type CallArguments,
  Callable,
  Dict,
  isTrue,
  Markup,
  PyObject,
  Tuple,
  type Value,
} from '../python/values.ts'

function makeRange(runtime: Runtime, args: CallArguments): Value {
  const bounds = bind(runtime, 'range', ['start', 'stop?', 'step?'], args)
  const [first = 0n, second, step = 1n] = bounds.map((bound) =>
    bound === undefined ? undefined : BigInt(asInteger(runtime, bound, 0)),
  )
  return second === undefined
    ? new Range(runtime, 0n, first, 1n)
    : new Range(runtime, first, second, step)
}

function makeDict(runtime: Runtime, { positional, keywords }: CallArguments): Dict {
  const [source = new Dict()] = bind(runtime, 'dict', ['source?'], {
    positional,
    keywords: new Map(),
  })
  runtime.spend(newContainer + newEntry * keywords.size)
  const dict = new Dict(new Map(dictEntries(runtime, source)))
  for (const [name, value] of keywords) dict.set(name, value)
  return dict
}

/** Result of `namespace()`, whose attributes `{% set ns.x = … %}` sets. It has no methods. */
export class Namespace extends PyObject {
  readonly typeName = 'jinja2.utils.Namespace'
  private readonly dict: Dict

  constructor(dict: Dict) {
    super()
    this.dict = dict
  }

  override attribute(name: string): Value | undefined {
    return name.startsWith('_') ? undefined : this.dict.get(name)
  }

  assign(name: string, value: Value): void {
    this.dict.set(name, value)
  }

  override repr(runtime: Runtime): string {
    return `<Namespace ${repr(runtime, this.dict)}>`
  }
}

class Cycler extends PyObject {
  readonly typeName = 'jinja2.utils.Cycler'
  private readonly items: readonly Value[]
  private position = 0

  constructor(runtime: Runtime, items: readonly Value[]) {
    super()
    if (items.length === 0) runtime.fail('RuntimeError: at least one item has to be provided')
    this.items = items
  }

  override attribute(name: string): Value | undefined {
    if (name === 'current') return this.items[this.position]
    if (name === 'reset') return new Callable(name, () => this.moveTo(0))
    if (name !== 'next') return undefined
    return new Callable(name, () => {
      const current = this.items[this.position] ?? null
      this.moveTo((this.position + 1) % this.items.length)
      return current
    })
  }

  private moveTo(position: number): null {
    this.position = position
    return null
  }
}

class Joiner extends PyObject {
  readonly typeName = 'jinja2.utils.Joiner'
  private readonly separator: Value
  private used = false

  constructor(separator: Value) {
    super()
    this.separator = separator
  }

  override call(): Value {
    if (this.used) return this.separator
    this.used = true
    return ''
  }

  override attribute(name: string): Value | undefined {
    return name === 'sep' ? this.separator : undefined
  }
}

function lipsum(runtime: Runtime, args: CallArguments): Value {
  const [count, html = true, min, max] = bind(
    runtime,
    'lipsum',
    ['n?', 'html?', 'min?', 'max?'],
    args,
  )
  const minWords = asInteger(runtime, min, 20)
  const maxWords = asInteger(runtime, max, 100)
  if (minWords >= maxWords) runtime.fail('ValueError: empty range for randrange()')
  const paragraphs: string[] = []
  for (let left = asInteger(runtime, count, 5); left > 0; left--) {
    runtime.spend(4 * Math.max(maxWords, 1))
    paragraphs.push(loremIpsum(minWords, maxWords))
  }
  if (!isTrue(html)) return joinTexts(runtime, '\n\n', paragraphs)
  const marked = paragraphs.map((text) => `<p>${text}</p>`)
  return new Markup(joinTexts(runtime, '\n', marked))
}

/** A global that is a class; calling it creates an object. */
class Class extends Callable {
  private readonly path: string

  constructor(path: string, name: string, create: Construct) {
    super(name, create)
    this.path = path
  }

  override repr(): string {
    return `<class '${this.path}'>`
  }
}

type Construct = (runtime: Runtime, args: CallArguments) => Value

/** Jinja2's globals, and nothing else. */
export const globals: ReadonlyMap<string, Value> = new Map<string, Value>(
  [
    new Callable('range', makeRange),
    new Class('dict', 'dict', makeDict),
    new Callable('lipsum', lipsum),
    new Class(
      'jinja2.utils.Cycler',
      'cycler',
      (runtime, { positional }) => new Cycler(runtime, positional),
    ),
    new Class('jinja2.utils.Joiner', 'joiner', (runtime, args) => {
      const [separator] = bind(runtime, 'joiner', ['sep?'], args)
      return new Joiner(separator === undefined ? ', ' : asText(runtime, separator))
    }),
    new Class(
      'jinja2.utils.Namespace',
      'namespace',
      (runtime, args) => new Namespace(makeDict(runtime, args)),
    ),
  ].map((global) => [global.name, global]),
)

export const globalNames: ReadonlySet<string> = new Set(globals.keys())

const words = [
  ...['lorem', 'ipsum', 'dolor', 'sit', 'amet', 'consectetur', 'adipiscing', 'elit', 'sed', 'do'],
  ...['eiusmod', 'tempor', 'incididunt', 'ut', 'labore', 'et', 'dolore', 'magna', 'aliqua', 'enim'],
  ...[
    'minim',
    'veniam',
    'quis',
    'nostrud',
    'exercitation',
    'ullamco',
    'laboris',
    'nisi',
    'aliquip',
  ],
]

function randomBelow(limit: number): number {
  return Math.floor(Math.random() * limit)
}

/** One paragraph of `min` to `max` words in sentences of a few words each. */
function loremIpsum(min: number, max: number): string {
  const count = min + randomBelow(max - min)
  let left = 0
  const text: string[] = []
  for (let index = 0; index < count; index++) {
    const word = words[randomBelow(words.length)] ?? ''
    const starts = left === 0
    if (starts) left = 6 + randomBelow(8)
    left--
    const ends = left === 0 || index === count - 1
    text.push((starts ? word.charAt(0).toUpperCase() + word.slice(1) : word) + (ends ? '.' : ''))
  }
  return text.join(' ')
}

/** `range(start, stop, step)`, no longer than the sandbox allows. */
class Range extends PyObject {
  readonly typeName = 'range'
  private readonly start: bigint
  private readonly step: bigint
  private readonly stop: bigint
  private readonly size: number

  constructor(runtime: Runtime, start: bigint, stop: bigint, step: bigint) {
    super()
    if (step === 0n) runtime.fail('ValueError: range() arg 3 must not be zero')
    this.start = start
    this.step = step
    this.stop = stop
    const span = step > 0n ? stop - start : start - stop
    const size = step > 0n ? step : -step
    const count = span <= 0n ? 0n : (span + size - 1n) / size
    if (count > MAX_RANGE) {
      const limit = `The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`
      runtime.fail(`OverflowError: Range too big. ${limit}`)
    }
    this.size = Number(count)
  }

  private at(index: number): bigint {
    return this.start + BigInt(index) * this.step
  }

  override *iterate(): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }

  override length(): number {
    return this.size
  }

  override item(key: Value): Value | undefined {
    const number = numberOf(key)
    if (typeof number !== 'bigint') return undefined
    const index = Number(number) < 0 ? Number(number) + this.size : Number(number)
    return index >= 0 && index < this.size ? this.at(index) : undefined
  }

  override slice(bounds: readonly Value[], runtime: Runtime): Value {
    const [start, stop, step] = sliceBounds(runtime, this.size, bounds)
    return new Range(runtime, this.at(start), this.at(stop), this.step * BigInt(step))
  }

  override attribute(name: string, runtime: Runtime): Value | undefined {
    const method = tupleMethods.get(name)
    if (method !== undefined) return bound(name, new Tuple(toArray(runtime, this)), method)
    if (name === 'start') return this.start
    if (name === 'stop') return this.stop
    return name === 'step' ? this.step : undefined
  }

  override repr(): string {
    const bounds = `${this.start}, ${this.stop}`
    return this.step === 1n ? `range(${bounds})` : `range(${bounds}, ${this.step})`
  }
}
