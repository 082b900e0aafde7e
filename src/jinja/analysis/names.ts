import type { AnalysisBudget } from '../limits.ts'
import type {
  Block,
  Body,
  CallBlock,
  FilterStep,
  For,
  If,
  Macro,
  Name,
  Statement,
  Target,
  Template,
} from '../syntax/tree.ts'
import { eachArgument, eachInStep, eachName, eachNameSet } from '../syntax/walk.ts'
import type { Report } from './report.ts'
import type { Special } from './vocabulary.ts'

/**
 * Where a name's value comes from when a frame is entered:
 *
 * - `context`: looked up among the variables that the caller passed, and the globals
 * - `outer`: begins as a copy of the enclosing frame's variable
 * - `unset`: begins without a value
 * - `parameter`: given by the frame itself: loop targets, macro parameters, `loop`, `caller`…
 */
type Origin = 'context' | 'outer' | 'unset' | 'parameter'

const noOrigins: ReadonlyMap<string, Origin> = new Map()

/**
 * The names of one frame (Jinja2's word): a scope such as the template, a loop or a macro. They are
 * decided before anything runs: Jinja2 compiles them to Python locals, so a name has one origin for
 * the whole frame, not one that changes after `set`.
 *
 * The branches of an `if` work on overlays that share what was known before it. (Jinja2 copies all
 * symbols per branch, which is why it takes seconds on a template with thousands of ifs.)
 */
export class Names {
  private readonly budget: AnalysisBudget
  readonly parent: Names | null
  private readonly base: Names | null
  // Created on demand, because most branches and loops have no names of their own.
  private found: Map<string, Origin> | null = null
  private stored: Set<string> | null = null

  private constructor(budget: AnalysisBudget, parent: Names | null, base: Names | null) {
    this.budget = budget
    this.parent = parent
    this.base = base
  }

  /** Names of an outermost frame. */
  static first(budget: AnalysisBudget): Names {
    return new Names(budget, null, null)
  }

  /** Names of a frame inside this one. */
  inner(): Names {
    return new Names(this.budget, this, null)
  }

  /** Names that this frame defines or looks up itself. */
  get origins(): ReadonlyMap<string, Origin> {
    return this.found ?? noOrigins
  }

  private setOrigin(name: string, origin: Origin): void {
    this.found ??= new Map()
    this.found.set(name, origin)
  }

  private addStored(name: string): void {
    this.stored ??= new Set()
    this.stored.add(name)
  }

  /** This frame's own origin of a name, without enclosing frames. */
  own(name: string): Origin | undefined {
    for (let at: Names | null = this; at !== null; at = at.base) {
      const origin = at.found?.get(name)
      if (origin !== undefined) return origin
      if (at.base !== null) this.budget.spend(1)
    }
    return undefined
  }

  /** True if this frame or an enclosing one has the name. */
  knows(name: string): boolean {
    for (let at: Names | null = this; at !== null; at = at.parent) {
      if (at.own(name) !== undefined) return true
      this.budget.spend(1)
    }
    return false
  }

  private hasStored(name: string): boolean {
    for (let at: Names | null = this; at !== null; at = at.base) {
      if (at.stored?.has(name)) return true
      this.budget.spend(1)
    }
    return false
  }

  declareParameter(name: string): void {
    this.addStored(name)
    this.setOrigin(name, 'parameter')
  }

  load(name: string): void {
    if (!this.knows(name)) this.setOrigin(name, 'context')
  }

  store(name: string): void {
    this.addStored(name)
    if (this.own(name) === undefined) this.setOrigin(name, this.inherited(name) ?? 'unset')
  }

  private inherited(name: string): 'outer' | undefined {
    return this.parent?.knows(name) ? 'outer' : undefined
  }

  /** An overlay for one branch of an `if`; hand it to `merge` afterwards. */
  branch(): Names {
    return new Names(this.budget, this.parent, this)
  }

  /**
   * Takes over what the branches found. A name that not every branch sets keeps its outer value
   * where it is not set, so it is looked up. Jinja2 always counts three branches, body, elifs and
   * else (empty ones can be left out here), so `if` and `else` that both set a name still look it
   * up.
   */
  merge(branches: readonly Names[]): void {
    const lookedUp = this.partlyStored(branches)
    for (const branch of branches) {
      this.budget.spend(2 * (branch.origins.size + (branch.stored?.size ?? 0)))
      for (const [name, origin] of branch.origins) this.setOrigin(name, origin)
      for (const name of branch.stored ?? []) this.addStored(name)
    }
    for (const name of lookedUp) this.setOrigin(name, this.inherited(name) ?? 'context')
  }

