import type { Compiled } from '../analysis/names.ts'
import { isDefault } from '../render/evaluate.ts'
import type { Chain, CompareOperator, Expr, If, Name, Statement, Step } from '../syntax/tree.ts'
import { eachChild, eachInStep, eachStatement, visitParts } from '../syntax/walk.ts'

/** A constant of a template, as data for a rendering. */
export type Constant = null | boolean | string | number

/** A variable that a template reads. */
export interface ReadVariable {
  readonly path: readonly string[]
  /**
   * True if the output depends on it by more than printing: it is tested, compared, looped over,
   * assigned or has a default.
   */
  isDeciding: boolean
  /** Values near which a decision may change. */
  readonly constants: Set<Constant>
  /** True if it is compared or computed with numbers. */
  isNumber: boolean
  /** True if it is looped over. */
  isList: boolean
}

/** A branch with text of its own: that of an `if`, an inline if or a loop. */
export interface WrittenBranch {
  readonly decision: object
  readonly taken: number
  readonly line: number
}

export interface Decisions {
  /** By dotted path, in the order of the template. */
  readonly variables: ReadonlyMap<string, ReadVariable>
  readonly branches: readonly WrittenBranch[]
}

/** Filters that leave a value comparable with the constants behind them. */
const plainFilters = new Set(
  'abs capitalize d default float int lower round string title trim upper'.split(' '),
)
const numberFilters = new Set(['abs', 'float', 'int', 'round'])

/**
 * Returns the variables that a template reads and the branches that it has, without rendering it.
 */
export function decisionsOf({ template, report }: Compiled): Decisions {
  const finder = new DecisionFinder((root) => report.reads.has(root))
  eachStatement(template.body, (statement) => finder.addStatement(statement))
  return finder
}

class DecisionFinder implements Decisions {
  readonly variables = new Map<string, ReadVariable>()
  readonly branches: WrittenBranch[] = []
  private readonly isGiven: (root: string) => boolean

  constructor(isGiven: (root: string) => boolean) {
    this.isGiven = isGiven
  }

  /** Adds the reads of a statement itself. The statements inside it are added separately. */
  addStatement(statement: Statement): void {
    if (statement.kind === 'if') this.addIf(statement)
    if (statement.kind === 'for') {
      const list = this.variableIn(statement.iterable)
      if (list) list.isList = true
      // A loop runs (1) or does not (0).
      this.branches.push({ decision: statement, taken: 1, line: statement.line })
    }
    const isDeciding = statement.kind !== 'output'
    const read = (expr: Expr) => this.walk(expr, isDeciding)
    visitParts(statement, { read, write() {}, enter() {} })
  }

  private addIf(statement: If): void {
    const { first, elifs, otherwise } = statement
    const bodies = [first, ...elifs].map(({ line }) => line)
    if (otherwise.length > 0) bodies.push(otherwise[0]?.line ?? statement.line)
    for (const [taken, line] of bodies.entries()) {
      this.branches.push({ decision: statement, taken, line })
    }
  }

  private walk(expr: Expr, isDeciding: boolean): void {
    const isDecision = isDeciding || deciding.has(expr.kind)
    const variable = this.variableIn(expr)
    if (variable) {
      const steps = expr.kind === 'chain' ? expr.steps : []
      variable.isDeciding ||= isDeciding || steps.some(decides)
      variable.isNumber ||= steps.some(
        (step) => step.kind === 'filter' && numberFilters.has(step.name),
      )
      for (const step of steps) eachInStep(step, (inner) => this.walk(inner, isDecision), null)
      return
    }
    if (expr.kind === 'conditional') {
      this.branches.push({ decision: expr, taken: 0, line: expr.line })
      if (expr.otherwise) this.branches.push({ decision: expr, taken: 1, line: expr.line })
      this.walk(expr.test, true)
      this.walk(expr.then, isDeciding)
      if (expr.otherwise) this.walk(expr.otherwise, isDeciding)
      return
    }
    if (expr.kind === 'compare') this.addCompare(expr)
    if (expr.kind === 'binary') this.addBinary(expr)
    eachChild(expr, (inner) => this.walk(inner, isDecision), null)
  }

