import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../json/is-object.ts'
import {
  applyEdits,
  type Edit,
  FormatError,
  type Path,
  type Step,
  type TextFormat,
} from './text-format.ts'

/** A text that steps have changed, with the edits of each step for the text before that step. */
export interface ChangedText {
  readonly text: string
  readonly changes: readonly { readonly before: string; readonly edits: readonly Edit[] }[]
}

/**
 * Makes the steps, and reads the text after each: only what the step says may be different. So a
 * fault of an edit can never lose a part of somebody's file. Throws FormatError.
 */
export function changedText(format: TextFormat, text: string, steps: readonly Step[]): ChangedText {
  let current = text
  const changes: ChangedText['changes'][number][] = []
  for (const step of steps) {
    const value = format.read(current)
    const edits = format.edits(current, step)
    if (edits.length === 0) continue
    const next = applyEdits(current, edits)
    if (!isSafe(format, next, step, valueAfter(value, step))) {
      throw new FormatError('its form is one that this program cannot change safely')
    }
    changes.push({ before: current, edits })
    current = next
  }
  return { text: current, changes }
}

function isSafe(format: TextFormat, text: string, step: Step, expected: unknown): boolean {
  try {
    const value = format.read(text)
    if (isDeepStrictEqual(value, expected)) return true
    // TOML has no tables that are there only for what they hold.
    const outer = 'remove' in step ? step.remove.slice(0, -1) : []
    return isDeepStrictEqual(withoutEmpty(value, outer), withoutEmpty(expected, outer))
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}

/** The value without the object at a path if that is empty, and then without those around it. */
function withoutEmpty(value: unknown, path: Path): unknown {
  if (path.length === 0) return value
  const inner = valueAt(value, path)
  const isEmpty = isObject(inner) && Object.keys(inner).length === 0
  return withoutEmpty(isEmpty ? without(value, path) : value, path.slice(0, -1))
}

/** The value at a path, if there is one. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((outer, key) => {
    if (Array.isArray(outer)) return outer[Number(key)]
    return isObject(outer) && Object.hasOwn(outer, key) ? outer[key] : undefined
  }, value)

function valueAfter(value: unknown, step: Step): unknown {
  return 'set' in step ? withValue(value, step.set, step.value) : without(value, step.remove)
}

function withValue(value: unknown, [key, ...rest]: Path, leaf: unknown): unknown {
  if (key === undefined) return leaf
  if (typeof key === 'number') {
    const items: unknown[] = Array.isArray(value) ? [...value] : []
    items[key] = withValue(items[key], rest, leaf)
    return items
  }
  const outer = isObject(value) ? value : {}
  const entries = Object.entries(outer).filter(([name]) => name !== key)
  const inner = Object.hasOwn(outer, key) ? outer[key] : undefined
  return Object.fromEntries([...entries, [key, withValue(inner, rest, leaf)]])
}

function without(value: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined) return value
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.toSpliced(Number(key), 1)
    return value.map((item, at) => (at === key ? without(item, rest) : item))
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    if (name !== key) return [[name, inner] as const]
    return rest.length === 0 ? [] : [[name, without(inner, rest)] as const]
  })
  return Object.fromEntries(entries)
}
