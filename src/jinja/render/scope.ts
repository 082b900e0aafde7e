import type { Names } from '../analysis/names.ts'
import { toArray } from '../python/iterate.ts'
import type { Runtime } from '../python/runtime.ts'
import type { TextBuilder } from '../python/to-text.ts'
import type { Value } from '../python/values.ts'
import type { Target } from '../syntax/tree.ts'
import { Namespace } from './globals.ts'

/**
 * The variables of a template: the caller's values, the globals, and those set at the top level.
 */
export class Context {
  readonly runtime: Runtime
  private readonly given: ReadonlyMap<string, Value>
  private readonly globals: ReadonlyMap<string, Value>
  private readonly set = new Map<string, Value>()

  constructor(
    runtime: Runtime,
    given: ReadonlyMap<string, Value>,
    globals: ReadonlyMap<string, Value>,
  ) {
    this.runtime = runtime
    this.given = given
    this.globals = globals
  }

  find(name: string): Value | undefined {
    const layer = [this.set, this.given].find((values) => values.has(name))
    return (layer ?? this.globals).get(name)
  }

  assign(name: string, value: Value): void {
    this.set.set(name, value)
  }

  /** This context for a scoped block: with the surrounding locals on top. */
  derive(locals: ReadonlyMap<string, Value>): Context {
    this.runtime.spend(4 * (this.given.size + this.set.size + locals.size))
    const parent = new Map(this.given)
    for (const [name, value] of this.set) parent.set(name, value)
    for (const [name, value] of locals) parent.set(name, value)
    return new Context(this.runtime, parent, this.globals)
  }
}

/** Steps for a scope, without its names; each name costs one more. */
const newScope = 3

/** Scopes that a lookup passes per step. */
const hopsPerStep = 4

/**
 * The variables of one frame at run time. `Names` has decided which names it has; here they get
 * values. A name without a value is undefined, even if the context has one.
 */
export class Scope {
  readonly context: Context
  readonly names: Names
  private readonly parent: Scope | null
  private readonly values = new Map<string, Value>()

  constructor(names: Names, context: Context, parent: Scope | null) {
    this.names = names
    this.context = context
    this.parent = parent
    context.runtime.spend(newScope + names.origins.size)
    for (const [name, origin] of names.origins) {
      const value =
        origin === 'context'
          ? context.find(name)
          : origin === 'outer'
            ? parent?.find(name)
            : undefined
      if (value !== undefined) this.values.set(name, value)
    }
  }

  /** The value of a name; undefined if it has none. */
  find(name: string): Value | undefined {
    let climbed = 0
    for (let at: Scope | null = this; at !== null; at = at.parent) {
      if (at.names.own(name) !== undefined) return at.values.get(name)
      if (++climbed % hopsPerStep === 0) this.context.runtime.spend()
    }
    return undefined
  }

  assign(name: string, value: Value): void {
    this.values.set(name, value)
  }

  inner(names: Names): Scope {
    return new Scope(names, this.context, this)
  }

  /** All variables with a value that this scope or an enclosing one sets. */
  visible(): Map<string, Value> {
    const names = this.names.visible()
    this.context.runtime.spend(3 * names.size)
    const found = new Map<string, Value>()
    for (const name of names) {
      const value = this.find(name)
      if (value !== undefined) found.set(name, value)
    }
    return found
  }
}

/** The scope and level in which a statement runs. */
export type Place = {
  readonly scope: Scope
  readonly out: TextBuilder
  /** True where blocks also see a `set`: at the template's top level, and in ifs there. */
  readonly top: boolean
}

/**
 * Assigns a value to a name, unpacks it into several names, or sets an attribute of a namespace.
 */
export function assign(runtime: Runtime, target: Target, value: Value, place: Place): void {
  if (target.kind === 'name') {
    assignName(target.name, value, place)
    return
  }
  if (target.kind === 'tuple') {
    unpack(runtime, target.items, value, place)
    return
  }
  const namespace = place.scope.find(target.name)
  if (!(namespace instanceof Namespace)) {
    runtime.fail('cannot assign attribute on non-namespace object')
  }
  namespace.assign(target.attribute, value)
}

/** Sets a variable; at the top level, blocks see it too. */
export function assignName(name: string, value: Value, { scope, top }: Place): void {
  scope.assign(name, value)
  if (top) scope.context.assign(name, value)
}

function unpack(runtime: Runtime, targets: readonly Target[], value: Value, place: Place): void {
  const items = toArray(runtime, value)
  if (items.length > targets.length) {
    runtime.fail(`ValueError: too many values to unpack (expected ${targets.length})`)
  }
  for (const [index, target] of targets.entries()) {
    const item = items[index]
    if (item === undefined) {
      const counts = `(expected ${targets.length}, got ${items.length})`
      runtime.fail(`ValueError: not enough values to unpack ${counts}`)
    }
    assign(runtime, target, item, place)
  }
}
