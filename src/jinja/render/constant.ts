import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { Runtime } from '../python/runtime.ts'
import type { Expr } from '../syntax/tree.ts'
import { evaluate } from './evaluate.ts'
import { tests } from './tests.ts'

/** Filters that need the context; Jinja2 never computes them ahead of time. */
const contextual = ['map', 'select', 'reject', 'selectattr', 'rejectattr', 'random']

const pureFilters = new Map([...filters].filter(([name]) => !contextual.includes(name)))

const budget = { maxSteps: 10_000, maxLength: 100_000 }

/** Whether Jinja2's optimizer can compute an expression while it compiles the template. */
export function foldsToConstant(expr: Expr): boolean {
  const runtime = new Runtime(budget, pureFilters, tests)
  try {
    evaluate(runtime, expr, { find: () => runtime.fail('a name is not constant') })
    return true
  } catch (error) {
    if (error instanceof TemplateError) return false
    throw error
  }
}
