import { type AnalyseOptions, compileSource } from '../analysis/analyse.ts'
import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { MAX_OUTPUT_LENGTH, MAX_STEPS } from '../limits.ts'
import { Gaps } from '../python/gaps.ts'
import { RenderRuntime } from '../python/runtime.ts'
import { toValues } from './context.ts'
import { Executor } from './execute.ts'
import { globals } from './globals.ts'
import { Context } from './scope.ts'
import { tests } from './tests.ts'

export type RenderOptions = {
  /** Steps before rendering is given up: roughly, expressions evaluated and items touched. */
  readonly maxSteps?: number
  /** Longest output, and longest string on the way there, in UTF-16 code units. */
  readonly maxLength?: number
  /** What parsing and checking the template may take before. */
  readonly analysis?: AnalyseOptions
  /** Is told each variable that is printed as nothing, once, by its path (`order.id`): at most 100. */
  readonly onGap?: (path: string) => void
}

/**
 * Renders a template as Jinja2's sandbox would. The context is data: null, booleans, numbers,
 * bigints, strings, arrays, plain objects, maps and dates; a number without a fraction is an int.
 * `undefined` counts as absent, and anything else is refused.
 *
 * Throws a `TemplateError`: those of parsing and compiling, and `undefined_error`,
 * `security_error`, `runtime_error` or `limit_exceeded`. There is no loader, so `include`,
 * `extends` and `import` fail once they are reached.
 */
export function render(
  source: string,
  context: Readonly<Record<string, unknown>> = {},
  options: RenderOptions = {},
): string {
  const compiled = compileSource(source, options.analysis)
  if (compiled.report.error !== null) throw compiled.report.error
  const { maxSteps = MAX_STEPS, maxLength = MAX_OUTPUT_LENGTH, onGap } = options
  const gaps = onGap ? new Gaps(onGap) : null
  const runtime = new RenderRuntime({ maxSteps, maxLength }, filters, tests, gaps)
  try {
    const values = toValues(runtime, context)
    return new Executor(runtime, compiled).run(new Context(runtime, values, globals))
  } catch (error) {
    // The caps bound each kind of nesting; together they may still exhaust the stack.
    if (!(error instanceof RangeError)) throw error
    const message = 'maximum recursion depth exceeded'
    throw new TemplateError('limit_exceeded', message, runtime.line)
  }
}
