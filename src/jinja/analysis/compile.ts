import type { AnalysisBudget } from '../limits.ts'
import { STEPS_PER_FRAME, STEPS_PER_STATEMENT } from '../limits.ts'
import { quote } from '../syntax/text.ts'
import type {
  Block,
  Body,
  Branch,
  CallBlock,
  For,
  Macro,
  Name,
  Statement,
  Template,
} from '../syntax/tree.ts'
import { eachName, eachNameSet, eachStatement } from '../syntax/walk.ts'
import { ExpressionChecker, type Frame, repeatedParameter } from './expressions.ts'
import type { BlockFrame, Compiled, LoopFrames, MacroFrame } from './names.ts'
import { collectNames, declareTarget, loopNames, macroNames, Names, readFilters } from './names.ts'
import { Report } from './report.ts'
import type { Vocabulary } from './vocabulary.ts'
import { type Special, SpecialNames } from './vocabulary.ts'

const macroSpecials: readonly Special[] = ['caller', 'kwargs', 'varargs']

/**
 * Walks the tree in the order of Jinja2's code generator and makes its checks. The order decides
 * which of several mistakes is reported, and which code is never looked at: the output of a child
 * template outside of blocks, or whatever follows a second `extends`.
 */
export function compile(
  template: Template,
  vocabulary: Vocabulary,
  budget: AnalysisBudget,
): Compiled {
  return new Compiler(template, vocabulary, budget).run()
}

class Compiler {
  private readonly template: Template
  private readonly budget: AnalysisBudget
  private readonly report: Report
  private readonly expressions: ExpressionChecker
  private readonly specials: SpecialNames
  private readonly blocks = new Map<string, BlockFrame>()
  private readonly loops = new Map<For, LoopFrames>()
  private readonly macros = new Map<Macro | CallBlock, MacroFrame>()
  private readonly scopes = new Map<Statement, Names>()
  private readonly checkedLoops = new Set<For>()
  private hasExtends = false
  /** Loops with a scoped block anywhere inside: such a block can read their `loop`. */
  private readonly scopedLoops = new Set<For>()
  /** True after an `extends` outside of any `if`: the rest is a child template. */
  private isChild = false
  private extendsSoFar = 0

  constructor(template: Template, vocabulary: Vocabulary, budget: AnalysisBudget) {
    this.template = template
    this.budget = budget
    this.specials = new SpecialNames(template)
    this.report = new Report(vocabulary, budget)
    this.expressions = new ExpressionChecker(this.report, vocabulary)
  }

  run(): Compiled {
    const { template } = this
    const blocks = this.survey()
    const root = Names.first(this.budget)
    const usesSelf = this.specials.uses(template.body, 'self')
    if (usesSelf) root.declareParameter('self')
    collectNames(root, template.body)
    const output = this.hasExtends
    this.visitBody(template.body, { names: root, soft: false, level: 'root', output })
    for (const block of blocks) this.visitBlockBody(block)
    const { loops, macros, scopes, report } = this
    return { template, root, usesSelf, blocks: this.blocks, loops, macros, scopes, report }
  }

  private fail(message: string, line: number): void {
    this.report.fail({ type: 'syntax_error', message, line })
  }

  /** Collects in one pass the facts that the walk needs in advance. */
  private survey(): Block[] {
    const { names } = this.template
    if (!names.has('block') && !names.has('extends')) return []
    const blocks = new Map<string, Block>()
    eachStatement(this.template.body, (statement) => {
      if (statement.kind === 'extends') this.hasExtends = true
      if (statement.kind !== 'block') return
      const { name, line } = statement
      if (blocks.has(name)) this.fail(`block ${quote(name)} defined twice`, line)
      else blocks.set(name, statement)
    })
    if (blocks.values().some(({ scoped }) => scoped)) this.findScopedLoops()
    return [...blocks.values()]
  }

