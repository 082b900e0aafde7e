import { TemplateError } from './error.ts'

/**
 * Limits on the cost of a hostile template. Three of them are CPython's: Jinja2 compiles a template
 * to Python, and cannot render what Python's compiler refuses. They are constants of its tokenizer
 * and compiler (MAXLEVEL 200, MAXINDENT 100, CO_MAXBLOCKS 20). Its recursion limit is not copied,
 * because it depends on the caller.
 */

/** Maximum length of a template, UTF-16 code units. */
export const MAX_SOURCE_LENGTH = 2_097_152

/**
 * Maximum steps for parsing and checking a template: enough for 500,000 tokens, or for fewer with
 * many statements, variables or names in deep nests. A step stands for 100 ns or 32 bytes, so this
 * is 0.2 s and 64 MB. Callers that share their process with other work allow less (`maxSteps`).
 */
export const MAX_ANALYSIS_STEPS = 2_000_000

/** Steps for a token, including its part of the tree and the walks through that. */
export const STEPS_PER_TOKEN = 4

/** Steps for a statement besides its tokens. Loops and macros cost more, for their frames. */
export const STEPS_PER_STATEMENT = 10
export const STEPS_PER_FRAME = 40

/** Steps for the first read of a variable, whose path is stored. */
export const STEPS_PER_VARIABLE = 12

/** Maximum warnings about unknown filters and tests in one template, one per name. */
export const MAX_WARNINGS = 100

/** Deepest nesting of brackets, calls, `not`, unary signs and inline ifs in one expression. */
export const MAX_EXPRESSION_DEPTH = 200

/** Deepest nesting of block tags (`if` in `for` in `macro`…): the indentation of the code. */
export const MAX_BLOCK_DEPTH = 98

/** Deepest nesting of `for` loops within one function: a template, block, macro or call. */
export const MAX_LOOP_DEPTH = 20

/**
 * Maximum operations in a row (`a.b.c`, `x|f|g`, `a + b + c`): in Python, each is a pair of
 * parentheses.
 */
export const MAX_CHAIN_LENGTH = 197

/** Deepest nesting of macro calls, recursive loops and `self.block()` calls while rendering. */
export const MAX_CALL_DEPTH = 100

/** Deepest nesting of a value that is printed, compared or passed in. */
export const MAX_VALUE_DEPTH = 100

/**
 * Maximum steps of one rendering: an expression, a loop iteration, an element touched. A step
 * stands for 100 ns or 32 bytes, so this is 0.1 s and 32 MB.
 */
export const MAX_STEPS = 1_000_000

/** Longest string, and longest rendered output, in UTF-16 code units. */
export const MAX_OUTPUT_LENGTH = 1_048_576

/** Widest integer, in bits: `9 ** 9 ** 9` is refused before it is computed. */
export const MAX_INTEGER_BITS = 65_536

/** Maximum length of `range()` in Jinja2's sandbox (`MAX_RANGE` in `jinja2.sandbox`). */
export const MAX_RANGE = 100_000

/**
 * The step budget for parsing and checking one template. A step pays for about 100 ns of work or
 * for 32 bytes of memory, as when rendering.
 */
export class AnalysisBudget {
  private readonly steps: number
  private left: number

  constructor(steps: number) {
    this.steps = steps
    this.left = steps
  }

  spend(steps: number): void {
    this.left -= steps
    if (this.left >= 0) return
    const message = `the template takes more than ${this.steps} steps to check; make it shorter or less nested`
    throw new TemplateError('too_large', message, null)
  }
}
