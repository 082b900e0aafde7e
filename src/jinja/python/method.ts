import { bind } from './arguments.ts'
import type { Runtime } from './runtime.ts'
import { Callable, type Value } from './values.ts'

export type BoundArguments = readonly (Value | undefined)[]

/** A method of a type: its parameters (see `bind`) and what it does. */
export type Method<Self> = {
  readonly parameters: readonly string[]
  readonly run: (runtime: Runtime, self: Self, args: BoundArguments) => Value
}

export type Methods<Self> = ReadonlyMap<string, Method<Self>>

/** Notes a method down: parameters as one string, `'old new count?'`. */
export function method<Self>(parameters: string, run: Method<Self>['run']): Method<Self> {
  return { parameters: parameters === '' ? [] : parameters.split(' '), run }
}

/** The method as `object.name` yields it: a function that can be called later. */
export function bound<Self>(name: string, self: Self, method: Method<Self>): Callable {
  return new Callable(name, (runtime, args) => {
    runtime.spend()
    return method.run(runtime, self, bind(runtime, name, method.parameters, args))
  })
}
