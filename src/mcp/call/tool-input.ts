import * as z from 'zod'
import type { Route } from '../../contract/route.ts'
import { clearArgument, clearName } from './clear-argument.ts'
import type { ToolSpec } from './tool.ts'

/**
 * The arguments of a tool: all fields of its route side by side, `clear`, and the tool's own. The
 * account comes last, because it is rarely given.
 */
export function toolInput<R extends Route, O extends z.ZodRawShape>(
  spec: ToolSpec<R, O>,
  clearable: readonly string[],
): z.ZodObject {
  const { route, defaults = {}, steps, options = steps?.options } = spec
  const without = steps?.without ?? []
  const { account_id, ...params } = route.params.shape
  const query = Object.entries<z.ZodType>(route.query.shape).map(([name, field]) => [
    name,
    name in defaults ? field.meta({ ...field.meta(), default: defaults[name] }) : field,
  ])
  const fields = {
    ...params,
    ...route.body?.shape,
    ...steps?.accepts,
    ...Object.fromEntries(query),
  }
  return z.object({
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => !without.includes(name))),
    ...(clearable.length > 0 && { [clearName]: clearArgument.describe(clearDescription(spec)) }),
    ...options,
    ...(account_id instanceof z.ZodType && { account_id: account_id.optional() }),
  })
}

/** A few paths are named; where there are many, the description says what they look like. */
const clearDescription = ({ clears }: { readonly clears?: readonly string[] }) =>
  clears ? `Fields to set to none: ${clears.join(', ')}.` : 'Fields to clear, by dotted path.'
