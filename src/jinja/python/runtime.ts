import { TemplateError, type TemplateErrorType } from '../error.ts'
import { MAX_CALL_DEPTH, MAX_INTEGER_BITS } from '../limits.ts'
import type { CallArguments, Value } from './values.ts'

type Budget = { readonly maxSteps: number; readonly maxLength: number }

/** A filter or test applied by name. */
export type Callee = (runtime: Runtime, value: Value, args: CallArguments) => Value

/** What one rendering carries around: its budget, the current line, and the functions it knows. */
export class Runtime {
  readonly filters: ReadonlyMap<string, Callee>
  readonly tests: ReadonlyMap<string, Callee>
  private readonly budget: Budget
  private steps = 0
  private depth = 0
  /** The line of the statement being rendered, for errors. */
  line = 1
  /** Whether output is escaped: off by default, changed by `{% autoescape %}`. */
  autoescape = false

  constructor(
    budget: Budget,
    filters: ReadonlyMap<string, Callee>,
    tests: ReadonlyMap<string, Callee>,
  ) {
    this.budget = budget
    this.filters = filters
    this.tests = tests
  }

  /** Pays for work; whatever touches n elements costs n. */
  spend(steps = 1): void {
    this.steps += steps
    if (this.steps > this.budget.maxSteps) {
      this.fail(`rendering takes more than ${this.budget.maxSteps} steps`, 'limit_exceeded')
    }
  }

  /** Refuses a string before it is made; making one costs a step per kilobyte. */
  allowLength(length: number): void {
    if (length > this.budget.maxLength) {
      this.fail(`a string may have at most ${this.budget.maxLength} characters`, 'limit_exceeded')
    }
    this.spend(length >> 10)
  }

  /** Refuses an integer before it is computed. */
  allowBits(bits: number): void {
    if (bits > MAX_INTEGER_BITS) {
      this.fail(`an integer may have at most ${MAX_INTEGER_BITS} bits`, 'limit_exceeded')
    }
  }

  /** Runs a macro, a recursive loop or a block, which may call itself. */
  call<T>(run: () => T): T {
    if (this.depth >= MAX_CALL_DEPTH) this.fail('maximum recursion depth exceeded')
    this.depth++
    try {
      return run()
    } finally {
      this.depth--
    }
  }

  fail(message: string, type: TemplateErrorType = 'runtime_error'): never {
    throw new TemplateError(type, message, this.line)
  }
}
