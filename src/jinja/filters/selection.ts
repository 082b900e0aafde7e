import { iterate } from '../python/iterate.ts'
import { newCall, type Runtime } from '../python/runtime.ts'
import {
  type CallArguments,
  isTrue,
  Generator as Lazy,
  textOf,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import { attributeGetter } from './attributes.ts'
import type { FilterEntry } from './define.ts'

/** Filters that apply others: they return generators, so nothing happens before they are read. */

type OnItem = (item: Value) => Value

function* mapped(runtime: Runtime, value: Value, args: CallArguments): Generator<Value> {
  if (!isTrue(value)) return
  const apply = mapping(runtime, args)
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend(newCall)
    yield apply(next.value)
  }
}

function mapping(runtime: Runtime, { positional, keywords }: CallArguments): OnItem {
  const [name, ...rest] = positional
  if (name === undefined) return attributeMapping(runtime, keywords)
  return (item) => {
    const filter = runtime.filters.get(textOf(name) ?? '')
    if (filter === undefined) runtime.fail(`No filter named ${quote(textOf(name) ?? '')}.`)
    return filter(runtime, item, { positional: rest, keywords })
  }
}

function attributeMapping(runtime: Runtime, keywords: ReadonlyMap<string, Value>): OnItem {
  const attribute = keywords.get('attribute')
  if (attribute === undefined) return runtime.fail('map requires a filter argument')
  for (const name of keywords.keys()) {
    if (name !== 'attribute' && name !== 'default') {
      runtime.fail(`Unexpected keyword argument ${quote(name)}`)
    }
  }
  const get = attributeGetter(attribute, keywords.get('default') ?? null)
  return (item) => get(runtime, item)
}

type Selection = { readonly keep: boolean; readonly byAttribute: boolean }

function* selected(
  runtime: Runtime,
  value: Value,
  args: CallArguments,
  { keep, byAttribute }: Selection,
): Generator<Value> {
  if (!isTrue(value)) return
  const passes = condition(runtime, args, byAttribute)
  const items = iterate(runtime, value)
  for (let next = items.next(); !next.done; next = items.next()) {
    runtime.spend(newCall)
    if (isTrue(passes(next.value)) === keep) yield next.value
  }
}

/** A test by name, on the item or an attribute of it; without one, whether it is true. */
function condition(
  runtime: Runtime,
  { positional, keywords }: CallArguments,
  byAttribute: boolean,
): OnItem {
  const [attribute, ...afterAttribute] = positional
  if (byAttribute && attribute === undefined) {
    return runtime.fail('Missing parameter for attribute name')
  }
  const get = attributeGetter(byAttribute ? (attribute ?? null) : null)
  const [name, ...rest] = byAttribute ? afterAttribute : positional
  if (name === undefined) return (item) => get(runtime, item)
  return (item) => {
    const test = runtime.tests.get(textOf(name) ?? '')
    if (test === undefined) runtime.fail(`No test named ${quote(textOf(name) ?? '')}.`)
    return test(runtime, get(runtime, item), { positional: rest, keywords })
  }
}

/** Steps for what is read later: it keeps all that it will need. */
const newGenerator = 12

function lazy(runtime: Runtime, items: Generator<Value>): Lazy {
  runtime.spend(newGenerator)
  return new Lazy(items)
}

function selection(name: string, how: Selection): FilterEntry {
  return [name, (runtime, value, args) => lazy(runtime, selected(runtime, value, args, how))]
}

export const selectionFilters: readonly FilterEntry[] = [
  ['map', (runtime, value, args) => lazy(runtime, mapped(runtime, value, args))],
  selection('select', { keep: true, byAttribute: false }),
  selection('reject', { keep: false, byAttribute: false }),
  selection('selectattr', { keep: true, byAttribute: true }),
  selection('rejectattr', { keep: false, byAttribute: true }),
]
