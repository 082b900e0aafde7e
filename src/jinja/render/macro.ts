import type { MacroFrame } from '../analysis/names.ts'
import type { Runtime } from '../python/runtime.ts'
import {
  type CallArguments,
  Dict,
  PyObject,
  Tuple,
  Undefined,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import type { Parameter } from '../syntax/tree.ts'
import type { Scope } from './scope.ts'

/** Renders a macro's body in a scope that holds its arguments. */
type RunMacro = (scope: Scope, missing: ReadonlySet<string>) => Value

/** A macro, or the body of a call block, as a value that can be called. */
export class MacroValue extends PyObject {
  readonly typeName = 'jinja2.runtime.Macro'
  private readonly name: string | null
  private readonly parameters: readonly string[]
  private readonly frame: MacroFrame
  private readonly closure: Scope
  private readonly run: RunMacro

  constructor(
    name: string | null,
    parameters: readonly Parameter[],
    frame: MacroFrame,
    closure: Scope,
    run: RunMacro,
  ) {
    super()
    this.name = name
    this.parameters = parameters.map(({ name }) => name)
    this.frame = frame
    this.closure = closure
    this.run = run
  }

  private takes(special: 'caller' | 'kwargs' | 'varargs'): boolean {
    return this.frame.specials.includes(special)
  }

  override call(runtime: Runtime, { positional, keywords }: CallArguments): Value {
    const scope = this.closure.inner(this.frame.names)
    const left = new Map(keywords)
    const missing = this.assignParameters(scope, positional, left)
    if (this.takes('caller')) {
      const caller = left.get('caller') ?? new Undefined('No caller defined')
      left.delete('caller')
      scope.assign('caller', caller)
    }
    this.assignKeywords(runtime, scope, left)
    this.assignRest(runtime, scope, positional.slice(this.parameters.length))
    return runtime.call(() => this.run(scope, missing))
  }

  private assignParameters(
    scope: Scope,
    positional: readonly Value[],
    left: Map<string, Value>,
  ): Set<string> {
    const missing = new Set<string>()
    for (const [index, name] of this.parameters.entries()) {
      // A keyword for a parameter that was also given by position stays in `left`, and is refused
      // there.
      const value = index < positional.length ? positional[index] : left.get(name)
      if (index >= positional.length) left.delete(name)
      if (value === undefined) missing.add(name)
      else scope.assign(name, value)
    }
    return missing
  }

  private assignKeywords(runtime: Runtime, scope: Scope, left: Map<string, Value>): void {
    if (this.takes('kwargs')) {
      const kwargs = new Dict()
      for (const [name, value] of left) kwargs.set(name, value)
      scope.assign('kwargs', kwargs)
      return
    }
    for (const name of left.keys()) {
      const what = `macro ${this.quotedName()}`
      if (name === 'caller') {
        const twice = `${what} was invoked with two values for the special caller argument.`
        runtime.fail(`TypeError: ${twice} This is most likely a bug.`)
      }
      runtime.fail(`TypeError: ${what} takes no keyword argument ${quote(name)}`)
    }
  }

  private assignRest(runtime: Runtime, scope: Scope, rest: readonly Value[]): void {
    if (this.takes('varargs')) {
      scope.assign('varargs', new Tuple(rest))
      return
    }
    if (rest.length === 0) return
    const limit = `not more than ${this.parameters.length} argument(s)`
    runtime.fail(`TypeError: macro ${this.quotedName()} takes ${limit}`)
  }

  private quotedName(): string {
    return this.name === null ? 'None' : quote(this.name)
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'name':
        return this.name
      case 'arguments':
        return new Tuple(this.parameters)
      case 'catch_kwargs':
        return this.takes('kwargs')
      case 'catch_varargs':
        return this.takes('varargs')
      case 'caller':
        return this.takes('caller') || this.parameters.includes('caller')
      default:
        return undefined
    }
  }

  override repr(): string {
    return `<Macro ${this.name === null ? 'anonymous' : quote(this.name)}>`
  }
}
