import type {
  Arguments,
  Body,
  Expr,
  FilterStep,
  Name,
  Parameter,
  Statement,
  Step,
  Target,
} from './tree.ts'

/*
 * Traversals of a tree. They use callbacks with a context argument instead of lists and closures: a
 * long template has a million nodes, and a list or closure for each would cost as much as the node.
 */

type Visit<C> = (expr: Expr, context: C) => void

/** Visits the expressions directly inside an expression, in Jinja2's order. */
export function eachChild<C>(expr: Expr, visit: Visit<C>, context: C): void {
  switch (expr.kind) {
    case 'const':
    case 'name':
      break
    case 'tuple':
    case 'list':
      for (const item of expr.items) visit(item, context)
      break
    case 'dict':
      for (const { key, value } of expr.entries) {
        visit(key, context)
        visit(value, context)
      }
      break
    case 'binary':
    case 'compare':
      visit(expr.first, context)
      for (const { operand } of expr.rest) visit(operand, context)
      break
    case 'and':
    case 'or':
    case 'concat':
      for (const operand of expr.operands) visit(operand, context)
      break
    case 'not':
    case 'neg':
    case 'pos':
      visit(expr.operand, context)
      break
    case 'conditional':
      visit(expr.test, context)
      visit(expr.then, context)
      if (expr.otherwise !== null) visit(expr.otherwise, context)
      break
    case 'chain':
      visit(expr.head, context)
      for (const step of expr.steps) eachInStep(step, visit, context)
      break
  }
}

/** Visits the expressions in a step: its subscript, bounds or arguments. */
export function eachInStep<C>(step: Step, visit: Visit<C>, context: C): void {
  switch (step.kind) {
    case 'attribute':
      break
    case 'item':
      visit(step.index, context)
      break
    case 'slice':
      for (const bound of step.bounds) if (bound !== null) visit(bound, context)
      break
    default:
      eachArgument(step.args, visit, context)
  }
}

export function eachArgument<C>(args: Arguments, visit: Visit<C>, context: C): void {
  for (const value of args.positional) visit(value, context)
  for (const { value } of args.keywords) visit(value, context)
  if (args.spread !== null) visit(args.spread, context)
  if (args.spreadKeywords !== null) visit(args.spreadKeywords, context)
}

/** Receives the names that expressions read. */
export type Reader = { load(name: string): void }

/** Passes every name that an expression reads to a reader. */
export function eachName(expr: Expr, reader: Reader): void {
  if (expr.kind === 'name') reader.load(expr.name)
  else if (expr.kind !== 'const') eachChild(expr, eachName, reader)
}

/** Visits the plain names that an assignment sets, but no attribute of a namespace. */
export function eachNameSet<C>(
  target: Target,
  visit: (name: Name, context: C) => void,
  context: C,
): void {
  if (target.kind === 'name') visit(target, context)
  else if (target.kind === 'tuple') {
    for (const item of target.items) eachNameSet(item, visit, context)
  }
}

/** Receives the parts of a statement, for walks that depend on their order. */
export type Visitor = {
  read(expr: Expr): void
  write(name: string): void
  enter(body: Body): void
}

const write = ({ name }: { readonly name: string }, visitor: Visitor) => visitor.write(name)
const read = (expr: Expr, visitor: Visitor) => visitor.read(expr)

function visitParameters(parameters: readonly Parameter[], visitor: Visitor): void {
  for (const { name } of parameters) visitor.write(name)
  for (const { fallback } of parameters) if (fallback !== null) visitor.read(fallback)
}

function visitFilters(filters: readonly FilterStep[], visitor: Visitor): void {
  for (const step of filters) eachInStep(step, read, visitor)
}

/** Visits the parts of a statement, in the order of Jinja2's visitors. */
export function visitParts(statement: Statement, visitor: Visitor): void {
  switch (statement.kind) {
    case 'output':
      for (const node of statement.nodes) if (node.kind !== 'data') visitor.read(node)
      break
    case 'for':
      eachNameSet(statement.target, write, visitor)
      visitor.read(statement.iterable)
      visitor.enter(statement.body)
      visitor.enter(statement.otherwise)
      if (statement.test !== null) visitor.read(statement.test)
      break
    case 'if':
      visitor.read(statement.first.test)
      visitor.enter(statement.first.body)
      for (const { test, body } of statement.elifs) {
        visitor.read(test)
        visitor.enter(body)
      }
      visitor.enter(statement.otherwise)
      break
    case 'set':
      eachNameSet(statement.target, write, visitor)
      visitor.read(statement.value)
      break
    case 'set_block':
      eachNameSet(statement.target, write, visitor)
      visitFilters(statement.filters, visitor)
      visitor.enter(statement.body)
      break
    case 'macro':
      visitParameters(statement.parameters, visitor)
      visitor.enter(statement.body)
      break
    case 'call_block':
      visitor.read(statement.callee)
      eachArgument(statement.call.args, read, visitor)
      visitParameters(statement.parameters, visitor)
      visitor.enter(statement.body)
      break
    case 'filter_block':
      visitor.enter(statement.body)
      visitFilters(statement.filters, visitor)
      break
    case 'with':
      for (const { target } of statement.bindings) eachNameSet(target, write, visitor)
      for (const { value } of statement.bindings) visitor.read(value)
      visitor.enter(statement.body)
      break
    case 'autoescape':
      visitor.read(statement.value)
      visitor.enter(statement.body)
      break
    case 'block':
      visitor.enter(statement.body)
      break
    case 'extends':
    case 'include':
    case 'import':
      visitor.read(statement.template)
      break
  }
}

/** Visits statements and all statements inside them, outer ones first. */
export function eachStatement(body: Body, visit: (statement: Statement) => void): void {
  for (const statement of body) {
    visit(statement)
    switch (statement.kind) {
      case 'for':
        eachStatement(statement.body, visit)
        eachStatement(statement.otherwise, visit)
        break
      case 'if':
        eachStatement(statement.first.body, visit)
        for (const { body } of statement.elifs) eachStatement(body, visit)
        eachStatement(statement.otherwise, visit)
        break
      default:
        if ('body' in statement) eachStatement(statement.body, visit)
    }
  }
}
