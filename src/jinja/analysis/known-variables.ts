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
  const longest = Math.max(0, ...allowed.map((name) => name.length))
  const prefixes = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return variables
    .filter(({ path }) => !isAllowed(path, exact, prefixes, longest))
    .map(({ path, line }) => ({
      type: 'unknown_variable',
      message: `Unknown variable ${quote(path)}.`,
      line,
      variable: path,
    }))
}

function isAllowed(
  path: string,
  exact: ReadonlySet<string>,
  prefixes: readonly string[],
  longest: number,
): boolean {
  if (prefixes.some((prefix) => path.startsWith(prefix))) return true
  if (exact.has(path)) return true
  for (let end = Math.min(path.length - 1, longest); end > 0; end--) {
    const char = path[end]
    if ((char === '.' || char === '[') && exact.has(path.slice(0, end))) return true
  }
  return false
}
