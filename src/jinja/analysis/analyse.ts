import { TemplateError, type TemplateErrorType } from '../error.ts'
import { filterNames } from '../filters/index.ts'
import { AnalysisBudget, MAX_ANALYSIS_STEPS } from '../limits.ts'
import { globalNames } from '../render/globals.ts'
import { testNames } from '../render/tests.ts'
import { type ParseOptions, parse } from '../syntax/parse.ts'
import { quote } from '../syntax/text.ts'
import { compile } from './compile.ts'
import type { Compiled } from './names.ts'
import type { Vocabulary } from './vocabulary.ts'

export type AnalyseOptions = ParseOptions & {
  /** Steps that parsing and checking may take. */
  readonly maxSteps?: number
  /** Filters the platform has besides Jinja2's own and `datetime`. */
  readonly extraFilters?: readonly string[]
}

/** One finding. Only `unknown_variable` has `variable`. Lines count from 1. */
type Issue = {
  readonly type: TemplateErrorType | 'unknown_variable'
  readonly message: string
  readonly line: number | null
  readonly variable: string | null
}

/** A variable the template reads: its dotted path and the line of its first use. */
type Variable = { readonly path: string; readonly line: number }

type Analysis = {
  readonly valid: boolean
  /** Empty, or the one error at which Jinja2 stops. */
  readonly errors: readonly Issue[]
  readonly warnings: readonly Issue[]
  /** In order of first use. Empty if the template cannot be parsed. */
  readonly variables: readonly Variable[]
}

/**
 * Reports the errors that Jinja2 3.1 would raise before rendering a template, and the variables
 * that the template reads. Errors are of type `syntax_error`, `undefined_tag`, `unknown_filter`,
 * `unknown_test`, `too_large` or `too_deep`. Warnings are unknown filters and tests inside an `if`:
 * there, Jinja2 fails only when rendering reaches them. Each name is reported once, with the line
 * of its first use, and at most 100 of them (`MAX_WARNINGS`). A variable is a name that is looked
 * up in the context; names set by the template are omitted where they are certainly set. Never
 * throws.
 */
export function analyse(source: string, options: AnalyseOptions = {}): Analysis {
  try {
    const compiled = compileSource(source, options)
    const { error, warnings, reads } = compiled.report
    const errors = error === null ? [] : [toIssue(error)]
    return {
      valid: error === null,
      errors,
      warnings: warnings.map(toIssue),
      variables: reads.lines,
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { valid: false, errors: [toIssue(error)], warnings: [], variables: [] }
  }
}

/**
 * Parses and compiles a template. Throws TemplateError if it cannot be parsed; other errors are in
 * `report`.
 */
export function compileSource(source: string, options: AnalyseOptions = {}): Compiled {
  const budget = new AnalysisBudget(options.maxSteps ?? MAX_ANALYSIS_STEPS)
  return compile(parse(source, budget, options), vocabularyFor(options), budget)
}

function vocabularyFor({ extraFilters = [] }: AnalyseOptions): Vocabulary {
  const filters =
    extraFilters.length === 0 ? filterNames : new Set([...filterNames, ...extraFilters])
  return { filters, tests: testNames, globals: globalNames }
}

function toIssue({ type, message, line }: Omit<Issue, 'variable'>): Issue {
  return { type, message, line, variable: null }
}

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

/** Prefixes of the entries with a `*`, sorted, without those that start with another prefix. */
function shortestPrefixes(allowed: readonly string[]): readonly string[] {
  const all = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  const shortest: string[] = []
  for (const prefix of all.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))) {
    const last = shortest.at(-1)
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix)
  }
  return shortest
}

/**
 * Prefixes are sorted, and none starts with another, so only the last one that is not after the
 * path can match.
 */
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
  /** Lengths of all entries, so that only parts of a path of these lengths are looked up. */
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
