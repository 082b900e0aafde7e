import { equals } from '../python/compare.ts'
import { iterate, tryLength } from '../python/iterate.ts'
import { bind } from '../python/methods.ts'
import { newContainer, type Runtime } from '../python/runtime.ts'
import {
  type CallArguments,
  Callable,
  PyObject,
  Tuple,
  Undefined,
  type Value,
} from '../python/values.ts'

/** Renders a recursive loop's body over other items, one level deeper. */
type Recurse = (items: Value, depth: number) => Value

/** The `loop` variable. It looks ahead, or reads all items to count them, only on demand. */
export class LoopContext extends PyObject {
  readonly typeName = 'jinja2.runtime.LoopContext'
  override readonly reversible = false
  private readonly runtime: Runtime
  private readonly iterable: Value
  private iterator: Iterator<Value>
  private readonly recurse: Recurse | null
  private readonly depth0: number
  private index0 = -1
  private total: number | null = null
  private ahead: { readonly value: Value } | null = null
  private exhausted = false
  private current: Value | undefined
  private before: Value | undefined
  private lastChanged: Tuple | null = null

  constructor(runtime: Runtime, iterable: Value, recurse: Recurse | null, depth0: number) {
    super()
    this.runtime = runtime
    this.iterable = iterable
    this.iterator = iterate(runtime, iterable)
    this.recurse = recurse
    this.depth0 = depth0
  }

  /** The next item to render, or undefined at the end. */
  next(): Value | undefined {
    const next = this.peek()
    if (next === null) return undefined
    this.ahead = null
    this.index0++
    this.before = this.current
    this.current = next.value
    return next.value
  }

  /** As in Jinja2, iterating over `loop` advances the loop, and each item is paired with it. */
  override iterate(runtime: Runtime): Iterator<Value> {
    const next = (): IteratorResult<Value> => {
      const value = this.next()
      if (value === undefined) return { done: true, value: null }
      runtime.spend()
      runtime.spend(newContainer)
      return { done: false, value: new Tuple([value, this]) }
    }
    return { next }
  }

  private peek(): { readonly value: Value } | null {
    if (this.ahead !== null || this.exhausted) return this.ahead
    const next = this.iterator.next()
    this.exhausted = next.done === true
    this.ahead = next.done ? null : { value: next.value }
    return this.ahead
  }

  override length(): number {
    this.total ??= tryLength(this.iterable) ?? this.countRest()
    return this.total
  }

  private countRest(): number {
    const rest: Value[] = []
    for (let next = this.iterator.next(); !next.done; next = this.iterator.next()) {
      this.runtime.spend()
      rest.push(next.value)
    }
    this.iterator = rest[Symbol.iterator]()
    return rest.length + this.index0 + 1 + (this.ahead === null ? 0 : 1)
  }

  override attribute(name: string, runtime: Runtime): Value | undefined {
    switch (name) {
      case 'index':
        return BigInt(this.index0 + 1)
      case 'index0':
        return BigInt(this.index0)
      case 'revindex':
        return BigInt(this.length() - this.index0)
      case 'revindex0':
        return BigInt(this.length() - this.index0 - 1)
      case 'length':
        return BigInt(this.length())
      case 'first':
        return this.index0 === 0
      case 'last':
        return this.peek() === null
      case 'depth':
        return BigInt(this.depth0 + 1)
      case 'depth0':
        return BigInt(this.depth0)
      case 'previtem':
        return this.index0 > 0 ? this.before : new Undefined('there is no previous item')
      case 'nextitem': {
        const next = this.peek()
        return next === null ? new Undefined('there is no next item') : next.value
      }
      case 'cycle':
        return new Callable(name, (_, { positional }) => this.cycle(runtime, positional))
      case 'changed':
        return new Callable(name, (_, { positional }) => this.changed(runtime, positional))
      default:
        return undefined
    }
  }

  private cycle(runtime: Runtime, values: readonly Value[]): Value {
    const value = values[this.index0 % values.length]
    return value === undefined ? runtime.fail('TypeError: no items for cycling given') : value
  }

  /** True if the values differ from those of the last call, or on the first call. */
  private changed(runtime: Runtime, values: readonly Value[]): boolean {
    const now = new Tuple(values)
    if (this.lastChanged !== null && equals(runtime, this.lastChanged, now)) return false
    this.lastChanged = now
    return true
  }

  override call(runtime: Runtime, args: CallArguments): Value {
    const [items = null] = bind(runtime, 'loop', ['iterable'], args)
    if (this.recurse === null) {
      const message = "The loop must have the 'recursive' marker to be called recursively."
      return runtime.fail(`TypeError: ${message}`)
    }
    return this.recurse(items, this.depth0 + 1)
  }

  override repr(): string {
    return `<LoopContext ${this.index0 + 1}/${this.length()}>`
  }
}
