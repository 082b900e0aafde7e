import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type JsonSchema, jsonSchemaOf, withoutNull } from '../../contract/json-schema.ts'
import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import type { Cut } from '../../views/fit.ts'
import type { StructuredContent, ToolOutput } from '../../views/tool-output.ts'
import { annotationsOf } from './annotations.ts'
import { listings } from './built-listings.ts'
import { clearName, clearOption, nullablePaths } from './clearing.ts'
import { confirmName } from './confirm-mode.ts'
import type { Confirm } from './confirmation.ts'
import { ignoredNullsShape } from './ignored-nulls.ts'
import { type Listing, listedSchema } from './listed-schema.ts'
import type { Task } from './task.ts'

/** What the steps of a tool give back. */
export interface ToolOutcome extends ToolOutput {
  /** A task stands for the result, which is not there yet: only for clients that support tasks. */
  readonly task?: Task
}

/** One call of a tool on its way: what the steps of a tool work with. */
export interface Run<R extends Route = Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly request: RouteRequest
  /** The route's body, parsed. */
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : undefined
  /** Dotted paths of what is to be cleared; in the body they are null, but for keys of free data. */
  readonly cleared: readonly string[]
  /** The tool's own arguments, parsed. */
  readonly options: z.output<z.ZodObject<O>>
  readonly session: Session
  /** For everything that is read besides what was asked for, such as for a hint. */
  readonly restricted: RestrictedSession
  readonly signal: AbortSignal | undefined
  /** Fires when the client has gone: what is under way is done, but nothing is waited for. */
  readonly shutdown?: AbortSignal | undefined
  /** When it has to be answered, by the clock of `performance.now`, ms. */
  readonly answerBy: number
  readonly takesTasks: boolean
  /** Asks a person, where the operator wants that; throws when there is no agreement (yet). */
  readonly confirm: Confirm
  /** Tells a client that wants to know how far it is; `done` only grows. */
  readonly progress: (done: number, message: string) => void
}

/** A narrower or differently shaped view of a route's reply. */
export interface ResultView<R extends Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly schema: z.ZodObject
  readonly from: (
    reply: ReplyOf<R>,
    request: RouteRequest,
    options: z.output<z.ZodObject<O>>,
  ) => StructuredContent
  /** How a result that is too long is shortened; without it only its longest texts are. */
  readonly cut?: Cut
}

/** What a tool does that is more than one request, and what comes of it. */
export interface Steps<R extends Route, O extends z.ZodRawShape = Record<never, never>> {
  readonly schema: z.ZodObject
  /** Arguments that the steps take and do not send. */
  readonly options?: O
  /** Route arguments that they do not take. */
  readonly without?: readonly string[]
  /** They tell how far they are. */
  readonly reports?: boolean
  /** They are answered before clients give up, whatever the platform does: see `run.answerBy`. */
  readonly isBounded?: boolean
  readonly run: (run: Run<R, O>) => Promise<ToolOutcome>
  readonly cut?: Cut
}

/** What a tool file says about a tool; everything else follows from the route. */
export interface ToolSpec<R extends Route, O extends z.ZodRawShape = Record<never, never>> {
  /** `verb_noun`, in the API's own words. */
  readonly name: string
  readonly title: string
  /** What it does, when to use it, what to use instead: at most three sentences. */
  readonly description: string
  readonly route: R
  /** Arguments that are the tool's own and are not sent; those of its steps come with them. */
  readonly options?: O
  /** What is sent for query parameters that are not given; the platform's own default otherwise. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Where the listing says less of objects than their whole schema, which costs many tokens. */
  readonly listing?: Listing
  /**
   * Fields that can be cleared by name, as dotted paths. In an update these are all fields that take
   * null, unless some are named here; when something is created, only those named.
   */
  readonly clears?: readonly string[]
  /** Needed where the reply is no object, or is more than the caller wants. */
  readonly result?: ResultView<R, O>
  /** Instead of it, where there is more to do than one request. */
  readonly steps?: Steps<R, O>
  /** Where the steps do more, or less, than the route says. */
  readonly effect?: Route['effect']
}

/** One tool: an operation of the platform as an assistant sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly route: Route
  readonly effect: Route['effect']
  /** What arguments are parsed with; unknown ones are reported before (see arguments.ts). */
  readonly input: z.ZodObject
  readonly inputSchema: () => JsonSchema
  /** What its results match, apart from the account that each names. */
  readonly output: z.ZodObject
  readonly options: z.ZodObject
  /** Dotted paths that its argument `clear` takes, besides those in free data; if none, it has no such argument. */
  readonly clearable: readonly string[]
  readonly defaults: Readonly<Record<string, unknown>>
  /** The tool as `tools/list` shows it; `pinned` where the account is not the caller's to name. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolTool
  readonly cut: Cut | undefined
  /** It may ask a person, or give a token to come back with. */
  readonly asks: boolean
  /** It may tell how far it is. */
  readonly reports: boolean
  /** It is answered before clients give up. */
  readonly isBounded: boolean
  readonly run: (run: Run) => Promise<ToolOutcome>
}

