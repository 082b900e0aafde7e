import { TemplateError } from './error.ts'

/**
 * Caps that keep a hostile template from costing more than it should.
 *
 * Three of them are CPython's: Jinja2 compiles a template to Python, and what Python's compiler
 * refuses cannot be rendered. They are constants of its tokenizer and compiler (MAXLEVEL 200,
 * MAXINDENT 100, CO_MAXBLOCKS 20). Its recursion limit depends on the caller, so that one is not
 * copied.
 */

/** Longest template accepted, in UTF-16 code units. */
export const MAX_SOURCE_LENGTH = 2_097_152

/**
 * Steps for parsing and checking a template: up to 500,000 tokens, fewer where there are many
 * statements, variables or names in deep nests. A step stands for 100 ns or 32 bytes, so that this
 * is a fifth of a second and 64 MB. Who shares a process with others allows less (`maxSteps`).
 */
export const MAX_ANALYSIS_STEPS = 2_000_000

/** What a token costs, with the part of the tree that it becomes and the walks through that. */
export const STEPS_PER_TOKEN = 4

/** What a statement costs besides its tokens; a loop or macro more, for the frames it has. */
export const STEPS_PER_STATEMENT = 10
export const STEPS_PER_FRAME = 40

/** What a variable costs when it is first read: its path is kept. */
export const STEPS_PER_VARIABLE = 12

/** Most warnings of unknown filters and tests for one template, each about another name. */
export const MAX_WARNINGS = 100

/** Deepest nesting of brackets, calls, `not`, unary signs and inline ifs in one expression. */
export const MAX_EXPRESSION_DEPTH = 200

/** Deepest nesting of block tags (`if` in `for` in `macro`…): the indentation of the code. */
export const MAX_BLOCK_DEPTH = 98

/** Deepest nesting of `for` loops within one function: a template, block, macro or call. */
export const MAX_LOOP_DEPTH = 20

/** Most operations in a row (`a.b.c`, `x|f|g`, `a + b + c`): each is a pair of parentheses. */
export const MAX_CHAIN_LENGTH = 197

/** Deepest nesting of macro calls, recursive loops and `self.block()` calls while rendering. */
export const MAX_CALL_DEPTH = 100

/** Deepest nesting of a value that is printed, compared or passed in. */
export const MAX_VALUE_DEPTH = 100

/**
 * Steps one rendering may take: an expression, a loop turn, an element touched. A step stands for
 * 100 ns or 32 bytes, so that this is a tenth of a second and 32 MB.
 */
export const MAX_STEPS = 1_000_000

/** Longest string, and longest rendered output, in UTF-16 code units. */
export const MAX_OUTPUT_LENGTH = 1_048_576

/** Widest integer, in bits: `9 ** 9 ** 9` is refused before it is computed. */
export const MAX_INTEGER_BITS = 65_536

/** The sandbox's own rule: `range()` refuses to be longer (`MAX_RANGE` in `jinja2.sandbox`). */
export const MAX_RANGE = 100_000

/**
 * What parsing and checking one template may cost. A step pays for some 100 ns of work or for 32
 * bytes of memory, as when rendering.
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
