import { toArray } from '../python/iterate.ts'
import type { Runtime } from '../python/runtime.ts'
import type { TextBuilder } from '../python/text-builder.ts'
import type { Value } from '../python/values.ts'
import type { Target } from '../syntax/tree.ts'
import { Namespace } from './globals.ts'
import type { Scope } from './scope.ts'

/** What a statement runs in. */
export type Place = {
  readonly scope: Scope
  readonly out: TextBuilder
  /** Whether `set` is also seen by blocks: at the template's top level, and in ifs there. */
  readonly top: boolean
}

/** Assigns a value to a name, to names it is unpacked into, or to an attribute of a namespace. */
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

/** Sets a variable, at the top level also for the blocks. */
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
