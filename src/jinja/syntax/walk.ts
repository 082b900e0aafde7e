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

const none: readonly never[] = []

/** The expressions directly inside an expression, in Jinja2's order. */
export function childExpressions(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'const':
    case 'name':
      return none
    case 'tuple':
    case 'list':
      return expr.items
    case 'dict':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'binary':
    case 'compare':
      return [expr.first, ...expr.rest.map(({ operand }) => operand)]
    case 'and':
    case 'or':
    case 'concat':
      return expr.operands
    case 'not':
    case 'neg':
    case 'pos':
      return [expr.operand]
    case 'conditional':
      return [expr.test, expr.then, ...(expr.otherwise === null ? [] : [expr.otherwise])]
    case 'chain':
      return [expr.head, ...expr.steps.flatMap(stepExpressions)]
  }
}

export function stepExpressions(step: Step): readonly Expr[] {
  switch (step.kind) {
    case 'attribute':
      return none
    case 'item':
      return [step.index]
    case 'slice':
      return step.bounds.filter((bound) => bound !== null)
    default:
      return argumentExpressions(step.args)
  }
}

export function argumentExpressions(args: Arguments): readonly Expr[] {
  const { positional, keywords, spread, spreadKeywords } = args
  if (keywords.length === 0 && spread === null && spreadKeywords === null) return positional
  const values = [...positional, ...keywords.map(({ value }) => value)]
  if (spread !== null) values.push(spread)
  if (spreadKeywords !== null) values.push(spreadKeywords)
  return values
}

/** Calls `visit` with every name an expression reads. */
export function eachName(expr: Expr, visit: (name: Name) => void): void {
  if (expr.kind === 'name') visit(expr)
  else if (expr.kind === 'chain') {
    eachName(expr.head, visit)
    for (const step of expr.steps) {
      for (const inner of stepExpressions(step)) eachName(inner, visit)
    }
  } else {
    for (const child of childExpressions(expr)) eachName(child, visit)
  }
}

/** The plain names an assignment sets; the attribute of a namespace is none. */
export function namesSet(target: Target): readonly Name[] {
  if (target.kind === 'name') return [target]
  return target.kind === 'tuple' ? target.items.flatMap(namesSet) : []
}

/** One part of a statement, for walks that care about order. */
type Part =
  | { readonly kind: 'read'; readonly expr: Expr }
  | { readonly kind: 'write'; readonly name: Name }
  | { readonly kind: 'body'; readonly body: Body }

const read = (expr: Expr): Part => ({ kind: 'read', expr })
const writes = (target: Target): Part[] => namesSet(target).map((name) => ({ kind: 'write', name }))
const inner = (body: Body): Part => ({ kind: 'body', body })

function parameterParts(parameters: readonly Parameter[]): Part[] {
  const names = parameters.map(({ name, line }) => ({ kind: 'name', name, line }) as const)
  const fallbacks = parameters.flatMap(({ fallback }) => (fallback === null ? [] : [fallback]))
  return [...names.flatMap(writes), ...fallbacks.map(read)]
}

function filterParts(filters: readonly FilterStep[]): Part[] {
  return filters.flatMap(stepExpressions).map(read)
}

/** What a statement consists of, in the order in which Jinja2's visitors meet it. */
export function statementParts(statement: Statement): readonly Part[] {
  switch (statement.kind) {
    case 'output':
      return statement.nodes.flatMap((node) => (node.kind === 'data' ? [] : [read(node)]))
    case 'for': {
      const test = statement.test === null ? [] : [read(statement.test)]
      const bodies = [inner(statement.body), inner(statement.otherwise)]
      return [...writes(statement.target), read(statement.iterable), ...bodies, ...test]
    }
    case 'if': {
      const branches = [statement.first, ...statement.elifs]
      const parts = branches.flatMap(({ test, body }) => [read(test), inner(body)])
      return [...parts, inner(statement.otherwise)]
    }
    case 'set':
      return [...writes(statement.target), read(statement.value)]
    case 'set_block':
      return [...writes(statement.target), ...filterParts(statement.filters), inner(statement.body)]
    case 'macro':
      return [...parameterParts(statement.parameters), inner(statement.body)]
    case 'call_block': {
      const call = [statement.callee, ...argumentExpressions(statement.call.args)].map(read)
      return [...call, ...parameterParts(statement.parameters), inner(statement.body)]
    }
    case 'filter_block':
      return [inner(statement.body), ...filterParts(statement.filters)]
    case 'with': {
      const { bindings } = statement
      const values = bindings.map(({ value }) => read(value))
      return [...bindings.flatMap(({ target }) => writes(target)), ...values, inner(statement.body)]
    }
    case 'autoescape':
      return [read(statement.value), inner(statement.body)]
    case 'block':
      return [inner(statement.body)]
    case 'extends':
    case 'include':
    case 'import':
      return [read(statement.template)]
  }
}

/** The bodies directly inside a statement. */
function bodiesOf(statement: Statement): readonly Body[] {
  switch (statement.kind) {
    case 'for':
      return [statement.body, statement.otherwise]
    case 'if': {
      const branches = [statement.first, ...statement.elifs]
      return [...branches.map(({ body }) => body), statement.otherwise]
    }
    default:
      return 'body' in statement ? [statement.body] : none
  }
}

/** Calls `visit` with statements and all they contain, outer ones first. */
export function eachStatement(body: Body, visit: (statement: Statement) => void): void {
  for (const statement of body) {
    visit(statement)
    for (const inner of bodiesOf(statement)) eachStatement(inner, visit)
  }
}
