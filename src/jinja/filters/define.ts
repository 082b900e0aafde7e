import { bind } from '../python/arguments.ts'
import type { BoundArguments } from '../python/method.ts'
import { toText } from '../python/repr.ts'
import type { Callee, Reading, Runtime } from '../python/runtime.ts'
import { Markup, type Value } from '../python/values.ts'

export type FilterEntry = readonly [name: string, filter: Callee]

export type FilterBody = (runtime: Runtime, value: Value, args: BoundArguments) => Value

/**
 * Notes a filter down: its parameters after the value, as in `bind`, and what it does. It is taken
 * to walk through its texts, and pays for that before it runs, unless it says that it does less.
 */
export function filter(
  name: string,
  parameters: string,
  run: FilterBody,
  reading: Reading = 'walk',
): FilterEntry {
  const names = parameters === '' ? [] : parameters.split(' ')
  return [
    name,
    (runtime, value, args) => {
      const given = bind(runtime, name, names, args)
      runtime.readAll([value, ...given], reading)
      return run(runtime, value, given)
    },
  ]
}

/** `soft_str`: anything but a string becomes one. */
export function softText(runtime: Runtime, value: Value): string | Markup {
  return value instanceof Markup ? value : toText(runtime, value)
}