  /** The names that some of the branches set, not set before and not set by all three. */
  private partlyStored(branches: readonly Names[]): readonly string[] {
    if (branches.every(({ stored }) => stored === null)) return []
    const counts = new Map<string, number>()
    for (const branch of branches) {
      for (const name of branch.stored ?? []) {
        if (!this.hasStored(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    }
    return [...counts].filter(([, count]) => count < 3).map(([name]) => name)
  }

  /** True if the name, used in this frame, may be a variable that the caller passed to `render`. */
  readsContext(name: string): boolean {
    let at: Names | null = this
    while (at !== null) {
      const origin = at.own(name)
      if (origin === 'context') return true
      if (origin !== undefined && origin !== 'outer') return false
      this.budget.spend(1)
      at = at.parent
    }
    return false
  }

  /** All names set here or in an enclosing frame, which scoped blocks and includes can see. */
  visible(): Set<string> {
    const names = new Set<string>()
    for (let at: Names | null = this; at !== null; at = at.parent) {
      for (const name of at.stored ?? []) names.add(name)
    }
    return names
  }
}

/** Builds the names of each kind of frame. What lies in a nested frame is left to that frame. */

function storeName({ name }: Name, names: Names): void {
  names.store(name)
}

function declareName({ name }: Name, names: Names): void {
  names.declareParameter(name)
}

function setNames(names: Names, target: Target): void {
  if (target.kind === 'attribute') names.load(target.name)
  eachNameSet(target, storeName, names)
}

export function declareTarget(names: Names, target: Target): void {
  eachNameSet(target, declareName, names)
}

export function readFilters(names: Names, filters: readonly FilterStep[]): void {
  for (const step of filters) eachInStep(step, eachName, names)
}

export function collectNames(names: Names, body: Body): void {
  for (const statement of body) collectStatement(names, statement)
}

function collectStatement(names: Names, statement: Statement): void {
  switch (statement.kind) {
    case 'output':
      for (const node of statement.nodes) if (node.kind !== 'data') eachName(node, names)
      return
    case 'for':
      eachName(statement.iterable, names)
      return
    case 'if':
      collectIf(names, statement)
      return
    case 'set':
      eachName(statement.value, names)
      setNames(names, statement.target)
      return
    case 'set_block':
      setNames(names, statement.target)
      return
    case 'macro':
      names.store(statement.name)
      return
    case 'call_block':
      eachName(statement.callee, names)
      eachArgument(statement.call.args, eachName, names)
      return
    case 'filter_block':
      readFilters(names, statement.filters)
      return
    case 'with':
      for (const { value } of statement.bindings) eachName(value, names)
      return
    case 'extends':
    case 'include':
      eachName(statement.template, names)
      return
    case 'import':
      eachName(statement.template, names)
      for (const name of statement.names) names.store(name)
      return
    case 'autoescape':
    case 'block':
      return
  }
}

function collectIf(names: Names, { first, elifs, otherwise }: If): void {
  eachName(first.test, names)
  const branches = [collectBranch(names, first.body)]
  if (elifs.length > 0) {
    const all = names.branch()
    for (const { test, body } of elifs) {
      eachName(test, all)
      // Jinja2 treats an elif as an if of its own, without elifs and else.
      all.merge([collectBranch(all, body)])
    }
    branches.push(all)
  }
  if (otherwise.length > 0) branches.push(collectBranch(names, otherwise))
  names.merge(branches)
}

function collectBranch(names: Names, body: Body): Names {
  const branch = names.branch()
  collectNames(branch, body)
  return branch
}

/** The three frames of a loop: its body, its filter (`if`) and its `else`, if it has these. */
export function loopNames(outer: Names, loop: For, extended: boolean): LoopFrames {
  const body = outer.inner()
  if (extended) body.declareParameter('loop')
  declareTarget(body, loop.target)
  collectNames(body, loop.body)
  const test = loop.test === null ? outer : outer.inner()
  if (loop.test !== null) {
    declareTarget(test, loop.target)
    eachName(loop.test, test)
  }
  const otherwise = loop.otherwise.length === 0 ? outer : outer.inner()
  collectNames(otherwise, loop.otherwise)
  return { body, test, otherwise, extended }
}

/** A macro's frame, with the special parameters its body turns out to use. */
export function macroNames(
  outer: Names,
  macro: Macro | CallBlock,
  specials: readonly string[],
): Names {
  const names = outer.inner()
  for (const { name } of macro.parameters) names.declareParameter(name)
  for (const name of specials) names.declareParameter(name)
  for (const { fallback } of macro.parameters) if (fallback !== null) eachName(fallback, names)
  collectNames(names, macro.body)
  return names
}

/** Frames of a loop; `extended` loops have a `loop` variable. */
export type LoopFrames = {
  readonly body: Names
  readonly test: Names
  readonly otherwise: Names
  readonly extended: boolean
}

export type MacroFrame = { readonly names: Names; readonly specials: readonly Special[] }

export type BlockFrame = {
  readonly block: Block
  readonly names: Names
  readonly specials: readonly Special[]
}

/**
 * A parsed template with the names of all its frames, on which analysis reports and rendering runs.
 */
export type Compiled = {
  readonly template: Template
  readonly root: Names
  readonly usesSelf: boolean
  readonly blocks: ReadonlyMap<string, BlockFrame>
  readonly loops: ReadonlyMap<For, LoopFrames>
  readonly macros: ReadonlyMap<Macro | CallBlock, MacroFrame>
  /** Frames of `with`, `set` blocks, `filter` blocks and `autoescape`. */
  readonly scopes: ReadonlyMap<Statement, Names>
  readonly report: Report
}
