import type { AnalysisBudget } from '../analysis-budget.ts'
import { TemplateError, type TemplateErrorType } from '../error.ts'
import { MAX_WARNINGS } from '../limits.ts'
import { Paths } from './paths.ts'
import { explainUnknown, type Unknown, type Vocabulary } from './vocabulary.ts'

type Problem = {
  readonly type: TemplateErrorType
  readonly message: string
  readonly line: number
}

/**
 * What compiling found. Like Jinja2 it keeps one error, but it goes on reading variables. Errors
 * are made when asked for: a template may have as many mistakes as words.
 */
export class Report {
  /** False in code that Jinja2 does not compile: mistakes there are never noticed. */
  live = true
  private readonly vocabulary: Vocabulary
  /** The variables the caller must provide. */
  readonly reads: Paths
  /** Unknown filters and tests where Jinja2 only fails once it gets there. */
  private readonly deferred = new Map<string, Unknown>()
  private first: Problem | Unknown | null = null
  private late: Problem | null = null

  constructor(vocabulary: Vocabulary, budget: AnalysisBudget) {
    this.vocabulary = vocabulary
    this.reads = new Paths(budget)
  }

  /** The error Jinja2 would raise; those left to Python come after all of its own. */
  get error(): TemplateError | null {
    const found = this.first ?? this.late
    if (found === null) return null
    const message = 'message' in found ? found.message : explainUnknown(found, '', this.vocabulary)
    return new TemplateError(found.type, message, found.line)
  }

  get warnings(): readonly Problem[] {
    return Array.from(this.deferred.values(), (unknown) => {
      const { type, line } = unknown
      return { type, line, message: explainUnknown(unknown, ' found', this.vocabulary) }
    })
  }

  fail(problem: Problem | Unknown): void {
    if (this.live) this.first ??= problem
  }

  failLate(problem: Problem): void {
    if (this.live) this.late ??= problem
  }

  /** Notes an unknown filter or test that fails only where it is reached, once per name. */
  defer(unknown: Unknown): void {
    if (!this.live) return
    const key = `${unknown.type} ${unknown.name}`
    const known = this.deferred.get(key)
    const isNew = known === undefined && this.deferred.size < MAX_WARNINGS
    if (isNew || (known !== undefined && unknown.line < known.line)) this.deferred.set(key, unknown)
  }

  /** Forgets an error found while running `check`, if `pardons` says so. */
  unless(pardons: () => boolean, check: () => void): void {
    const { first } = this
    check()
    if (first === null && this.first !== null && pardons()) this.first = null
  }
}
