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

/** What a tool file states about a tool; everything else follows from the route (define-tool.ts). */
export type ToolSpec<
  R extends Route,
  O extends z.ZodRawShape = Record<never, never>,
> = ToolWords<R> & (OneRequest<R, O> | Steps<R, O>)

interface ToolWords<R extends Route> {
  /** `verb_noun`, in the API's own words. */
  readonly name: string
  readonly title: string
  /** What it does, when to use it, what to use instead: at most three sentences. */
  readonly description: string
  readonly route: R
  /** Sent for query parameters that are not given, instead of the platform's own defaults. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Where tools/list shows less than the whole schema of the arguments, to save tokens. */
  readonly listing?: ListingDetail
  /**
   * Fields that the argument `clear` can clear, as dotted paths. An update clears all fields that
   * allow null, unless some are named here; a creation clears only those named here.
   */
  readonly clears?: readonly string[]
  /** The view that shows its results to clients that have views. */
  readonly view?: ViewName
  /** Where the steps have another effect than the route. */
  readonly effect?: Route['effect']
}

/** Where tools/list shows less than the whole schema. */
export interface ListingDetail {
  /** Objects whose fields have no descriptions: their names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /**
   * Arguments shown by type alone, objects as open ones with the names of their fields: another tool
   * describes them.
   */
  readonly typesOnly?: readonly string[]
  /** Open objects of which only the description is shown, which says where their fields are listed. */
  readonly describedElsewhere?: readonly string[]
  /** Arguments that are not shown, because others do nearly the same. They are accepted. */
  readonly hidden?: readonly string[]
}

/** A tool that sends one request, and shows its reply. */
export interface OneRequest<R extends Route, O extends z.ZodRawShape> {
  /** Arguments of the tool itself, which are not sent. */
  readonly options?: O
  /** Needed where the reply is not an object, or more than the caller wants. */
  readonly result?: ResultView<R, O>
  /** What the text says of the reply, instead of all of it as JSON. */
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
  /** How a long result is shortened; without it only its longest texts are. */
  readonly shortening?: ItemShortening
}

/** A tool of several requests. */
export interface Steps<R extends Route, O extends z.ZodRawShape = Record<never, never>> {
  readonly schema: z.ZodObject
  /** Arguments of the tool itself, which are not sent. */
  readonly options?: O
  /** Those of the options that change something: an update may consist of them alone. */
  readonly changes?: readonly string[]
  /** Fields of the route's body that callers may give in another form: a name for a number. */
  readonly accepts?: z.ZodRawShape
  /** Names that callers give for what the API does not have, each with what to do instead. */
  readonly absent?: AbsentFields
  /** Arguments of the route that the steps do not accept. */
  readonly without?: readonly string[]
  readonly reportsProgress?: boolean
  /** They wait for telephone calls: always, or if the named argument is true. */
  readonly waits?: Waits
  /** They answer before clients give up, however slow the platform is: see `run.answerBy`. */
  readonly hasTimeLimit?: boolean
  readonly run: (run: Run<R, O>) => Promise<ToolOutcome>
  readonly shortening?: ItemShortening
}

/** Names that callers give for what the API does not have, each with what to do instead. */
export type AbsentFields = Readonly<Record<string, string>>

/** When a tool waits for telephone calls: always, or if the named argument is true. */
type Waits = 'always' | { readonly with: string }

/** What the steps of a tool give back. */
export interface ToolOutcome extends ToolOutput {
  /** A task stands for the result, which is not there yet: only for clients that support tasks. */
  readonly task?: Task
  /** The account that the result names, where it is not that of the request. */
  readonly accountId?: string
}

/** The data of a tool result, as a program reads it: it always matches the tool's output schema. */
export type StructuredContent = Record<string, unknown>

/**
 * What a tool shows: data, and where its text is more than the data as JSON, the lines of it.
 * Text from outside may stand in a line as it is: each line is escaped before it is shown.
 */
export interface ToolOutput {
  readonly structured: StructuredContent
  readonly lines?: readonly string[]
}

/** The same, where the text is always lines. */
export type OutputWithLines = Required<ToolOutput>

/** How a result with many items is shortened to its first items. */
export interface ItemShortening {
  /** How many items it holds. */
  readonly count: (result: Readonly<StructuredContent>) => number
  /** The same result with the first `kept` of its items, and how to get the rest. */
  readonly keep: (
    result: Readonly<StructuredContent>,
    kept: number,
    request: RouteRequest,
  ) => Readonly<StructuredContent>
}

/** What the steps of a tool work with in one call. */
export interface Run<R extends Route = Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly request: RouteRequest
  /** The route's body, parsed. */
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : undefined
  /** The names in place of which the request has ids, by argument. */
  readonly named: Readonly<Record<string, string>>
  /** Dotted paths of what to clear; the body has null there, except for keys of free data. */
  readonly cleared: readonly string[]
  /** The tool's own arguments, parsed. */
  readonly options: z.output<z.ZodObject<O>>
  readonly session: Session
  /** For reads beyond what the client asked for, such as for a hint. */
  readonly restricted: RestrictedSession
  readonly signal: AbortSignal | undefined
  /** Fires when the client has gone or the server stops: what has begun is finished, but nothing is waited for. */
  readonly shutdown?: AbortSignal | undefined
  /** When the tool call began, by the clock of `performance.now`, ms. */
  readonly begunAt: number
  /** When the steps have to be done, by the clock of `performance.now`, ms. */
  readonly answerBy: number
  readonly takesTasks: boolean
  /** Asks a person, where the operator wants that; throws while there is no agreement. */
  readonly confirm: Confirm
  /** Reports in the result how an argument in another form was read. */
  readonly noteCoercion: (coercion: string) => void
  /** The refusal of one of several things that a tool does, where the state cannot be used. */
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
  /** The whole schema of its results: tools/list shows less. */
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
  /** It may ask a person, or return a token to confirm with. */
  readonly asksConfirmation: boolean
  readonly reportsProgress: boolean
  /** `undefined`: it never waits for telephone calls. */
  readonly waits: Waits | undefined
  /** It answers before clients give up. */
  readonly hasTimeLimit: boolean
  readonly run: (run: Run) => Promise<ToolOutcome>
}
