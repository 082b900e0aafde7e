import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import type { ViewName } from '../apps/views.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { StateError } from '../state/state-access.ts'
import type { Confirm } from './confirmation.ts'
import type { Refused } from './refused.ts'
import type { Task } from './task.ts'

/** Record of a tool in its file. Everything else follows from the route (define-tool.ts). */
export type ToolSpec<
  R extends Route,
  O extends z.ZodRawShape = Record<never, never>,
> = ToolWords<R> & (OneRequest<R, O> | Steps<R, O>)

interface ToolWords<R extends Route> {
  /** `verb_noun`, in the API's own words. */
  readonly name: string
  readonly title: string
  /** Purpose, when to use it, and alternatives: at most three sentences. */
  readonly description: string
  readonly route: R
  /** Sent for query parameters that are not given, instead of the platform's own defaults. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Parts of the schema that tools/list abbreviates, to save tokens. */
  readonly listing?: ListingDetail
  /**
   * Fields that the argument `clear` can clear, as dotted paths. An update clears all fields that
   * allow null, unless some are named here; a creation clears only those named here.
   */
  readonly clears?: readonly string[]
  /** The view that shows its results to clients that have views. */
  readonly view?: ViewName
  /** Effect of the steps, if it differs from the route's. */
  readonly effect?: Route['effect']
}

/** Parts of the schema that tools/list abbreviates. */
export interface ListingDetail {
  /** Objects whose fields have no descriptions: their names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /**
   * Arguments shown by type alone, objects as open ones with the names of their fields: another tool
   * describes them.
   */
  readonly typesOnly?: readonly string[]
  /** Open objects shown by description only, which says where their fields are listed. */
  readonly describedElsewhere?: readonly string[]
  /** Accepted but unlisted arguments, which nearly duplicate others. */
  readonly hidden?: readonly string[]
}

/** A tool that sends one request, and shows its reply. */
export interface OneRequest<R extends Route, O extends z.ZodRawShape> {
  /** Arguments of the tool itself, which are not sent. */
  readonly options?: O
  /** Required if the reply is not an object, or has more than the caller needs. */
  readonly result?: ResultView<R, O>
  /** Text for the reply, instead of its JSON. */
  readonly line?: (reply: ReplyOf<R>) => string
  readonly run?: never
}

/** A narrower or differently shaped view of a route's reply. */
export interface ResultView<R extends Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly schema: z.ZodObject
  readonly from: (
    reply: ReplyOf<R>,
    request: RouteRequest,
    options: z.output<z.ZodObject<O>>,
  ) => StructuredContent
  /** Shortening of a long result; by default, only its longest texts are shortened. */
  readonly shortening?: ItemShortening
}

/** A tool of several requests. */
export interface Steps<R extends Route, O extends z.ZodRawShape = Record<never, never>> {
  readonly schema: z.ZodObject
  /** Arguments of the tool itself, which are not sent. */
  readonly options?: O
  /** Names of the options that change something: an update may consist of them alone. */
  readonly changes?: readonly string[]
  /** Fields of the route's body that callers may give in another form: a name for a number. */
  readonly accepts?: z.ZodRawShape
  /** Names that callers use for missing features, each with the alternative. */
  readonly absent?: AbsentFields
  /** Arguments of the route that the steps do not accept. */
  readonly without?: readonly string[]
  readonly reportsProgress?: boolean
  /** The steps wait for telephone calls: always, or if the named argument is true. */
  readonly waits?: Waits
  /**
   * If true, the steps answer before clients time out, however slow the platform is: see
   * `run.answerBy`.
   */
  readonly hasTimeLimit?: boolean
  readonly run: (run: Run<R, O>) => Promise<ToolOutcome>
  readonly shortening?: ItemShortening
}

/** Names that callers use for missing features, each with the alternative. */
export type AbsentFields = Readonly<Record<string, string>>

/** When a tool waits for telephone calls: always, or if the named argument is true. */
type Waits = 'always' | { readonly with: string }