  private addCompare({ first, rest }: Extract<Expr, { kind: 'compare' }>): void {
    let left = first
    for (const { op, operand } of rest) {
      this.addConstants(left, constantsIn(operand), op)
      this.addConstants(operand, constantsIn(left), mirrored[op] ?? op)
      left = operand
    }
  }

  /** `days + 1` is arithmetic, whatever the type of the other operand. */
  private addBinary({ first, rest }: Extract<Expr, { kind: 'binary' }>): void {
    const operands = [first, ...rest.map(({ operand }) => operand)]
    if (!operands.some((one) => constantsIn(one).some((value) => typeof value === 'number'))) return
    for (const operand of operands) {
      const variable = this.variableIn(operand)
      if (variable) variable.isNumber = true
    }
  }

  private addConstants(expr: Expr, constants: readonly Constant[], op: CompareOperator): void {
    const variable = this.variableIn(expr)
    const steps = expr.kind === 'chain' ? expr.steps : []
    const isPlain = steps.every((step) => step.kind !== 'filter' || plainFilters.has(step.name))
    if (!variable || !isPlain) return
    for (const value of constants) {
      variable.constants.add(value)
      if (typeof value !== 'number') continue
      variable.isNumber = true
      const beside = besides[op]
      if (beside !== undefined) variable.constants.add(value + beside)
    }
  }

  /** The variable at the start of an expression; `undefined` for names that the template sets. */
  private variableIn(expr: Expr): ReadVariable | undefined {
    const head = expr.kind === 'chain' ? expr.head : expr
    if (head.kind !== 'name' || !this.isGiven(head.name)) return undefined
    const path = pathOf(head, expr.kind === 'chain' ? expr : undefined)
    const key = path.join('.')
    const known = this.variables.get(key)
    if (known) return known
    const none = { isDeciding: false, isNumber: false, isList: false }
    const variable: ReadVariable = { path, constants: new Set(), ...none }
    this.variables.set(key, variable)
    return variable
  }
}

/** Operators whose result decides something. */
const deciding: ReadonlySet<Expr['kind']> = new Set(['and', 'or', 'not', 'compare'])

const decides = (step: Step) => step.kind === 'test' || (step.kind === 'filter' && isDefault(step))

/** Offset from the constant to a value for which the comparison has the other result. */
const besides: Partial<Record<CompareOperator, number>> = { lt: -1, lteq: 1, gt: 1, gteq: -1 }
const mirrored: Partial<Record<CompareOperator, CompareOperator>> = {
  lt: 'gt',
  lteq: 'gteq',
  gt: 'lt',
  gteq: 'lteq',
}

/** A constant, or those of a list such as `['a', 'b']`. */
function constantsIn(expr: Expr): readonly Constant[] {
  switch (expr.kind) {
    case 'const':
      return [typeof expr.value === 'bigint' ? Number(expr.value) : expr.value]
    case 'neg': {
      const [value] = constantsIn(expr.operand)
      return typeof value === 'number' ? [-value] : []
    }
    case 'list':
    case 'tuple':
      return expr.items.flatMap(constantsIn)
    default:
      return []
  }
}

/** `order.items` of `order.items[0].name | upper`, and `order` of `order.get('id')`. */
function pathOf({ name }: Name, chain: Chain | undefined): readonly string[] {
  const path = [name]
  const steps = chain?.steps ?? []
  for (const [at, step] of steps.entries()) {
    const part = partOf(step)
    if (part === undefined || steps[at + 1]?.kind === 'call') break
    path.push(part)
  }
  return path
}

function partOf(step: Step): string | undefined {
  if (step.kind === 'attribute') return step.name
  if (step.kind !== 'item' || step.index.kind !== 'const') return undefined
  return typeof step.index.value === 'string' ? step.index.value : undefined
}
