import { numberOf } from './compare.ts'
import type { ReadCost, Runtime } from './runtime.ts'
import {
  type CallArguments,
  Callable,
  Dict,
  List,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts'

export type BoundArguments = readonly (Value | undefined)[]

/** A method of a type: its parameters (see `bind`) and its function. */
export type Method<Self> = {
  readonly parameters: readonly string[]
  readonly run: (runtime: Runtime, self: Self, args: BoundArguments) => Value
  /**
   * How the method reads the value and its arguments, which decides the cost, charged before it
   * runs.
   */
  readonly cost: ReadCost
}

export type Methods<Self> = ReadonlyMap<string, Method<Self>>

/**
 * Defines a method. Its parameters are one string: `'old new count?'`. `cost`: how the method reads
 * the texts among its value and arguments, which it pays for before it runs.
 */
export function method<Self>(
  parameters: string,
  run: Method<Self>['run'],
  cost: ReadCost = 'walk',
): Method<Self> {
  return { parameters: parameters === '' ? [] : parameters.split(' '), run, cost }
}

/** A bound method, as `object.name` yields it. */
export function bound<Self extends Value>(
  name: string,
  self: Self,
  method: Method<Self>,
): Callable {
  return new Callable(name, (runtime, args) => {
    const given = bind(runtime, name, method.parameters, args)
    if (method.cost !== 'free') runtime.spend(sizeOf(self) >> 4)
    runtime.readAll([self, ...given], method.cost)
    return method.run(runtime, self, given)
  })
}

/** Number of items to read or move. Comparisons are charged later. */
function sizeOf(value: Value): number {
  if (value instanceof List || value instanceof Tuple) return value.items.length
  return value instanceof Dict ? value.entries.size : 0
}

/**
 * Binds arguments to parameters as Python's calls do. `name?` is optional (undefined if absent); a
 * final `*` takes all further arguments.
 */
export function bind(
  runtime: Runtime,
  callee: string,
  parameters: readonly string[],
  { positional, keywords }: CallArguments,
): readonly (Value | undefined)[] {
  const named = parameters.filter((parameter) => parameter !== '*')
  if (positional.length > named.length && named.length === parameters.length) {
    const limit = `at most ${named.length} arguments`
    runtime.fail(`TypeError: ${callee}() takes ${limit} (${positional.length} given)`)
  }
  const left = new Map(keywords)
  const bound: (Value | undefined)[] = named.map((parameter, index) => {
    const name = parameter.replace('?', '')
    const given = positional[index]
    const keyword = left.get(name)
    if (given !== undefined && keyword !== undefined) {
      runtime.fail(`TypeError: ${callee}() got multiple values for argument '${name}'`)
    }
    left.delete(name)
    const value = given ?? keyword
    if (value === undefined && given === undefined && !parameter.endsWith('?')) {
      runtime.fail(`TypeError: ${callee}() missing required argument: '${name}'`)
    }
    return given === undefined ? keyword : given
  })
  for (const name of left.keys()) {
    runtime.fail(`TypeError: ${callee}() got an unexpected keyword argument '${name}'`)
  }
  return [...bound, ...positional.slice(named.length)]
}

/** An argument that must be a string. */
export function asText(runtime: Runtime, value: Value | undefined, what = 'argument'): string {
  const text = textOf(value ?? null)
  if (text !== null) return text
  if (value instanceof Undefined) return value.fail(runtime)
  return runtime.fail(`TypeError: ${what} must be str, not ${typeName(value ?? null)}`)
}

/** An argument that must be an int (or a bool), as a number. */
export function asInteger(runtime: Runtime, value: Value | undefined, fallback: number): number {
  if (value === undefined) return fallback
  const number = numberOf(value)
  if (typeof number === 'bigint') {
    // Beyond this range, Python raises too, or the budget refuses the result.
    return Number(
      BigInt.asIntN(64, number) === number ? number : number < 0n ? -(2n ** 62n) : 2n ** 62n,
    )
  }
  if (value instanceof Undefined) return value.fail(runtime)
  const type = typeName(value)
  return runtime.fail(`TypeError: '${type}' object cannot be interpreted as an integer`)
}