/** Output of a tool's steps. */
export interface ToolOutcome extends ToolOutput {
  /** Task in place of a pending result, only for clients that support tasks. */
  readonly task?: Task
  /** Account of the result, if it differs from the request's. */
  readonly accountId?: string
}

/** Data of a tool result. Always matches the tool's output schema. */
export type StructuredContent = Record<string, unknown>

/**
 * Output of a tool: data, and text lines if the text is more than the data as JSON. Lines may
 * contain raw outside text: each is escaped before it is shown.
 */
export interface ToolOutput {
  readonly structured: StructuredContent
  readonly lines?: readonly string[]
}

/** A tool's output whose text is always lines. */
export type OutputWithLines = Required<ToolOutput>

/** Shortens a result with many items to its first items. */
export interface ItemShortening {
  readonly count: (result: Readonly<StructuredContent>) => number
  /** The same result with the first `kept` of its items, and how to get the rest. */
  readonly keep: (
    result: Readonly<StructuredContent>,
    kept: number,
    request: RouteRequest,
  ) => Readonly<StructuredContent>
}

/** Context of a tool's steps in one call. */
export interface Run<R extends Route = Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly request: RouteRequest
  /** The route's body, parsed. */
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : undefined
  /** Names that were replaced by ids, by argument. */
  readonly named: Readonly<Record<string, string>>
  /** Dotted paths to clear. The body has null at these paths, except at keys of free data. */
  readonly cleared: readonly string[]
  /** The tool's own arguments, parsed. */
  readonly options: z.output<z.ZodObject<O>>
  readonly session: Session
  /** For reads beyond what the client asked for, such as for a hint. */
  readonly restricted: RestrictedSession
  readonly signal: AbortSignal | undefined
  /**
   * Fires when the client disconnects or the server stops: finish running work, but do not wait for
   * anything.
   */
  readonly shutdown?: AbortSignal | undefined
  /** Start of the tool call, by `performance.now`, ms. */
  readonly begunAt: number
  /** Deadline of the steps, by `performance.now`, ms. */
  readonly answerBy: number
  readonly takesTasks: boolean
  /** Asks for confirmation, if the operator requires it. Throws without agreement. */
  readonly confirm: Confirm
  /** Adds a coercion to the result. */
  readonly noteCoercion: (coercion: string) => void
  /** Refusal of one item of a bulk operation, if the state is unavailable. */
  readonly stateRefusal: (error: StateError) => Refused
  /** Reports progress to a client that wants it; `done` only grows. */
  readonly progress: (done: number, message: string) => void
}

/** One tool: an operation of the platform as an assistant sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly route: Route
  readonly effect: Route['effect']
  readonly view: ViewName | undefined
  /** Parses the arguments; unknown ones are reported before (see arguments.ts). */
  readonly input: z.ZodObject
  readonly inputSchema: () => JsonSchema
  /** The schema of its results. */
  readonly output: () => z.ZodObject
  /** Complete JSON Schema of its results; tools/list abbreviates it. */
  readonly outputSchema: () => JsonSchema
  readonly options: z.ZodObject
  readonly absent: AbsentFields
  /** Dotted paths that the argument `clear` accepts, besides free data; without any there is no `clear`. */
  readonly clearable: readonly string[]
  /** Arguments of the tool itself that change something, besides the fields of the route. */
  readonly changes: readonly string[]
  readonly defaults: Readonly<Record<string, unknown>>
  /** The tool as `tools/list` shows it; `pinned`: callers cannot choose the account. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolTool
  readonly shortening: ItemShortening | undefined
  /** True if it may ask a person, or return a confirmation token. */
  readonly asksConfirmation: boolean
  readonly reportsProgress: boolean
  /** `undefined`: it never waits for telephone calls. */
  readonly waits: Waits | undefined
  /** True if it answers before clients time out. */
  readonly hasTimeLimit: boolean
  readonly run: (run: Run) => Promise<ToolOutcome>
}
