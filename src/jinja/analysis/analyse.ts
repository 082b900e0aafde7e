import { AnalysisBudget } from '../analysis-budget.ts'
import { TemplateError, type TemplateErrorType } from '../error.ts'
import { filterNames } from '../filters/index.ts'
import { MAX_ANALYSIS_STEPS } from '../limits.ts'
import { globalNames } from '../render/globals.ts'
import { testNames } from '../render/tests.ts'
import { type ParseOptions, parse } from '../syntax/parse.ts'
import { compile } from './compile.ts'
import type { Compiled } from './compiled.ts'
import type { Vocabulary } from './vocabulary.ts'

export type AnalyseOptions = ParseOptions & {
  /** Steps that parsing and checking may take. */
  readonly maxSteps?: number
  /** Filters the platform has besides Jinja2's own and `datetime`. */
  readonly extraFilters?: readonly string[]
}

/** One finding. `variable` is set for `unknown_variable` only; lines count from 1. */
export type Issue = {
  readonly type: TemplateErrorType | 'unknown_variable'
  readonly message: string
  readonly line: number | null
  readonly variable: string | null
}

/** A variable the template reads: its dotted path and the line of its first use. */
export type Variable = { readonly path: string; readonly line: number }

export type Analysis = {
  readonly valid: boolean
  /** Empty, or the one error at which Jinja2 stops. */
  readonly errors: readonly Issue[]
  readonly warnings: readonly Issue[]
  /** In order of first use. Empty if the template cannot be parsed. */
  readonly variables: readonly Variable[]
}

/**
 * What Jinja2 3.1 would say of a template without rendering it, and which variables it reads.
 *
 * Errors are of type `syntax_error`, `undefined_tag`, `unknown_filter`, `unknown_test`,
 * `too_large` or `too_deep`. Warnings are unknown filters and tests inside an `if`: there Jinja2
 * fails only when rendering reaches them. Each name is told once, with the line of its first use, and
 * at most 100 of them (`MAX_WARNINGS`).
 *
 * A variable is one that is looked up in the context; names set by the template are left out
 * where they are certainly set. Never throws.
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

/** Parses and compiles; throws if it cannot be parsed, other errors are in the report. */
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
