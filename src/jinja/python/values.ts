import type { TemplateErrorType } from '../error.ts'
import type { Chain, Name } from '../syntax/tree.ts'

/**
 * Python's values. An `int` is a bigint and a `float` is a number, so that `1` and `1.0` stay
 * apart; `None`, booleans and strings are JavaScript's own; everything else is a class below or a
 * `PyObject`. No value is a plain object, so no template ever touches a JavaScript prototype.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Markup
  | List
  | Tuple
  | Dict
  | Undefined
  | PyObject

/** Text that is already HTML (`markupsafe.Markup`). */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export class List {
  readonly items: Value[]

  constructor(items: Value[]) {
    this.items = items
  }
}

export class Tuple {
  readonly items: readonly Value[]

  constructor(items: readonly Value[]) {
    this.items = items
  }
}

/** A tuple whose items also have names. */
export class NamedTuple extends Tuple {
  readonly names: readonly string[]

  constructor(names: readonly string[], items: readonly Value[]) {
    super(items)
    this.names = names
  }
}

/** Entries in the order of insertion, under keys made by `hashKey`. */
export class Dict {
  readonly entries: Map<string, readonly [key: Value, value: Value]>

  constructor(entries: Map<string, readonly [Value, Value]> = new Map()) {
    this.entries = entries
  }

  /** The value of a string key, as nearly all keys in arguments and context data are. */
  get(name: string): Value | undefined {
    return this.entries.get(stringKey(name))?.[1]
  }

  set(name: string, value: Value): void {
    this.entries.set(stringKey(name), [name, value])
  }
}

/** The internal key of a string key. */
function stringKey(text: string): string {
  return `s${text}`
}

/**
 * The result of a lookup that found nothing. Printing it gives an empty text; most other uses fail
 * with `why`.
 */
export class Undefined {
  readonly why: string
  readonly unsafe: boolean
  /** The name or chain that was looked up, and the number of the chain's steps to this result. */
  source: Name | Chain | null = null
  steps = 0

  constructor(why: string, unsafe = false) {
    this.why = why
    this.unsafe = unsafe
  }

  fail(runtime: Runtime): never {
    runtime.fail(this.why, this.unsafe ? 'security_error' : 'undefined_error')
  }
}

export type CallArguments = {
  readonly positional: readonly Value[]
  readonly keywords: ReadonlyMap<string, Value>
}

/**
 * How an operation reads a text, which decides its cost. `free`: not at all. `scan`: by V8's own
 * loops. `walk`: with work per character, such as a callback or a list of pieces.
 */
export type ReadCost = 'free' | 'scan' | 'walk'

/** A filter or test applied by name. */
export type Callee = (runtime: Runtime, value: Value, args: CallArguments) => Value

/**
 * The state of one rendering: its budget, the current line, and the filters and tests. One step
 * pays for about 100 ns of work or 32 bytes of memory, whichever is more. Memory that was paid for
 * is never refunded, so the budget bounds time and memory at once, whatever the lifetime of values.
 */
export interface Runtime {
  readonly filters: ReadonlyMap<string, Callee>
  readonly tests: ReadonlyMap<string, Callee>
  /** The line of the statement being rendered, for errors. */
  line: number
  /** True if output is escaped: off by default, changed by `{% autoescape %}`. */
  autoescape: boolean
  /**
   * Pays for work: an operation on n elements costs at least n steps. Throws TemplateError
   * `limit_exceeded`.
   */
  spend(steps?: number): void
  /** Refuses a string before it is made, and pays for it. */
  allowLength(length: number): void
  /**
   * Pays for `added` new characters of a string, which then has `length`. Refuses a string that is
   * too long before it is made.
   */
  payForText(added: number, length: number): void
  /** Pays for reading text. */
  read(text: string, cost?: ReadCost): void
  /** Pays for what an operation reads of a value and its arguments: the texts among them. */
  readAll(values: Iterable<Value | undefined>, cost: ReadCost): void
  /** Refuses an integer before it is computed, and pays for computing it. */
  allowBits(bits: number): void
  /** Runs a macro, a recursive loop or a block, which may call itself. */
  call<T>(run: () => T): T
  /** Reports that a variable was printed as nothing: see runtime.ts. */
  noteGap(source: Name | Chain, steps: number): void
  /** Reports the result of a decision in the template: see runtime.ts. */
  noteBranch(decision: object, taken: number): void
  fail(message: string, type?: TemplateErrorType): never
}

/** A Python object with behaviour: a macro, `loop`, `range(3)`, a bound method… */
export abstract class PyObject {
  /** Name of its Python type. */
  abstract readonly typeName: string
  /** False if its items can be read only once and forwards. */
  readonly reversible: boolean = true

  attribute(_name: string, _runtime: Runtime): Value | undefined {
    return undefined
  }

  item(_key: Value, _runtime: Runtime): Value | undefined {
    return undefined
  }

  /** `self[start:stop:step]`; null if it cannot be sliced. */
  slice(_bounds: readonly Value[], _runtime: Runtime): Value | null {
    return null
  }

  /** The items; null if it is not iterable. */
  iterate(_runtime: Runtime): Iterator<Value> | null {
    return null
  }

  length(): number | null {
    return null
  }

  /** Absent if it is not callable. */
  call?(runtime: Runtime, args: CallArguments): Value

  repr(_runtime: Runtime): string {
    return `<${this.typeName} object>`
  }
}

/** A function or bound method. */
export class Callable extends PyObject {
  readonly typeName = 'builtin_function_or_method'
  readonly name: string
  private readonly run: (runtime: Runtime, args: CallArguments) => Value

  constructor(name: string, run: (runtime: Runtime, args: CallArguments) => Value) {
    super()
    this.name = name
    this.run = run
  }

  override call(runtime: Runtime, args: CallArguments): Value {
    return this.run(runtime, args)
  }

  override repr(): string {
    return `<built-in method ${this.name}>`
  }
}

/** A generator, as `map` and `select` return. It can be consumed once. */
export class Generator extends PyObject {
  readonly typeName = 'generator'
  override readonly reversible = false
  private readonly iterator: Iterator<Value>

  constructor(iterator: Iterator<Value>) {
    super()
    this.iterator = iterator
  }

  override iterate(): Iterator<Value> {
    return this.iterator
  }
}

/** A string or markup, as its text; null for anything else. */
export function textOf(value: Value): string | null {
  if (typeof value === 'string') return value
  return value instanceof Markup ? value.text : null
}

/** The name of a value's Python type. */
export function typeName(value: Value): string {
  if (value === null) return 'NoneType'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'float'
  if (typeof value === 'string') return 'str'
  if (value instanceof Markup) return 'Markup'
  if (value instanceof List) return 'list'
  if (value instanceof Tuple) return 'tuple'
  if (value instanceof Dict) return 'dict'
  return value instanceof Undefined ? 'Undefined' : value.typeName
}

/** Python's truth value: empty containers, zero, `None` and undefined are false. */
export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false
  if (typeof value !== 'object') return Boolean(value)
  if (value instanceof Markup) return value.text !== ''
  if (value instanceof List || value instanceof Tuple) return value.items.length > 0
  if (value instanceof Dict) return value.entries.size > 0
  return value.length() !== 0
}
