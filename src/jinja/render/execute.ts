import type { Compiled, LoopFrames, Names } from '../analysis/names.ts'
import { iterate } from '../python/iterate.ts'
import type { Runtime } from '../python/runtime.ts'
import { escapeValue, TextBuilder, toText } from '../python/to-text.ts'
import {
  Callable,
  Generator as ItemFilter,
  isTrue,
  Markup,
  PyObject,
  Undefined,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import type { Body, CallBlock, Expr, FilterStep, For, Macro, Statement } from '../syntax/tree.ts'
import { applyFilter, callValue, evaluate, evaluateArguments } from './evaluate.ts'
import { LoopContext } from './loop.ts'
import { MacroValue } from './macro.ts'
import { assign, assignName, type Context, type Place, Scope } from './scope.ts'

/** Steps to create a loop or a macro, including the values that it keeps alive. */
const costs = { loop: 8, macro: 12 }

/** Runs a template's statements. */
export class Executor {
  private readonly runtime: Runtime
  private readonly compiled: Compiled

  constructor(runtime: Runtime, compiled: Compiled) {
    this.runtime = runtime
    this.compiled = compiled
  }

  /** Renders the whole template. */
  run(context: Context): string {
    const { root, usesSelf, template } = this.compiled
    const scope = new Scope(root, context, null)
    if (usesSelf) scope.assign('self', this.reference(context))
    const out = new TextBuilder(this.runtime)
    this.runBody(template.body, { scope, out, top: true })
    return out.text()
  }

  private reference(context: Context): TemplateReference {
    this.runtime.spend(this.compiled.blocks.size)
    const names = new Set(this.compiled.blocks.keys())
    return new TemplateReference(names, (name) => this.renderBlock(name, context))
  }

  private renderBlock(name: string, context: Context): Value {
    const frame = this.compiled.blocks.get(name)
    if (frame === undefined) return this.runtime.fail(`there is no block called ${quote(name)}`)
    return this.runtime.call(() => {
      const scope = new Scope(frame.names, context, null)
      if (frame.specials.includes('self')) scope.assign('self', this.reference(context))
      // Without inheritance there is never a parent block.
      const noParent = new Undefined(`there is no parent block called ${quote(name)}.`)
      if (frame.specials.includes('super')) scope.assign('super', noParent)
      return this.capture(frame.block.body, scope)
    })
  }

  /** A body's output as a value; markup if output is escaped, because it already is. */
  private capture(body: Body, scope: Scope): Value {
    const out = new TextBuilder(this.runtime)
    this.runBody(body, { scope, out, top: false })
    return this.runtime.autoescape ? new Markup(out.text()) : out.text()
  }

  private runBody(body: Body, place: Place): void {
    for (const statement of body) {
      this.runtime.spend()
      this.runtime.line = statement.line
      this.runStatement(statement, place)
    }
  }

  private runStatement(statement: Statement, place: Place): void {
    const { scope, out } = place
    switch (statement.kind) {
      case 'output':
        this.runOutput(statement, place)
        break
      case 'for':
        this.runFor(statement, place)
        break
      case 'if':
        this.runIf(statement, place)
        break
      case 'set':
        assign(
          this.runtime,
          statement.target,
          evaluate(this.runtime, statement.value, scope),
          place,
        )
        break
      case 'set_block': {
        const inner = scope.inner(this.names(statement))
        const text = this.filtered(statement.filters, this.capture(statement.body, inner), inner)
        assign(this.runtime, statement.target, text, place)
        break
      }
      case 'macro':
        assignName(statement.name, this.makeMacro(statement, scope), place)
        break
      case 'call_block':
        this.runCallBlock(statement, place)
        break
      case 'filter_block': {
        const inner = scope.inner(this.names(statement))
        const value = this.filtered(statement.filters, this.capture(statement.body, inner), inner)
        out.write(toText(this.runtime, value))
        break
      }
      case 'with':
        this.runWith(statement, place)
        break
      case 'autoescape':
        this.runAutoescape(statement, place)
        break
      case 'block':
        this.runBlock(statement, place)
        break
      case 'extends':
      case 'include':
      case 'import':
        this.runtime.fail('TypeError: no loader for this environment specified')
        break
    }
  }

  private names(statement: Statement): Names {
    const names = this.compiled.scopes.get(statement)
    return names ?? this.runtime.fail(`no frame for a '${statement.kind}' statement`)
  }

  private runOutput(
    { nodes }: Extract<Statement, { kind: 'output' }>,
    { scope, out }: Place,
  ): void {
    for (const node of nodes) {
      this.runtime.line = node.line
      if (node.kind === 'data') out.write(node.text)
      else {
        const value = evaluate(this.runtime, node, scope)
        if (value === '') this.noteEmpty(node)
        out.write(
          this.runtime.autoescape
            ? escapeValue(this.runtime, value).text
            : toText(this.runtime, value),
        )
      }
    }
  }

  /** A variable with an empty text is a gap too, unless the template itself set it. */
  private noteEmpty(expr: Expr): void {
    const [head, steps] = expr.kind === 'chain' ? [expr.head, expr.steps.length] : [expr, 0]
    if (head.kind !== 'name' || !this.compiled.report.reads.has(head.name)) return
    if (expr.kind === 'name' || expr.kind === 'chain') this.runtime.noteGap(expr, steps)
  }

  private runIf(statement: Extract<Statement, { kind: 'if' }>, place: Place): void {
    const branches = [statement.first, ...statement.elifs]
    for (const [at, { test, body }] of branches.entries()) {
      if (isTrue(evaluate(this.runtime, test, place.scope))) {
        this.runtime.noteBranch(statement, at)
        this.runBody(body, place)
        return
      }
    }
    this.runtime.noteBranch(statement, branches.length)
    this.runBody(statement.otherwise, place)
  }

  private runFor(loop: For, place: Place): void {
    const frames = this.compiled.loops.get(loop)
    if (frames === undefined) {
      this.runtime.fail('no frame for a loop')
      return
    }
    const items = evaluate(this.runtime, loop.iterable, place.scope)
    this.runLoop(loop, frames, items, place, 0)
  }

  private runLoop(loop: For, frames: LoopFrames, items: Value, place: Place, depth: number): void {
    const filtered = loop.test === null ? items : this.filterItems(loop, frames, items, place.scope)
    const recurse = loop.recursive ? this.recursion(loop, frames, place.scope) : null
    this.runtime.spend(costs.loop)
    const context = new LoopContext(this.runtime, filtered, recurse, depth)
    let rendered = false
    for (let item = context.next(); item !== undefined; item = context.next()) {
      this.runtime.spend()
      rendered = true
      const scope = place.scope.inner(frames.body)
      const inner = { scope, out: place.out, top: false }
      if (frames.extended) scope.assign('loop', context)
      assign(this.runtime, loop.target, item, inner)
      this.runBody(loop.body, inner)
      this.runtime.line = loop.line
    }
    this.runtime.noteBranch(loop, rendered ? 1 : 0)
    if (rendered || loop.otherwise.length === 0) return
    const scope = place.scope.inner(frames.otherwise)
    this.runBody(loop.otherwise, { scope, out: place.out, top: false })
  }

  private recursion(loop: For, frames: LoopFrames, scope: Scope) {
    return (items: Value, depth: number): Value =>
      this.runtime.call(() => {
        const out = new TextBuilder(this.runtime)
        this.runLoop(loop, frames, items, { scope, out, top: false }, depth)
        return this.runtime.autoescape ? new Markup(out.text()) : out.text()
      })
  }

  /** The items that pass the loop's `if`, as a generator, so that `loop.length` can count them. */
  private filterItems(loop: For, frames: LoopFrames, items: Value, outer: Scope): Value {
    return new ItemFilter(this.passing(loop, frames, iterate(this.runtime, items), outer))
  }

  private *passing(
    { test, target }: For,
    frames: LoopFrames,
    items: Iterator<Value>,
    outer: Scope,
  ): Generator<Value> {
    for (let next = items.next(); !next.done; next = items.next()) {
      this.runtime.spend()
      const scope = outer.inner(frames.test)
      assign(this.runtime, target, next.value, {
        scope,
        out: new TextBuilder(this.runtime),
        top: false,
      })
      if (test === null || isTrue(evaluate(this.runtime, test, scope))) yield next.value
    }
  }

  private makeMacro(macro: Macro | CallBlock, scope: Scope): MacroValue {
    const { parameters, body } = macro
    const frame = this.compiled.macros.get(macro)
    if (frame === undefined) return this.runtime.fail('no frame for a macro')
    this.runtime.spend(costs.macro + parameters.length)
    const name = macro.kind === 'macro' ? macro.name : null
    return new MacroValue(name, parameters, frame, scope, (inner, missing) => {
      for (const { name, fallback } of parameters) {
        if (!missing.has(name)) continue
        const notGiven = new Undefined(`parameter ${quote(name)} was not provided`)
        inner.assign(name, fallback === null ? notGiven : evaluate(this.runtime, fallback, inner))
      }
      const { line } = this.runtime
      const result = this.capture(body, inner)
      this.runtime.line = line
      return result
    })
  }

  private runCallBlock(block: CallBlock, { scope, out }: Place): void {
    const caller = this.makeMacro(block, scope)
    const callee = evaluate(this.runtime, block.callee, scope)
    const { positional, keywords } = evaluateArguments(this.runtime, block.call, scope)
    const args = { positional, keywords: new Map([...keywords, ['caller', caller]]) }
    out.write(toText(this.runtime, callValue(this.runtime, callee, args)))
  }

  private filtered(filters: readonly FilterStep[], value: Value, scope: Scope): Value {
    return filters.reduce((text, filter) => applyFilter(this.runtime, text, filter, scope), value)
  }

  private runWith(statement: Extract<Statement, { kind: 'with' }>, place: Place): void {
    const scope = place.scope.inner(this.names(statement))
    const inner = { scope, out: place.out, top: false }
    for (const { target, value } of statement.bindings) {
      assign(this.runtime, target, evaluate(this.runtime, value, place.scope), inner)
    }
    this.runBody(statement.body, inner)
  }

  private runAutoescape(statement: Extract<Statement, { kind: 'autoescape' }>, place: Place): void {
    const scope = place.scope.inner(this.names(statement))
    const before = this.runtime.autoescape
    this.runtime.autoescape = isTrue(evaluate(this.runtime, statement.value, scope))
    this.runBody(statement.body, { scope, out: place.out, top: false })
    this.runtime.autoescape = before
  }

  private runBlock(
    { name, scoped, required }: Extract<Statement, { kind: 'block' }>,
    { scope, out }: Place,
  ): void {
    if (required) this.runtime.fail(`Required block ${quote(name)} not found`)
    const context = scoped ? scope.context.derive(scope.visible()) : scope.context
    out.write(toText(this.runtime, this.renderBlock(name, context)))
  }
}

/** `self`: `self.name()` renders the block of that name again. */
class TemplateReference extends PyObject {
  readonly typeName = 'jinja2.runtime.TemplateReference'
  private readonly blocks: ReadonlySet<string>
  private readonly render: (name: string) => Value

  constructor(blocks: ReadonlySet<string>, render: (name: string) => Value) {
    super()
    this.blocks = blocks
    this.render = render
  }

  /** Blocks are items, not attributes, so their names may start with an underscore. */
  override item(key: Value): Value | undefined {
    if (typeof key !== 'string' || !this.blocks.has(key)) return undefined
    return new Callable(key, () => this.render(key))
  }

  override repr(): string {
    return '<TemplateReference None>'
  }
}