  private findScopedLoops(): void {
    eachStatement(this.template.body, (loop) => {
      if (loop.kind !== 'for') return
      eachStatement([loop], (inner) => {
        this.budget.spend(1)
        if (inner.kind === 'block' && inner.scoped) this.scopedLoops.add(loop)
      })
    })
  }

  /** A block is a separate function: it sees the template's context, not its locals. */
  private visitBlockBody(block: Block): void {
    const used: readonly Special[] = ['self', 'super']
    const specials = used.filter((name) => this.specials.uses(block.body, name))
    const names = Names.first(this.budget)
    for (const name of specials) names.declareParameter(name)
    collectNames(names, block.body)
    this.blocks.set(block.name, { block, names, specials })
    this.visitBody(block.body, { names, soft: false, level: 'inner', output: false })
  }

  private visitBody(body: Body, frame: Frame): void {
    const wasLive = this.report.live
    for (const statement of body) this.visit(statement, frame)
    this.report.live = wasLive
  }

  private visit(statement: Statement, frame: Frame): void {
    this.budget.spend(STEPS_PER_STATEMENT)
    switch (statement.kind) {
      case 'output':
        this.visitOutput(statement, frame)
        break
      case 'for':
        this.visitFor(statement, frame)
        break
      case 'if':
        this.visitIf(statement, frame)
        break
      case 'set':
        this.expressions.visitTarget(statement.target, frame)
        this.expressions.visit(statement.value, frame)
        break
      case 'set_block': {
        const inner = this.scope(statement, frame, { output: false })
        this.visitBody(statement.body, inner)
        this.expressions.visitTarget(statement.target, frame)
        this.expressions.visitFilters(statement.filters, inner)
        break
      }
      case 'macro':
        this.visitMacro(statement, frame)
        break
      case 'call_block': {
        this.visitMacro(statement, frame)
        this.expressions.visit(statement.callee, frame)
        this.expressions.visitArguments(statement.call, frame, ['caller'])
        break
      }
      case 'filter_block': {
        const inner = this.scope(statement, frame, {})
        this.visitBody(statement.body, inner)
        this.expressions.visitFilters(statement.filters, inner)
        break
      }
      case 'with':
      case 'autoescape':
        this.visitScope(statement, frame)
        break
      case 'extends':
        this.visitExtends(statement, frame)
        break
      case 'include':
      case 'import':
        this.expressions.visit(statement.template, frame)
        break
      case 'block':
        return
    }
  }

  private visitOutput(statement: Extract<Statement, { kind: 'output' }>, frame: Frame): void {
    const wasLive = this.report.live
    if (frame.output && this.isChild) this.report.live = false
    for (const node of statement.nodes) {
      if (node.kind !== 'data') this.expressions.visit(node, frame)
    }
    this.report.live = wasLive
  }

  private visitFor(loop: For, frame: Frame): void {
    this.budget.spend(STEPS_PER_FRAME)
    const extended = this.isExtended(loop)
    const frames = loopNames(frame.names, loop, extended)
    this.loops.set(loop, frames)
    const inner = (names: Names): Frame => {
      return { names, soft: false, level: 'inner', output: frame.output }
    }
    if (loop.test !== null) this.expressions.visit(loop.test, inner(frames.test))
    this.checkLoopVariable(loop)
    if (!loop.recursive) this.expressions.visit(loop.iterable, frame)
    this.visitBody(loop.body, inner(frames.body))
    this.visitBody(loop.otherwise, inner(frames.otherwise))
    if (loop.recursive) this.expressions.visit(loop.iterable, frame)
  }

  private isExtended(loop: For): boolean {
    if (loop.recursive || this.specials.uses(loop.body, 'loop')) return true
    return this.scopedLoops.has(loop)
  }

  /**
   * Reports an assignment to `loop` inside a loop. The check of an outermost loop covers all loops
   * in it.
   */
  private checkLoopVariable(loop: For): void {
    if (this.checkedLoops.has(loop)) return
    eachStatement([loop], (statement) => {
      if (statement.kind === 'for') this.checkedLoops.add(statement)
      if (assigns(statement)) eachNameSet(statement.target, this.refuseLoop, null)
    })
  }

