import type {
  Body,
  CallBlock,
  FilterStep,
  For,
  If,
  Macro,
  Name,
  Statement,
  Target,
} from '../syntax/tree.ts'
import { eachArgument, eachInStep, eachName, eachNameSet } from '../syntax/walk.ts'
import type { LoopFrames } from './compiled.ts'
import type { Names } from './names.ts'

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
