import { TemplateError, type TemplateErrorType } from '../error.ts'
import { MAX_CALL_DEPTH, MAX_INTEGER_BITS } from '../limits.ts'
import { type CallArguments, textOf, type Value } from './values.ts'

type Budget = { readonly maxSteps: number; readonly maxLength: number }

/** Steps for a list, a dict or another object, besides those for what is in it. */
export const newContainer = 3

/** Steps for a call: its arguments are put in order. */
export const newCall = 5

/** Steps for a dict's entry: it takes far more memory than an item of a list. */
export const newEntry = 5

/**
 * How an operation goes through text: `free` does not look at it, `scan` leaves it to V8's own
 * loops, `walk` does something for each character: calls back, or keeps the pieces in a list.
 */
export type Reading = 'free' | 'scan' | 'walk'

/** A filter or test applied by name. */
export type Callee = (runtime: Runtime, value: Value, args: CallArguments) => Value

/**
 * What one rendering carries around: its budget, the current line, and the functions it knows.
 *
 * One step pays for some 100 ns of work or for 32 bytes of memory, whichever is more. What was paid
 * for memory is never given back, so that the budget bounds both at once, whatever lives how long.
 */
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

  /** Pays for work; whatever touches n elements costs n at least. */
  spend(steps = 1): void {
    this.steps += steps
    if (this.steps > this.budget.maxSteps) {
      this.fail(`rendering takes more than ${this.budget.maxSteps} steps`, 'limit_exceeded')
    }
  }

  /** Refuses a string before it is made, and pays for it. */
  allowLength(length: number): void {
    this.payForText(length, length)
  }

  /** Pays for new text that makes a string as long as that; refuses it before it is made. */
  payForText(added: number, length: number): void {
    if (length > this.budget.maxLength) {
      this.fail(`a string may have at most ${this.budget.maxLength} characters`, 'limit_exceeded')
    }
    this.spend(1 + (added >> 4))
  }

  /** Pays for reading text. */
  read(text: string, reading: Reading = 'scan'): void {
    if (reading !== 'free') this.spend(reading === 'scan' ? text.length >> 3 : text.length)
  }

  /** Pays for what an operation reads of a value and its arguments: the texts among them. */
  readAll(values: Iterable<Value | undefined>, reading: Reading): void {
    for (const value of values) {
      const text = value === undefined ? null : textOf(value)
      if (text !== null) this.read(text, reading)
    }
  }

  /** Refuses an integer before it is computed, and pays for computing it. */
  allowBits(bits: number): void {
    if (bits > MAX_INTEGER_BITS) {
      this.fail(`an integer may have at most ${MAX_INTEGER_BITS} bits`, 'limit_exceeded')
    }
    this.spend(bits >> 5)
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
