import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { RenderRuntime } from '../python/runtime.ts'
import type { Expr } from '../syntax/tree.ts'
import { evaluate } from './evaluate.ts'
import { tests } from './tests.ts'

/** Filters that need the context; Jinja2 never computes them ahead of time. */
const contextual = ['map', 'select', 'reject', 'selectattr', 'rejectattr', 'random']

const pureFilters = new Map([...filters].filter(([name]) => !contextual.includes(name)))

/** For all the constants of a template together. */
const budget = { maxSteps: 500_000, maxLength: 100_000 }

/** Tells which expressions Jinja2's optimizer can compute while it compiles a template. */
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
