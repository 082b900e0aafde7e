import * as z from 'zod'
import { jsonSchemaOf, withoutNull } from '../contract/json-schema.ts'
import type { Route } from '../contract/route.ts'
import { clearArgument, clearablePaths, clearName } from './clear-argument.ts'
import { confirmName } from './confirm-mode.ts'
import { listedTool } from './listed-tool.ts'
import { prebuiltListedTools } from './prebuilt-listed-tools.ts'
import { coercionsShape, ignoredNullsShape } from './result.ts'
import type { OneRequest, ResultView, Steps, StructuredContent, Tool, ToolSpec } from './tool.ts'

/**
 * Creates a tool from its specification. Input, output, annotations and path follow from the route.
 */
export function defineTool<R extends Route, O extends z.ZodRawShape = Record<never, never>>(
  spec: ToolSpec<R, O>,
): Tool {
  const { name, title, description, route, defaults = {}, effect = route.effect } = spec
  const steps: Steps<R, O> = spec.run ? spec : oneRequest(route, spec)
  const options = z.object(steps.options ?? {})
  const clearable = clearablePaths(route, spec.clears)
  const input = toolInput(spec, steps, clearable)
  const shown = clearable.length > 0 ? steps.schema.extend(ignoredNullsShape) : steps.schema
  const output = once(() => withAccountId(shown, route).extend(coercionsShape))
  const inputSchema = once(() =>
    withoutNull(jsonSchemaOf(input, 'input', { defaults: route.method !== 'PATCH' })),
  )
  const facts = { name, title, description, route, effect }
  const listed = (account: 'any' | 'pinned') =>
    listedTool({ ...facts, inputSchema: inputSchema(), output: shown }, account, spec.listing)
  const lists = {
    any: once(() => prebuiltListedTools?.[name] ?? listed('any')),
    pinned: once(() => listed('pinned')),
  }
  return {
    ...facts,
    ...{ input, inputSchema, output, options, clearable, defaults, view: spec.view },
    ownOutput: once(() => withoutReplyFields(output(), route)),
    outputSchema: once(() => jsonSchemaOf(output(), 'output')),
    listed: (account) => lists[account](),
    shortening: steps.shortening,
    changes: steps.changes ?? [],
    absent: steps.absent ?? {},
    asksConfirmation: confirmName in options.shape,
    waits: steps.waits,
    reportsProgress: steps.reportsProgress ?? false,
    hasTimeLimit: steps.hasTimeLimit ?? false,
    // The request was parsed with this route's schemas, and the options with the specification's.
    run: steps.run as Tool['run'],
  }
}

/** A tool that sends one request and shows a view of the reply. */
function oneRequest<R extends Route, O extends z.ZodRawShape>(
  route: R,
  { options, result = defaultView(route), line }: OneRequest<R, O>,
): Steps<R, O> {
  const { from, ...rest } = result
  return {
    ...rest,
    ...(options && { options }),
    async run({ request, options, session, signal }) {
      const reply = await session.client.call(route, request, signal)
      return { structured: from(reply, request, options), ...(line && { lines: [line(reply)] }) }
    },
  }
}

/**
 * Default view of a reply: the reply unchanged. For a route without a reply schema, the action and
 * the id.
 */
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

/** Adds the account's id to results of routes within an account. */
function withAccountId(schema: z.ZodObject, route: Route): z.ZodObject {
  if (!('account_id' in route.params.shape) || 'account_id' in schema.shape) return schema
  return schema.extend({ account_id: z.string().optional().describe('Account it belongs to.') })
}

/** Removes the fields that have the same schema in the route's reply. */
function withoutReplyFields(schema: z.ZodObject, { reply }: Route): z.ZodObject {
  const inReply = reply instanceof z.ZodObject ? reply.shape : {}
  const own = Object.entries(schema.shape).filter(([name, field]) => inReply[name] !== field)
  return z.object(Object.fromEntries(own))
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/**
 * The arguments of a tool: the fields of its route, `clear`, and the tool's own. `account_id` comes
 * last, because it is rarely given.
 */
function toolInput<R extends Route, O extends z.ZodRawShape>(
  spec: ToolSpec<R, O>,
  { options, accepts, without = [] }: Steps<R, O>,
  clearable: readonly string[],
): z.ZodObject {
  const { route, defaults = {} } = spec
  const { account_id, ...params } = route.params.shape
  const query = Object.entries<z.ZodType>(route.query.shape).map(([name, field]) => [
    name,
    name in defaults ? field.meta({ ...field.meta(), default: defaults[name] }) : field,
  ])
  const fields = {
    ...params,
    ...route.body?.shape,
    ...accepts,
    ...Object.fromEntries(query),
  }
  return z.object({
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => !without.includes(name))),
    ...(clearable.length > 0 && { [clearName]: clearArgument.describe(clearDescription(spec)) }),
    ...options,
    ...(account_id instanceof z.ZodType && { account_id: account_id.optional() }),
  })
}

/** Lists the paths if they are few, else describes them. */
const clearDescription = ({ clears }: { readonly clears?: readonly string[] }) =>
  clears ? `Fields to set to none: ${clears.join(', ')}.` : 'Fields to clear, by dotted path.'