/** Makes a tool from its record. */
export function defineTool<R extends Route, O extends z.ZodRawShape = Record<never, never>>(
  spec: ToolSpec<R, O>,
): Tool {
  const { name, title, description, route, defaults = {}, effect = route.effect } = spec
  const options = z.object(spec.options ?? spec.steps?.options ?? {})
  const clearable = clearableOf(spec)
  const input = inputOf(spec, clearable)
  const steps: Steps<R, O> = spec.steps ?? oneStep(route, spec.result ?? defaultView(route))
  const inputSchema = once(() =>
    withoutNull(jsonSchemaOf(input, 'input', { defaults: route.method !== 'PATCH' })),
  )
  const output = clearable.length > 0 ? steps.schema.extend(ignoredNullsShape) : steps.schema
  const listed = (account: 'any' | 'pinned') => ({
    name,
    title,
    description: account === 'any' ? description : withoutAccounts(description),
    inputSchema: rootObject(listedSchema(inputSchema(), account, spec.listing ?? {})),
    outputSchema: rootObject(
      jsonSchemaOf(account === 'any' ? withAccount(output, route) : output, 'output'),
    ),
    annotations: annotationsOf(title, route, effect),
  })
  const shown = {
    any: once(() => listings?.[name] ?? listed('any')),
    pinned: once(() => listed('pinned')),
  }
  return {
    name,
    title,
    description,
    route,
    effect,
    input,
    inputSchema,
    output,
    options,
    clearable,
    defaults,
    listed: (account) => shown[account](),
    cut: steps.cut,
    asks: confirmName in options.shape,
    reports: steps.reports ?? false,
    isBounded: steps.isBounded ?? false,
    // The request was parsed with this route's schemas and the options with the spec's.
    run: (call) => steps.run(call as Run<R, O>),
  }
}

/** One request, and its reply as the view has it. */
function oneStep<R extends Route, O extends z.ZodRawShape>(
  route: R,
  { from, ...rest }: ResultView<R, O>,
): Steps<R, O> {
  return {
    ...rest,
    async run({ request, options, session, signal }) {
      const reply = await session.client.call(route, request, signal)
      return { structured: from(reply, request, options) }
    },
  }
}

/** All of a route's fields side by side; the account last, because it is rarely given. */
function inputOf<R extends Route, O extends z.ZodRawShape>(
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
  const offered = { ...params, ...route.body?.shape, ...Object.fromEntries(query) }
  return z.object({
    ...Object.fromEntries(Object.entries(offered).filter(([name]) => !without.includes(name))),
    ...(clearable.length > 0 && { [clearName]: clearOption.describe(clearDescription(spec)) }),
    ...options,
    ...(account_id instanceof z.ZodType && { account_id: account_id.optional() }),
  })
}

const clearableOf = <R extends Route, O extends z.ZodRawShape>({
  route: { method, body },
  clears,
}: ToolSpec<R, O>): readonly string[] =>
  clears ?? (method === 'PATCH' && body ? nullablePaths(body) : [])

/** A few paths are named; of many, what they look like. */
const clearDescription = ({ clears }: { readonly clears?: readonly string[] }) =>
  clears ? `Fields to set to none: ${clears.join(', ')}.` : 'Fields to clear, by dotted path.'

/** The reply as it is; for an acknowledgement, what was done to which id. */
function defaultView<R extends Route>(route: R): ResultView<R> {
  if (route.reply instanceof z.ZodObject) {
    return { schema: route.reply, from: (reply) => reply as StructuredContent }
  }
  if (route.reply) throw new Error(`${route.id}: a reply that is no object needs a view`)
  const { account_id: _, ...ids } = route.params.shape
  return {
    schema: z.object({ done: z.literal(true).describe('It was done.'), ...ids }),
    from: (_, { params: { account_id: _account, ...given } }) => ({ done: true, ...given }),
  }
}

/** What is said of choosing an account says nothing where there is no choice. */
const withoutAccounts = (description: string) =>
  description
    .split(/(?<=\.) /)
    .filter((sentence) => !sentence.includes('account_id'))
    .join(' ')

/** Every result that belongs to an account names it. */
function withAccount(schema: z.ZodObject, route: Route): z.ZodObject {
  if (!('account_id' in route.params.shape) || 'account_id' in schema.shape) return schema
  return schema.extend({ account_id: z.string().optional().describe('Account it belongs to.') })
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
