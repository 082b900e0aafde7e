import type { Arguments, Parameter } from '../syntax/tree.ts'

/** Mistakes that Jinja2 leaves for Python to find in the code it generates. */

const pythonKeywords: ReadonlySet<string> = new Set([
  ...['False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class'],
  ...['continue', 'def', 'del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global'],
  ...['if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return'],
  ...['try', 'while', 'with', 'yield'],
])

function firstRepeated(names: readonly string[]): string | null {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  return null
}

/**
 * The keyword given twice, or null. Jinja2 passes all keywords through a dict if one of them is a
 * Python keyword, and a dict does not mind.
 */
export function repeatedKeyword(args: Arguments, extra: readonly string[]): string | null {
  if (args.keywords.length + extra.length < 2) return null
  const names = [...args.keywords.map(({ name }) => name), ...extra]
  return names.some((name) => pythonKeywords.has(name)) ? null : firstRepeated(names)
}

/** The parameter declared twice, or null. */
export function repeatedParameter(parameters: readonly Parameter[]): string | null {
  if (parameters.length < 2) return null
  return firstRepeated(parameters.map(({ name }) => name))
}
