import { quote } from '../syntax/text.ts'
import type { Issue, Variable } from './analyse.ts'

/**
 * Warnings for the variables that are not among the allowed ones. A variable is allowed if its
 * path or the start of it is: `order` allows `order.id` and `order[0]`. An entry that ends in `*`
 * allows every path that starts so: `dyn_*`.
 */
export function unknownVariables(
  variables: readonly Variable[],
  allowed: readonly string[],
): readonly Issue[] {
  const exact = new Set(allowed)
  const lengths = new Set(allowed.map(({ length }) => length))
  const prefixes = shortestPrefixes(allowed)
  return variables
    .filter(({ path }) => !isAllowed(path, { exact, prefixes, lengths }))
    .map(({ path, line }) => ({
      type: 'unknown_variable',
      message: `Unknown variable ${quote(path)}.`,
      line,
      variable: path,
    }))
}

/** What the entries with a `*` begin with, in order, without those that begin with another. */
function shortestPrefixes(allowed: readonly string[]): readonly string[] {
  const all = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  const shortest: string[] = []
  for (const prefix of all.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))) {
    const last = shortest.at(-1)
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix)
  }
  return shortest
}

/** Only the last prefix that does not come after the path in that order can be its beginning. */
function hasPrefix(path: string, prefixes: readonly string[]): boolean {
  let low = 0
  let high = prefixes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((prefixes[middle] ?? '') <= path) low = middle + 1
    else high = middle
  }
  const last = prefixes[low - 1]
  return last !== undefined && path.startsWith(last)
}

interface Allowed {
  readonly exact: ReadonlySet<string>
  readonly prefixes: readonly string[]
  /** How long the entries are: beginnings of other lengths need not be looked up. */
  readonly lengths: ReadonlySet<number>
}

function isAllowed(path: string, { exact, prefixes, lengths }: Allowed): boolean {
  if (hasPrefix(path, prefixes)) return true
  if (exact.has(path)) return true
  for (let end = path.length - 1; end > 0; end--) {
    const char = path[end]
    if (char !== '.' && char !== '[') continue
    if (lengths.has(end) && exact.has(path.slice(0, end))) return true
  }
  return false
}
