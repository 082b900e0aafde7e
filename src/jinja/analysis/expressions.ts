import { ConstantFolder } from '../render/evaluate.ts'
import { quote } from '../syntax/text.ts'
import type {
  Arguments,
  CallStep,
  Chain,
  Expr,
  FilterStep,
  Parameter,
  Step,
  Target,
  TestStep,
} from '../syntax/tree.ts'
import { eachArgument, eachChild, eachInStep } from '../syntax/walk.ts'
import type { Names } from './names.ts'
import type { Report } from './report.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Position of a piece of code in the template. */
export type Frame = {
  readonly names: Names
  /** True inside an `if`, where unknown filters and tests fail only when they are reached. */
  readonly soft: boolean
  /** `root` is the template itself, `top` is inside its ifs, `inner` is inside anything else. */
  readonly level: 'root' | 'top' | 'inner'
  /** True if output here is dropped when the template extends another. */
  readonly output: boolean
}

/** The same frame inside an `if`. */
function soften(frame: Frame): Frame {
  const { names, soft, level, output } = frame
  return soft ? frame : { names, soft: true, level, output }
}

const noSteps: readonly Step[] = []
const noNames: readonly string[] = []

/**
 * Checks that the filters and tests of expressions exist and that arguments are valid, and collects
 * the variables that are read.
 */
export class ExpressionChecker {
  private readonly report: Report
  private readonly vocabulary: Vocabulary
  private readonly constants = new ConstantFolder()

  constructor(report: Report, vocabulary: Vocabulary) {
    this.report = report
    this.vocabulary = vocabulary
  }

  visit(expr: Expr, frame: Frame): void {
    switch (expr.kind) {
      case 'const':
        break
      case 'name':
        this.read(expr.name, noSteps, expr.line, frame)
        break
      case 'chain':
        this.visitChain(expr, frame)
        break
      case 'conditional': {
        const soft = soften(frame)
        this.visit(expr.then, soft)
        this.visit(expr.test, soft)
        if (expr.otherwise !== null) this.visit(expr.otherwise, soft)
        break
      }
      case 'and':
      case 'or':
      case 'compare':
        // Jinja2 folds constants first, so the unknown filter in `true or x|nosuch` is no error.
        this.report.unless(
          () => this.constants.folds(expr),
          () => eachChild(expr, this.visitChild, frame),
        )
        break
      default:
        eachChild(expr, this.visitChild, frame)
        break
    }
  }

  private readonly visitChild = (expr: Expr, frame: Frame): void => this.visit(expr, frame)

  /** Assigning to a namespace's attribute reads the namespace's name. */
  visitTarget(target: Target, frame: Frame): void {
    if (target.kind !== 'attribute') return
    this.read(target.name, noSteps, target.line, frame)
  }

  /** The filters of a block, applied to its output. */
  visitFilters(filters: readonly FilterStep[], frame: Frame): void {
    this.visitSteps(filters, frame)
  }

  private visitChain({ head, steps }: Chain, frame: Frame): void {
    this.checkNames(steps, frame)
    if (head.kind === 'name') this.read(head.name, steps, head.line, frame)
    else this.visit(head, frame)
    this.visitStepArguments(steps, frame)
  }

  private visitSteps(steps: readonly Step[], frame: Frame): void {
    this.checkNames(steps, frame)
    this.visitStepArguments(steps, frame)
  }

  /** The last filter of a chain is the outermost node, so it is checked first. */
  private checkNames(steps: readonly Step[], frame: Frame): void {
    for (let at = steps.length - 1; at >= 0; at--) {
      const step = steps[at]
      if (step?.kind === 'filter' || step?.kind === 'test') this.checkName(step, frame)
    }
  }

  private visitStepArguments(steps: readonly Step[], frame: Frame): void {
    for (const step of steps) {
      if (step.kind === 'call' || step.kind === 'filter' || step.kind === 'test') {
        this.visitArguments(step, frame)
      } else {
        eachInStep(step, this.visitChild, frame)
      }
    }
  }

  visitArguments(step: CallStep | FilterStep | TestStep, frame: Frame, extra = noNames): void {
    eachArgument(step.args, this.visitChild, frame)
    const repeated = repeatedKeyword(step.args, extra)
    if (repeated === null) return
    const message = `keyword argument repeated: ${repeated}`
    this.report.failLate({ type: 'syntax_error', message, line: step.line })
  }

  private checkName({ kind, name, line }: FilterStep | TestStep, frame: Frame): void {
    const known = kind === 'filter' ? this.vocabulary.filters : this.vocabulary.tests
    if (known.has(name)) return
    const unknown = { type: `unknown_${kind}`, name, line } as const
    if (frame.soft) this.report.defer(unknown)
    else this.report.fail(unknown)
  }

  private read(root: string, steps: readonly Step[], line: number, { names }: Frame): void {
    if (!names.knows(root)) this.failUnknown(root, line)
    else if (names.readsContext(root) && !this.vocabulary.globals.has(root)) {
      this.report.reads.read(root, steps, line)
    }
  }

  /**
   * Reports the error of a Jinja2 bug: names that occur only in the arguments of a `set` block's
   * filter are not looked up, and the compiler fails.
   */
  private failUnknown(name: string, line: number): void {
    const message =
      `Tried to resolve a name to a reference that was unknown to the frame (${quote(name)}); ` +
      "Jinja2 does not support variables in the filter of a 'set' block unless they are also " +
      'used outside of it'
    this.report.fail({ type: 'syntax_error', message, line })
  }
}

/** Errors that Jinja2 leaves to Python's compiler. */

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
 * The keyword that is given twice, or null. If one keyword is a Python keyword, Jinja2 passes all
 * of them in a dict, which allows duplicates.
 */
function repeatedKeyword(args: Arguments, extra: readonly string[]): string | null {
  if (args.keywords.length + extra.length < 2) return null
  const names = [...args.keywords.map(({ name }) => name), ...extra]
  return names.some((name) => pythonKeywords.has(name)) ? null : firstRepeated(names)
}

/** The parameter declared twice, or null. */
export function repeatedParameter(parameters: readonly Parameter[]): string | null {
  if (parameters.length < 2) return null
  return firstRepeated(parameters.map(({ name }) => name))
}
