import { TemplateError } from '../error.ts'
import { foldsToConstant } from '../render/constant.ts'
import { quote } from '../syntax/text.ts'
import type { CallStep, Chain, Expr, FilterStep, Step, Target, TestStep } from '../syntax/tree.ts'
import { argumentExpressions, childExpressions, stepExpressions } from '../syntax/walk.ts'
import type { Names } from './names.ts'
import { pathOf } from './paths.ts'
import { repeatedKeyword } from './python-rules.ts'
import type { Report } from './report.ts'
import { nearest, type Vocabulary } from './vocabulary.ts'

/** Where in the template a piece of code stands. */
export type Frame = {
  readonly names: Names
  /** Inside an `if`: unknown filters and tests only fail once they are reached. */
  readonly soft: boolean
  /** `root` is the template itself, `top` is inside its ifs, `inner` is inside anything else. */
  readonly level: 'root' | 'top' | 'inner'
  /** Whether output here is left out when the template extends another. */
  readonly output: boolean
}

/** Checks expressions: filters and tests exist, arguments make sense; collects what is read. */
export class ExpressionChecker {
  private readonly report: Report
  private readonly vocabulary: Vocabulary

  constructor(report: Report, vocabulary: Vocabulary) {
    this.report = report
    this.vocabulary = vocabulary
  }

  visit(expr: Expr, frame: Frame): void {
    switch (expr.kind) {
      case 'name':
        this.read(expr, frame)
        break
      case 'chain':
        this.visitChain(expr, frame)
        break
      case 'conditional': {
        const soft = { ...frame, soft: true }
        this.visitAll([expr.then, expr.test, ...otherwise(expr)], soft)
        break
      }
      case 'and':
      case 'or':
      case 'compare':
        // Jinja2 folds constants first: in `true or x|nosuch` it never meets the filter.
        this.report.unless(
          () => foldsToConstant(expr),
          () => this.visitAll(childExpressions(expr), frame),
        )
        break
      default:
        this.visitAll(childExpressions(expr), frame)
        break
    }
  }

  private visitAll(exprs: readonly Expr[], frame: Frame): void {
    for (const expr of exprs) this.visit(expr, frame)
  }

  /** The attribute of a namespace is set on what its name holds, so that name is read. */
  visitTarget(target: Target, frame: Frame): void {
    if (target.kind !== 'attribute') return
    this.read({ kind: 'name', name: target.name, line: target.line }, frame)
  }

  /** The filters of a block, applied to its output. */
  visitFilters(filters: readonly FilterStep[], frame: Frame): void {
    this.visitSteps(filters, frame)
  }

  private visitChain(chain: Chain, frame: Frame): void {
    this.checkNames(chain.steps, frame)
    if (chain.head.kind === 'name') this.read(chain, frame)
    else this.visit(chain.head, frame)
    this.visitStepArguments(chain.steps, frame)
  }

  private visitSteps(steps: readonly Step[], frame: Frame): void {
    this.checkNames(steps, frame)
    this.visitStepArguments(steps, frame)
  }

  /** The last filter of a chain is the outermost node, so it is checked first. */
  private checkNames(steps: readonly Step[], frame: Frame): void {
    for (const step of steps.toReversed()) {
      if (step.kind === 'filter' || step.kind === 'test') this.checkName(step, frame)
    }
  }

  private visitStepArguments(steps: readonly Step[], frame: Frame): void {
    for (const step of steps) {
      if (step.kind === 'call' || step.kind === 'filter' || step.kind === 'test') {
        this.visitArguments(step, frame)
      } else {
        this.visitAll(stepExpressions(step), frame)
      }
    }
  }

  visitArguments(
    step: CallStep | FilterStep | TestStep,
    frame: Frame,
    extra: readonly string[] = [],
  ): void {
    this.visitAll(argumentExpressions(step.args), frame)
    const repeated = repeatedKeyword(step.args, extra)
    if (repeated === null) return
    const message = `keyword argument repeated: ${repeated}`
    this.report.failLate(new TemplateError('syntax_error', message, step.line))
  }

  private checkName({ kind, name, line }: FilterStep | TestStep, frame: Frame): void {
    const known = this.vocabulary[`${kind}s`]
    if (known.has(name)) return
    const type = `unknown_${kind}` as const
    if (frame.soft) {
      if (this.report.live) this.report.deferred.push({ type, name, line })
      return
    }
    const message = `No ${kind} named ${quote(name)}.${suggestion(name, known)}`
    this.report.fail(new TemplateError(type, message, line))
  }

  private read(expr: Expr, frame: Frame): void {
    const found = pathOf(expr)
    if (found === null) return
    const { root } = found
    if (!frame.names.knows(root)) this.failUnknown(root, found.line)
    else if (frame.names.readsContext(root) && !this.vocabulary.globals.has(root)) {
      this.report.reads.push(found)
    }
  }

  /**
   * A flaw of Jinja2: it forgets to look up names that occur only in the arguments of a `set`
   * block's filter, and then its compiler trips over them.
   */
  private failUnknown(name: string, line: number): void {
    const message =
      `Tried to resolve a name to a reference that was unknown to the frame (${quote(name)}); ` +
      "Jinja2 does not support variables in the filter of a 'set' block unless they are also " +
      'used outside of it'
    this.report.fail(new TemplateError('syntax_error', message, line))
  }
}

function otherwise({ otherwise }: Extract<Expr, { kind: 'conditional' }>): readonly Expr[] {
  return otherwise === null ? [] : [otherwise]
}

/** ` Did you mean 'upper'?`, or nothing. */
export function suggestion(name: string, known: Iterable<string>): string {
  const near = nearest(name, known)
  return near === null ? '' : ` Did you mean ${quote(near)}?`
}
