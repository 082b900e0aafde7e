import { type AnalyseOptions, compileSource } from '../analysis/analyse.ts'
import type { Compiled } from '../analysis/names.ts'
import { TemplateError } from '../error.ts'
import { filters } from '../filters/index.ts'
import { MAX_OUTPUT_LENGTH, MAX_STEPS, MAX_VALUE_DEPTH } from '../limits.ts'
import { hashKey } from '../python/compare.ts'
import { fromEpoch } from '../python/date-time.ts'
import { Gaps, newContainer, newEntry, RenderRuntime, type Runtime } from '../python/runtime.ts'
import { Dict, List, type Value } from '../python/values.ts'
import { Executor } from './execute.ts'
import { globals } from './globals.ts'
import { Context } from './scope.ts'
import { tests } from './tests.ts'

type RenderOptions = {
  /** Maximum steps: roughly, expressions evaluated and items of lists read. */
  readonly maxSteps?: number
  /** Maximum length of the output, and of each string computed for it, UTF-16 code units. */
  readonly maxLength?: number
  /** Limits and additional filters for parsing and checking the template. */
  readonly analysis?: AnalyseOptions
  /**
   * Called once with the path (`order.id`) of each variable that is printed as nothing, at most 100
   * times.
   */
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
  const notes = onGap ? { gaps: new Gaps(onGap) } : {}
  const runtime = new RenderRuntime({ maxSteps, maxLength }, filters, tests, notes)
  return renderCompiled(compiled, context, runtime)
}

/** Renders a template that was compiled without an error. Throws as `render` does. */
export function renderCompiled(
  compiled: Compiled,
  context: Readonly<Record<string, unknown>>,
  runtime: RenderRuntime,
): string {
  try {
    const values = toValues(runtime, context)
    return new Executor(runtime, compiled).run(new Context(runtime, values, globals))
  } catch (error) {
    // Each limit bounds one kind of nesting; combined, they may still exhaust the stack.
    if (!(error instanceof RangeError)) throw error
    const message = 'maximum recursion depth exceeded'
    throw new TemplateError('limit_exceeded', message, runtime.line)
  }
}

/** The caller's data as Python values. */
function toValues(
  runtime: Runtime,
  context: Readonly<Record<string, unknown>>,
): Map<string, Value> {
  const values = new Map<string, Value>()
  for (const [name, value] of Object.entries(context)) {
    if (value !== undefined) values.set(name, toValue(runtime, value, 0))
  }
  return values
}

function toValue(runtime: Runtime, value: unknown, depth: number): Value {
  if (depth > MAX_VALUE_DEPTH) runtime.fail('the context is nested too deeply')
  runtime.spend()
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
    case 'string':
      return value
    case 'number':
      return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value) : value
    case 'object':
      return value === null ? null : toContainer(runtime, value, depth + 1)
    default:
      return runtime.fail(`the context holds a ${typeof value}, which is not data`)
  }
}

function toContainer(runtime: Runtime, value: object, depth: number): Value {
  runtime.spend(newContainer)
  if (Array.isArray(value)) {
    return new List(
      value.map((item: unknown) => (item === undefined ? null : toValue(runtime, item, depth))),
    )
  }
  if (value instanceof Date) {
    return fromEpoch(value.getTime()) ?? runtime.fail('the context holds an invalid date')
  }
  const dict = new Dict()
  if (value instanceof Map) {
    for (const [key, item] of value) {
      const name = toValue(runtime, key, depth)
      dict.entries.set(hashKey(runtime, name), [name, toValue(runtime, item, depth)])
    }
    return dict
  }
  for (const [name, item] of Object.entries(value)) {
    runtime.spend(newEntry)
    if (item !== undefined) dict.set(name, toValue(runtime, item, depth))
  }
  return dict
}
