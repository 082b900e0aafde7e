import { TemplateError, type TemplateErrorType } from '../error.ts'
import { MAX_CALL_DEPTH, MAX_INTEGER_BITS } from '../limits.ts'
import type { Chain, Name, Step } from '../syntax/tree.ts'
import { type Callee, type ReadCost, type Runtime, textOf, type Value } from './values.ts'

export type { Callee, ReadCost, Runtime }

type Budget = { readonly maxSteps: number; readonly maxLength: number }

/** Steps for a list, a dict or another object, without its contents. */
export const newContainer = 3

/** Steps for a call, to bind its arguments. */
export const newCall = 5

/** Steps for an entry of a dict, which takes far more memory than an item of a list. */
export const newEntry = 5

/** Observers of a rendering: of gaps in its output, and of the results of its decisions. */
export type Notes = {
  readonly gaps?: Gaps
  /**
   * Called for each decision with its result: the index of the branch of an `if`; 0 for the value
   * of an inline `if` and 1 for its alternative; the index of the operand that decides `and` and
   * `or`; 1 for a loop with items and 0 without; 1 if the filter `default` replaces a value.
   */
  readonly onBranch?: (decision: object, taken: number) => void
}

/** The runtime of one rendering. */
export class RenderRuntime implements Runtime {
  readonly filters: ReadonlyMap<string, Callee>
  readonly tests: ReadonlyMap<string, Callee>
  private readonly budget: Budget
  private readonly notes: Notes
  private steps = 0
  private depth = 0
  line = 1
  autoescape = false

  constructor(
    budget: Budget,
    filters: ReadonlyMap<string, Callee>,
    tests: ReadonlyMap<string, Callee>,
    notes: Notes = {},
  ) {
    this.budget = budget
    this.filters = filters
    this.tests = tests
    this.notes = notes
  }

  spend(steps = 1): void {
    this.steps += steps
    if (this.steps > this.budget.maxSteps) {
      this.fail(`rendering takes more than ${this.budget.maxSteps} steps`, 'limit_exceeded')
    }
  }

  allowLength(length: number): void {
    this.payForText(length, length)
  }

  payForText(added: number, length: number): void {
    if (length > this.budget.maxLength) {
      this.fail(`a string may have at most ${this.budget.maxLength} characters`, 'limit_exceeded')
    }
    this.spend(1 + (added >> 4))
  }

  read(text: string, cost: ReadCost = 'scan'): void {
    if (cost !== 'free') this.spend(cost === 'scan' ? text.length >> 3 : text.length)
  }

  readAll(values: Iterable<Value | undefined>, cost: ReadCost): void {
    for (const value of values) {
      const text = value === undefined ? null : textOf(value)
      if (text !== null) this.read(text, cost)
    }
  }

  allowBits(bits: number): void {
    if (bits > MAX_INTEGER_BITS) {
      this.fail(`an integer may have at most ${MAX_INTEGER_BITS} bits`, 'limit_exceeded')
    }
    this.spend(bits >> 5)
  }

  call<T>(run: () => T): T {
    if (this.depth >= MAX_CALL_DEPTH) this.fail('maximum recursion depth exceeded')
    this.depth++
    try {
      return run()
    } finally {
      this.depth--
    }
  }

  noteGap(source: Name | Chain, steps: number): void {
    this.notes.gaps?.add(source, steps)
  }

  noteBranch(decision: object, taken: number): void {
    this.notes.onBranch?.(decision, taken)
  }

  /** Steps taken so far. */
  get spent(): number {
    return this.steps
  }

  fail(message: string, type: TemplateErrorType = 'runtime_error'): never {
    throw new TemplateError(type, message, this.line)
  }
}

/** Maximum reported gaps, and maximum length of a path, characters. */
const maxGaps = 100
const longestPath = 200

/**
 * Gaps in a template's output: variables without a value, or with an empty text. Only names and
 * parts read of them count, not results of functions. Each path is reported once.
 */
export class Gaps {
  private readonly reported = new Set<string>()
  /** Expressions that were found to be gaps, because a loop finds them again. */
  private readonly seen = new Set<Name | Chain>()
  private readonly onGap: (path: string) => void

  constructor(onGap: (path: string) => void) {
    this.onGap = onGap
  }

  add(source: Name | Chain, steps: number): void {
    if (this.reported.size >= maxGaps || this.seen.has(source)) return
    this.seen.add(source)
    const path = pathOf(source, steps)
    if (path === null || this.reported.has(path)) return
    this.reported.add(path)
    this.onGap(path)
  }
}

/** `order.items[0]`; null if a call or a computed subscript is in it. */
function pathOf(source: Name | Chain, steps: number): string | null {
  const head = source.kind === 'chain' ? source.head : source
  if (head.kind !== 'name') return null
  let path = head.name
  const passed = source.kind === 'chain' ? source.steps.slice(0, steps) : []
  for (const step of passed) {
    const part = partOf(step)
    // A filter changes the value, but not its path.
    if (part === null && step.kind !== 'filter') return null
    if (path.length <= longestPath) path += part ?? ''
  }
  return path.length <= longestPath ? path : `${path.slice(0, longestPath)}…`
}

function partOf(step: Step): string | null {
  if (step.kind === 'attribute') return `.${step.name}`
  if (step.kind !== 'item' || step.index.kind !== 'const') return null
  const { value } = step.index
  if (typeof value === 'string') return `.${value}`
  return typeof value === 'bigint' ? `[${value}]` : null
}
