import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { getAttribute, getItem, getSlice, keywordsOf } from '../python/access.ts'
import { compare, contains, equals, hashKey } from '../python/compare.ts'
import { toArray } from '../python/iterate.ts'
import { binary, unary } from '../python/operators.ts'
import { newCall, newContainer, newEntry, RenderRuntime, type Runtime } from '../python/runtime.ts'
import { escapeText, toText } from '../python/to-text.ts'
import {
  type CallArguments,
  Dict,
  isTrue,
  List,
  Markup,
  PyObject,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../python/values.ts'
import { quote } from '../syntax/text.ts'
import type {
  Arguments,
  CallStep,
  Chain,
  CompareOperator,
  Conditional,
  Expr,
  FilterStep,
  Name,
  Step,
  TestStep,
} from '../syntax/tree.ts'
import { tests } from './tests.ts'

/** Source of the values of an expression's names. */
type Lookup = { readonly find: (name: string) => Value | undefined }

/** Computes an expression's value. */
export function evaluate(runtime: Runtime, expr: Expr, scope: Lookup): Value {
  runtime.spend()
  switch (expr.kind) {
    case 'const':
      return expr.value
    case 'name':
      return evaluateName(runtime, expr, scope)
    case 'tuple':
      runtime.spend(newContainer)
      return new Tuple(expr.items.map((item) => evaluate(runtime, item, scope)))
    case 'list':
      runtime.spend(newContainer)
      return new List(expr.items.map((item) => evaluate(runtime, item, scope)))
    case 'dict':
      return evaluateDict(runtime, expr, scope)
    case 'chain':
      return evaluateChain(runtime, expr, scope)
    case 'binary':
      return expr.rest.reduce(
        (left, { op, operand }) => binary(runtime, op, left, evaluate(runtime, operand, scope)),
        evaluate(runtime, expr.first, scope),
      )
    case 'compare':
      return evaluateCompare(runtime, expr, scope)
    case 'concat':
      return concat(
        runtime,
        expr.operands.map((operand) => evaluate(runtime, operand, scope)),
      )
    case 'and':
    case 'or':
      return evaluateLogic(runtime, expr, scope)
    case 'not':
      return !isTrue(evaluate(runtime, expr.operand, scope))
    case 'neg':
    case 'pos':
      return unary(runtime, expr.kind, evaluate(runtime, expr.operand, scope))
    case 'conditional':
      return evaluateConditional(runtime, expr, scope)
  }
}

function evaluateName(runtime: Runtime, expr: Name, scope: Lookup): Value {
  const value = scope.find(expr.name)
  if (value !== undefined) return value
  runtime.read(expr.name, 'walk')
  const missing = new Undefined(`${quote(expr.name)} is undefined`)
  missing.source = expr
  return missing
}

type Logic = Extract<Expr, { kind: 'and' | 'or' }>

/** The value of the deciding operand, as in Python. */
function evaluateLogic(runtime: Runtime, logic: Logic, scope: Lookup): Value {
  const { kind, operands } = logic
  let value: Value = null
  let at = 0
  for (const operand of operands) {
    value = evaluate(runtime, operand, scope)
    if (isTrue(value) === (kind === 'or')) break
    at++
  }
  runtime.noteBranch(logic, at)
  return value
}

function evaluateDict(
  runtime: Runtime,
  { entries }: Extract<Expr, { kind: 'dict' }>,
  scope: Lookup,
): Dict {
  const dict = new Dict()
  runtime.spend(newContainer + newEntry * entries.length)
  for (const { key: keyExpr, value: valueExpr } of entries) {
    const key = evaluate(runtime, keyExpr, scope)
    const value = evaluate(runtime, valueExpr, scope)
    const hash = hashKey(runtime, key)
    // A repeated key keeps its position and its first spelling.
    dict.entries.set(hash, [dict.entries.get(hash)?.[0] ?? key, value])
  }
  return dict
}

/** `a < b < c` compares neighbours and stops at the first false comparison. */
function evaluateCompare(
  runtime: Runtime,
  { first, rest }: Extract<Expr, { kind: 'compare' }>,
  scope: Lookup,
): Value {
  let left = evaluate(runtime, first, scope)
  for (const { op, operand } of rest) {
    const right = evaluate(runtime, operand, scope)
    if (!holds(runtime, op, left, right)) return false
    left = right
  }
  return true
}

function holds(runtime: Runtime, op: CompareOperator, a: Value, b: Value): boolean {
  switch (op) {
    case 'eq':
      return equals(runtime, a, b)
    case 'ne':
      return !equals(runtime, a, b)
    case 'in':
      return contains(runtime, b, a)
    case 'notin':
      return !contains(runtime, b, a)
    case 'lt':
      return compare(runtime, a, b, '<') < 0
    case 'lteq':
      return compare(runtime, a, b, '<=') <= 0
    case 'gt':
      return compare(runtime, a, b, '>') > 0
    case 'gteq':
      return compare(runtime, a, b, '>=') >= 0
  }
}

/** `a ~ b`: all values as text. If output is escaped, one markup value makes the result markup. */
function concat(runtime: Runtime, values: readonly Value[]): Value {
  const escapes = runtime.autoescape && values.some((value) => value instanceof Markup)
  let text = ''
  for (const value of values) {
    const isEscaped = escapes && !(value instanceof Markup)
    const plain = toText(runtime, value)
    runtime.read(plain, isEscaped ? 'walk' : 'free')
    const part = isEscaped ? escapeText(plain) : plain
    // V8 keeps both parts and copies them when the text is read, and reading is charged then.
    runtime.payForText(Math.min(text.length, part.length), text.length + part.length)
    text += part
  }
  return escapes ? new Markup(text) : text
}

function evaluateConditional(runtime: Runtime, expr: Conditional, scope: Lookup): Value {
  const isMet = isTrue(evaluate(runtime, expr.test, scope))
  runtime.noteBranch(expr, isMet ? 0 : 1)
  if (isMet) return evaluate(runtime, expr.then, scope)
  if (expr.otherwise !== null) return evaluate(runtime, expr.otherwise, scope)
  const where = `the inline if-expression on line ${expr.line}`
  return new Undefined(`${where} evaluated to false and no else section was defined.`)
}

function evaluateChain(runtime: Runtime, chain: Chain, scope: Lookup): Value {
  return chain.steps.reduce(
    (value, step, at) => {
      const next = applyStep(runtime, value, step, scope)
      if (next instanceof Undefined && next.source === null) {
        next.source = chain
        next.steps = at + 1
      }
      return next
    },
    evaluate(runtime, chain.head, scope),
  )
}

function applyStep(runtime: Runtime, value: Value, step: Step, scope: Lookup): Value {
  runtime.spend()
  switch (step.kind) {
    case 'attribute':
      return getAttribute(runtime, value, step.name)
    case 'item':
      return getItem(runtime, value, evaluate(runtime, step.index, scope))
    case 'slice': {
      const bounds = step.bounds.map((bound) =>
        bound === null ? null : evaluate(runtime, bound, scope),
      )
      return getSlice(runtime, value, bounds)
    }
    case 'call':
      return callValue(runtime, value, evaluateArguments(runtime, step, scope))
    case 'filter':
      return applyFilter(runtime, value, step, scope)
    case 'test':
      return applyTest(runtime, value, step, scope)
  }
}

/** Applies a filter of the template's. */
export function applyFilter(
  runtime: Runtime,
  value: Value,
  step: FilterStep,
  scope: Lookup,
): Value {
  const filter = runtime.filters.get(step.name)
  const args = evaluateArguments(runtime, step, scope)
  runtime.spend(newCall)
  if (filter === undefined)
    return runtime.fail(`No filter named ${quote(step.name)} found.`, 'unknown_filter')
  const result = filter(runtime, value, args)
  if (isDefault(step)) runtime.noteBranch(step, result === value ? 0 : 1)
  return result
}

/** The filter that replaces a missing value. */
export const isDefault = ({ name }: FilterStep): boolean => name === 'default' || name === 'd'

function applyTest(runtime: Runtime, value: Value, step: TestStep, scope: Lookup): Value {
  const test = runtime.tests.get(step.name)
  const args = evaluateArguments(runtime, step, scope)
  runtime.spend(newCall)
  if (test === undefined)
    return runtime.fail(`No test named ${quote(step.name)} found.`, 'unknown_test')
  const result = test(runtime, value, args)
  return step.negated ? !isTrue(result) : result
}

/** Calls a value; a value that is not callable fails as in Python. */
export function callValue(runtime: Runtime, callee: Value, args: CallArguments): Value {
  runtime.spend(newCall)
  if (callee instanceof Undefined) return callee.fail(runtime)
  if (callee instanceof PyObject && callee.call !== undefined) return callee.call(runtime, args)
  return runtime.fail(`TypeError: '${typeName(callee)}' object is not callable`)
}

/** The values of arguments, with `*` and `**` spread out. */
export function evaluateArguments(
  runtime: Runtime,
  { args }: CallStep | FilterStep | TestStep,
  scope: Lookup,
): CallArguments {
  const { positional, keywords, spread, spreadKeywords }: Arguments = args
  const values = positional.map((expr) => evaluate(runtime, expr, scope))
  const named = new Map(
    keywords.map(({ name, value }) => [name, evaluate(runtime, value, scope)] as const),
  )
  if (spread !== null) {
    for (const value of toArray(runtime, evaluate(runtime, spread, scope))) values.push(value)
  }
  if (spreadKeywords !== null) {
    const more = keywordsOf(runtime, evaluate(runtime, spreadKeywords, scope))
    for (const [name, value] of more) {
      if (named.has(name)) runtime.fail(`TypeError: multiple values for keyword argument '${name}'`)
      named.set(name, value)
    }
  }
  return { positional: values, keywords: named }
}

/** Filters that need the context; Jinja2 never computes them ahead of time. */
const contextual = ['map', 'select', 'reject', 'selectattr', 'rejectattr', 'random']

const pureFilters = new Map([...filters].filter(([name]) => !contextual.includes(name)))

/** Limits for all constants of a template together. */
const budget = { maxSteps: 500_000, maxLength: 100_000 }

/** Decides which expressions Jinja2's optimizer computes while it compiles a template. */
export class ConstantFolder {
  private readonly runtime = new RenderRuntime(budget, pureFilters, tests)

  folds(expr: Expr): boolean {
    const { runtime } = this
    try {
      evaluate(runtime, expr, { find: () => runtime.fail('a name is not constant') })
      return true
    } catch (error) {
      if (error instanceof TemplateError) return false
      throw error
    }
  }
}
