import { bind } from './arguments.ts'
import type { Reading, Runtime } from './runtime.ts'
import { Callable, Dict, List, Tuple, type Value } from './values.ts'

export type BoundArguments = readonly (Value | undefined)[]

/** A method of a type: its parameters (see `bind`) and what it does. */
export type Method<Self> = {
  readonly parameters: readonly string[]
  readonly run: (runtime: Runtime, self: Self, args: BoundArguments) => Value
  /** How it goes through the value and its arguments, which is paid for before it runs. */
  readonly reading: Reading
}

export type Methods<Self> = ReadonlyMap<string, Method<Self>>

/**
 * Notes a method down: parameters as one string, `'old new count?'`. It is taken to walk through
 * the value unless it says that it does less.
 */
export function method<Self>(
  parameters: string,
  run: Method<Self>['run'],
  reading: Reading = 'walk',
): Method<Self> {
  return { parameters: parameters === '' ? [] : parameters.split(' '), run, reading }
}

/** The method as `object.name` yields it: a function that can be called later. */
export function bound<Self extends Value>(
  name: string,
  self: Self,
  method: Method<Self>,
): Callable {
  return new Callable(name, (runtime, args) => {
    const given = bind(runtime, name, method.parameters, args)
    if (method.reading !== 'free') runtime.spend(sizeOf(self) >> 4)
    runtime.readAll([self, ...given], method.reading)
    return method.run(runtime, self, given)
  })
}

/** How many items there are to look at or to move; those that are compared cost more, later. */
function sizeOf(value: Value): number {
  if (value instanceof List || value instanceof Tuple) return value.items.length
  return value instanceof Dict ? value.entries.size : 0
}
