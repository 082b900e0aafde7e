import * as z from 'zod'
import { jsonSchemaOf, withoutNull } from '../../contract/json-schema.ts'
import type { Route } from '../../contract/route.ts'
import type { StructuredContent } from '../../views/tool-output.ts'
import { clearablePaths } from './clear-argument.ts'
import { confirmName } from './confirm-mode.ts'
import { ignoredNullsShape } from './ignored-nulls.ts'
import { listedTool } from './listed-tool.ts'
import { prebuiltListedTools } from './prebuilt-listed-tools.ts'
import type { ResultView, Run, Steps, Tool, ToolSpec } from './tool.ts'
import { toolInput } from './tool-input.ts'
import { readAsShape } from './with-readings.ts'

/** Makes a tool from its record: input, output, annotations and path follow from the route. */
export function defineTool<R extends Route, O extends z.ZodRawShape = Record<never, never>>(
  spec: ToolSpec<R, O>,
): Tool {
  const { name, title, description, route, defaults = {}, effect = route.effect } = spec
  const options = z.object(spec.options ?? spec.steps?.options ?? {})
  const clearable = clearablePaths(route, spec.clears)
  const input = toolInput(spec, clearable)
  const steps: Steps<R, O> = spec.steps ?? oneRequest(route, spec)
  const output = clearable.length > 0 ? steps.schema.extend(ignoredNullsShape) : steps.schema
  const inputSchema = once(() =>
    withoutNull(jsonSchemaOf(input, 'input', { defaults: route.method !== 'PATCH' })),
  )
  const facts = { name, title, description, route, effect, output }
  const listed = (account: 'any' | 'pinned') =>
    listedTool({ ...facts, inputSchema: inputSchema() }, account, spec.listing)
  const lists = {
    any: once(() => prebuiltListedTools?.[name] ?? listed('any')),
    pinned: once(() => listed('pinned')),
  }
  return {
    ...facts,
    ...{ input, inputSchema, options, clearable, defaults, view: spec.view },
    outputSchema: once(() =>
      jsonSchemaOf(withAccountId(output, route).extend(readAsShape), 'output'),
    ),
    listed: (account) => lists[account](),
    shortening: steps.shortening,
    changes: steps.changes ?? [],
    asksConfirmation: confirmName in options.shape,
    waits: steps.waits,
    reportsProgress: steps.reportsProgress ?? false,
    hasTimeLimit: steps.hasTimeLimit ?? false,
    // The request was parsed with this route's schemas and the options with the spec's.
    run: (call) => steps.run(call as Run<R, O>),
  }
}

/** The steps of a tool without steps of its own: one request, and a view of its reply. */
function oneRequest<R extends Route, O extends z.ZodRawShape>(
  route: R,
  { result = defaultView(route), line }: Pick<ToolSpec<R, O>, 'result' | 'line'>,
): Steps<R, O> {
  const { from, ...rest } = result
  return {
    ...rest,
    async run({ request, options, session, signal }) {
      const reply = await session.client.call(route, request, signal)
      return { structured: from(reply, request, options), ...(line && { lines: [line(reply)] }) }
    },
  }
}

/** The reply as it is; where a route has no reply schema, what was done to which id. */
function defaultView<R extends Route>(route: R): ResultView<R> {
  if (route.reply instanceof z.ZodObject) {
    return { schema: route.reply, from: (reply) => reply as StructuredContent }
  }
  if (route.reply) throw new Error(`${route.id}: a reply that is not an object needs a view`)
  const { account_id: _, ...ids } = route.params.shape
  return {
    schema: z.object({ done: z.literal(true).describe('It was done.'), ...ids }),
    from: (_, { params: { account_id: _account, ...given } }) => ({ done: true, ...given }),
  }
}

/** Every result that belongs to an account names it. */
function withAccountId(schema: z.ZodObject, route: Route): z.ZodObject {
  if (!('account_id' in route.params.shape) || 'account_id' in schema.shape) return schema
  return schema.extend({ account_id: z.string().optional().describe('Account it belongs to.') })
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
