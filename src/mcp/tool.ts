import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type JsonSchema, jsonSchemaOf } from '../contract/json-schema.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'

/** The part of a tool result that a program reads: it always matches the output schema. */
export type Structured = Record<string, unknown>

/** A narrower or differently shaped view of a route's reply. */
export interface ResultView<R extends Route> {
  readonly schema: z.ZodObject
  readonly from: (reply: ReplyOf<R>, request: RouteRequest) => Structured
}

/** What a tool file says about a tool; everything else follows from the route. */
export interface ToolSpec<R extends Route> {
  /** `verb_noun`, in the API's own words. */
  readonly name: string
  readonly title: string
  /** What it does, when to use it, what to use instead: at most three sentences. */
  readonly description: string
  readonly route: R
  /** Needed where the reply is no object, or is more than the caller wants. */
  readonly result?: ResultView<R>
}

/** One tool: an operation of the platform as an assistant sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly route: Route
  /** What arguments are parsed with; unknown ones are reported before (see arguments.ts). */
  readonly input: z.ZodObject
  readonly inputSchema: () => JsonSchema
  /** The tool as `tools/list` shows it. */
  readonly listed: () => ProtocolTool
  /** Turns the parsed reply of the route into what the output schema promises. */
  readonly present: (reply: unknown, request: RouteRequest) => Structured
}

/** Makes a tool from its record. */
export function defineTool<R extends Route>(spec: ToolSpec<R>): Tool {
  const { name, title, description, route } = spec
  const input = inputOf(route)
  const view: ResultView<R> = spec.result ?? defaultView(route)
  const inputSchema = once(() =>
    jsonSchemaOf(input, 'input', { defaults: route.method !== 'PATCH' }),
  )
  return {
    name,
    title,
    description,
    route,
    input,
    inputSchema,
    listed: once(() => ({
      name,
      title,
      description,
      inputSchema: rootObject(inputSchema()),
      outputSchema: rootObject(jsonSchemaOf(view.schema, 'output')),
      annotations: annotationsOf(title, route),
    })),
    // The client parsed the reply with this route's schema, so it is what the view takes.
    present: (reply, request) => view.from(reply as ReplyOf<R>, request),
  }
}

/** All of a route's fields side by side; the account last, because it is rarely given. */
function inputOf(route: Route): z.ZodObject {
  const { account_id, ...params } = route.params.shape
  return z.object({
    ...params,
    ...route.body?.shape,
    ...route.query.shape,
    ...(account_id instanceof z.ZodType && { account_id: account_id.optional() }),
  })
}

/** The hints of a route, each true to the protocol's definition of it. */
function annotationsOf(title: string, { method, effect, openWorld }: Route) {
  return {
    title,
    readOnlyHint: effect === 'reads',
    // "Only additive updates" is what false means: a PATCH overwrites, a call cannot be taken back.
    destructiveHint: effect === 'destroys' || effect === 'bills' || method === 'PATCH',
    idempotentHint: effect === 'reads' || method === 'PATCH' || method === 'DELETE',
    openWorldHint: openWorld,
  }
}

/** The reply as it is; for an acknowledgement, what was done to which id. */
function defaultView<R extends Route>(route: R): ResultView<R> {
  if (route.reply instanceof z.ZodObject) {
    return { schema: route.reply, from: (reply) => reply as Structured }
  }
  if (route.reply) throw new Error(`${route.id}: a reply that is no object needs a view`)
  const { account_id: _, ...ids } = route.params.shape
  return {
    schema: z.object({ done: z.literal(true).describe('It was done.'), ...ids }),
    from: (_, { params: { account_id: _account, ...given } }) => ({ done: true, ...given }),
  }
}

/** zod's type for a JSON Schema allows for more than JSON; what it makes is JSON. */
function rootObject(schema: JsonSchema): ProtocolTool['inputSchema'] {
  return { ...(schema as ProtocolTool['inputSchema']), type: 'object' }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
