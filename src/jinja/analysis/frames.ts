import type {
  Body,
  CallBlock,
  Expr,
  For,
  If,
  Macro,
  Parameter,
  Statement,
  Target,
} from '../syntax/tree.ts'
import { argumentExpressions, eachName, namesSet, stepExpressions } from '../syntax/walk.ts'
import { Names } from './names.ts'

/** Builds the names of each kind of frame. What lies in a nested frame is left to that frame. */

export function readNames(names: Names, exprs: readonly Expr[]): void {
  for (const expr of exprs) eachName(expr, ({ name }) => names.load(name))
}

function setNames(names: Names, target: Target): void {
  if (target.kind === 'attribute') names.load(target.name)
  for (const { name } of namesSet(target)) names.store(name)
}

export function declareTarget(names: Names, target: Target): void {
  for (const { name } of namesSet(target)) names.declareParameter(name)
}

export function collectNames(names: Names, body: Body): void {
  for (const statement of body) collectStatement(names, statement)
}

function collectStatement(names: Names, statement: Statement): void {
  switch (statement.kind) {
    case 'output':
      for (const node of statement.nodes) if (node.kind !== 'data') readNames(names, [node])
      return
    case 'for':
      readNames(names, [statement.iterable])
      return
    case 'if':
      collectIf(names, statement)
      return
    case 'set':
      readNames(names, [statement.value])
      setNames(names, statement.target)
      return
    case 'set_block':
      setNames(names, statement.target)
      return
    case 'macro':
      names.store(statement.name)
      return
    case 'call_block':
      readNames(names, [statement.callee, ...argumentExpressions(statement.call.args)])
      return
    case 'filter_block':
      readNames(names, statement.filters.flatMap(stepExpressions))
      return
    case 'with':
      readNames(
        names,
        statement.bindings.map(({ value }) => value),
      )
      return
    case 'extends':
    case 'include':
      readNames(names, [statement.template])
      return
    case 'import':
      readNames(names, [statement.template])
      for (const name of statement.names) names.store(name)
      return
    case 'autoescape':
    case 'block':
      return
  }
}

function collectIf(names: Names, { first, elifs, otherwise }: If): void {
  readNames(names, [first.test])
  const branches = [collectBranch(names, first.body)]
  if (elifs.length > 0) {
    const all = names.branch()
    for (const { test, body } of elifs) {
      readNames(all, [test])
      // To Jinja2 an elif is an if of its own, without elifs and else.
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

/** The three frames of a loop: its body, its filter (`if`) and its `else`. */
export function loopNames(outer: Names, loop: For, extended: boolean) {
  const body = new Names(outer)
  if (extended) body.declareParameter('loop')
  declareTarget(body, loop.target)
  collectNames(body, loop.body)
  const test = new Names(outer)
  declareTarget(test, loop.target)
  if (loop.test !== null) readNames(test, [loop.test])
  const otherwise = new Names(outer)
  collectNames(otherwise, loop.otherwise)
  return { body, test, otherwise }
}

/** A macro's frame, with the special parameters its body turns out to use. */
export function macroNames(
  outer: Names,
  macro: Macro | CallBlock,
  specials: readonly string[],
): Names {
  const names = new Names(outer)
  for (const { name } of [...macro.parameters, ...specials.map((name) => ({ name }))]) {
    names.declareParameter(name)
  }
  readNames(names, macro.parameters.flatMap(fallbacks))
  collectNames(names, macro.body)
  return names
}

function fallbacks({ fallback }: Parameter): readonly Expr[] {
  return fallback === null ? [] : [fallback]
}