  private readonly refuseLoop = ({ name, line }: Name): void => {
    if (name !== 'loop') return
    this.fail("Can't assign to special loop variable in for-loop target", line)
  }

  private visitIf(statement: Extract<Statement, { kind: 'if' }>, frame: Frame): void {
    const level = frame.level === 'root' ? 'top' : frame.level
    const soft: Frame = { names: frame.names, soft: true, level, output: frame.output }
    this.visitBranch(statement.first, soft)
    for (const branch of statement.elifs) this.visitBranch(branch, soft)
    this.visitBody(statement.otherwise, soft)
  }

  private visitBranch({ test, body }: Branch, frame: Frame): void {
    this.expressions.visit(test, frame)
    this.visitBody(body, frame)
  }

  private visitMacro(macro: Macro | CallBlock, frame: Frame): void {
    this.budget.spend(STEPS_PER_FRAME)
    const { parameters, body, line } = macro
    const used = macroSpecials.filter((name) => this.specials.uses(body, name))
    const explicit = parameters.find(({ name }) => name === 'caller')
    if (used.includes('caller') && explicit?.fallback === null) {
      const message =
        'When defining macros or call blocks the special "caller" argument must be omitted ' +
        'or be given a default.'
      this.fail(message, line)
    }
    const specials = used.filter((special) => !parameters.some(({ name }) => name === special))
    const names = macroNames(frame.names, macro, specials)
    this.macros.set(macro, { names, specials })
    const repeated = repeatedParameter(parameters)
    if (repeated !== null) {
      const message = `duplicate argument ${quote(repeated)} in macro definition`
      this.report.failLate({ type: 'syntax_error', message, line })
    }
    const inner: Frame = { names, soft: false, level: 'inner', output: false }
    for (const { fallback } of parameters) {
      if (fallback !== null) this.expressions.visit(fallback, inner)
    }
    this.visitBody(body, inner)
  }

  private visitScope(
    statement: Extract<Statement, { kind: 'with' | 'autoescape' }>,
    frame: Frame,
  ): void {
    const inner = this.scope(statement, frame, {})
    if (statement.kind === 'autoescape') this.expressions.visit(statement.value, inner)
    else for (const { value } of statement.bindings) this.expressions.visit(value, frame)
    this.visitBody(statement.body, inner)
  }

  /** The frame of a statement whose body has its own names. */
  private scope(
    statement: Extract<Statement, { kind: 'set_block' | 'filter_block' | 'with' | 'autoescape' }>,
    outer: Frame,
    change: Partial<Frame>,
  ): Frame {
    const names = outer.names.inner()
    if (statement.kind === 'with') {
      for (const { target } of statement.bindings) declareTarget(names, target)
    }
    if (statement.kind === 'autoescape') eachName(statement.value, names)
    collectNames(names, statement.body)
    if (statement.kind === 'filter_block') readFilters(names, statement.filters)
    this.scopes.set(statement, names)
    return { ...outer, soft: false, level: 'inner', ...change, names }
  }

  private visitExtends(statement: Extract<Statement, { kind: 'extends' }>, frame: Frame): void {
    if (frame.level === 'inner') {
      this.fail('cannot use extend from a non top-level scope', statement.line)
    }
    if (this.isChild && this.extendsSoFar > 0) {
      // The code fails when rendered, so Jinja2 stops compiling the body here.
      this.report.live = false
    }
    this.expressions.visit(statement.template, frame)
    if (!this.report.live) return
    if (frame.level === 'root') this.isChild = true
    this.extendsSoFar++
  }
}

/**
 * True if a statement assigns to the target. Names that `import` and `macro` define do not count.
 */
function assigns(
  statement: Statement,
): statement is Extract<Statement, { kind: 'for' | 'set' | 'set_block' }> {
  return statement.kind === 'for' || statement.kind === 'set' || statement.kind === 'set_block'
}
