import type { Tool as ProtocolTool } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import type { ViewName } from '../apps/views.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { ReplyOf, RequestOf, Route, RouteRequest } from '../contract/route.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { StateError } from '../state/state-access.ts'
import type { Confirm } from './confirmation.ts'
import type { Refused } from './refused.ts'
import type { Task } from './task.ts'

/**
 * Specification of a tool, as its file has it. Everything else follows from the route
 * (define-tool.ts).
 */
export type ToolSpec<
  R extends Route,
  O extends z.ZodRawShape = Record<never, never>,
> = ToolWords<R> & (OneRequest<R, O> | Steps<R, O>)

interface ToolWords<R extends Route> {
  /** `verb_noun`, in the platform API's own words. */
  readonly name: string
  readonly title: string
  /** Purpose, when to use it, and alternatives: at most three sentences. */
  readonly description: string
  readonly route: R
  /** Values sent for query parameters that the caller omits, instead of the platform's defaults. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Parts of the schema that tools/list abbreviates, to save tokens. */
  readonly listing?: ListingDetail
  /**
   * Dotted paths of fields that the argument `clear` can clear. By default, an update can clear all
   * fields that allow null, and a creation none.
   */
  readonly clears?: readonly string[]
  /** The view that shows the tool's results, in clients that support views. */
  readonly view?: ViewName
  /** Effect of the steps, if it differs from the route's. */
  readonly effect?: Route['effect']
}

/** Parts of the schema that tools/list abbreviates. */
export interface ListingDetail {
  /** Objects whose fields are listed without descriptions, because names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /**
   * Arguments listed with their type only; objects are listed as open objects with field names.
   * Another tool describes these arguments.
   */
  readonly typesOnly?: readonly string[]
  /**
   * Open objects listed with their description only. The description says where the fields are
   * documented.
   */
  readonly describedElsewhere?: readonly string[]
  /** Accepted arguments that are not listed, because they nearly duplicate others. */
  readonly hidden?: readonly string[]
}

/** A tool that sends one request and shows its reply. */
export interface OneRequest<R extends Route, O extends z.ZodRawShape> {
  /** The tool's own arguments. They are not sent to the platform. */
  readonly options?: O
  /**
   * The result in place of the platform's reply. Required if the reply is not an object, or has
   * more fields than the caller needs.
   */
  readonly result?: ResultView<R, O>
  /** Text of the reply, in place of its JSON. */
  readonly line?: (reply: ReplyOf<R>) => string
  readonly run?: never
}

/** A view of a route's reply: narrower, or in another shape. */
export interface ResultView<R extends Route, O extends z.ZodRawShape = z.ZodRawShape> {
  readonly schema: z.ZodObject
  readonly from: (
    reply: ReplyOf<R>,
    request: RouteRequest,
    options: z.output<z.ZodObject<O>>,
  ) => StructuredContent
  /** How to shorten a long result. By default, only its longest texts are shortened. */
  readonly shortening?: ItemShortening
}

/** A tool that runs several requests. */
export interface Steps<R extends Route, O extends z.ZodRawShape = Record<never, never>> {
  readonly schema: z.ZodObject
  /** The tool's own arguments. They are not sent to the platform. */
  readonly options?: O
  /** Options that change something: an update may consist of them alone. */
  readonly changes?: readonly string[]
  /**
   * Fields of the route's body that callers may give in another form, such as a name in place of a
   * number.
   */
  readonly accepts?: z.ZodRawShape
  /** Argument names that callers use for missing features, each with the alternative. */
  readonly absent?: AbsentFields
  /** Arguments of the route that the steps do not accept. */
  readonly without?: readonly string[]
  readonly reportsProgress?: boolean
  /** Whether the tool waits for telephone calls: always, or only if the named argument is true. */
  readonly waits?: Waits
  /**
   * If true, the tool answers before clients time out, however slow the platform is: see
   * `run.answerBy`.
   */
  readonly hasTimeLimit?: boolean
  readonly run: (run: Run<R, O>) => Promise<ToolOutcome>
  readonly shortening?: ItemShortening
}

/** Argument names that callers use for missing features, each with the alternative. */
export type AbsentFields = Readonly<Record<string, string>>

/** Whether a tool waits for telephone calls: always, or only if the named argument is true. */
type Waits = 'always' | { readonly with: string }

/** Output of a tool's steps. */
export interface ToolOutcome extends ToolOutput {
  /** Task in place of a pending result. Only clients that support tasks get it. */
  readonly task?: Task
  /** Account that the result names, if not the request's. */
  readonly accountId?: string
}

/** Data of a tool result. Always matches the tool's output schema. */
export type StructuredContent = Record<string, unknown>

/**
 * Output of a tool: data, and lines if the text should say more than the data as JSON. Lines may
 * contain unescaped outside text: each line is escaped before it is shown.
 */
export interface ToolOutput {
  readonly structured: StructuredContent
  readonly lines?: readonly string[]
}

/** Output of a tool that always has lines. */
export type OutputWithLines = Required<ToolOutput>

/** Shortens a result with many items to its first items. */
export interface ItemShortening {
  readonly count: (result: Readonly<StructuredContent>) => number
  /** The same result with only its first `kept` items, and a note that says how to get the rest. */
  readonly keep: (
    result: Readonly<StructuredContent>,
    kept: number,
    request: RouteRequest,
  ) => Readonly<StructuredContent>
}

/** Context in which the steps of one tool call run. */
export interface Run<R extends Route = Route, O extends z.ZodRawShape = z.ZodRawShape> {
  /** The request that the arguments describe, parsed. */
  readonly request: RequestOf<R>
  /** The names that were replaced with ids, by argument. */
  readonly named: Readonly<Record<string, string>>
  /**
   * Dotted paths of the fields to clear. The body has null at these paths, except at keys of
   * free-form data.
   */
  readonly cleared: readonly string[]
  /** The tool's own arguments, parsed. */
  readonly options: z.output<z.ZodObject<O>>
  readonly session: Session
  /** Session for reads that the client did not ask for, such as reads for a hint. */
  readonly restricted: RestrictedSession
  readonly signal: AbortSignal | undefined
  /**
   * Fires when the client disconnects or the server stops. Running work may finish, but must not
   * wait for anything.
   */
  readonly shutdown?: AbortSignal | undefined
  /** Start of the tool call, as a time of `performance.now`, ms. */
  readonly begunAt: number
  /** Deadline of the tool's steps, as a time of `performance.now`, ms. */
  readonly answerBy: number
  readonly takesTasks: boolean
  /** Asks for confirmation, if the operator requires it. Throws NotConfirmed without one. */
  readonly confirm: Confirm
  /** Adds a coercion to the result. */
  readonly noteCoercion: (coercion: string) => void
  /** Refusal of one item of a bulk operation because the state store is unavailable. */
  readonly stateRefusal: (error: StateError) => Refused
  /** Reports progress to a client that asked for it. `done` must never decrease. */
  readonly progress: (done: number, message: string) => void
}

/** One tool: an operation of the platform as a client sees it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly route: Route
  readonly effect: Route['effect']
  readonly view: ViewName | undefined
  /** Schema that parses the arguments. Unknown arguments are reported before (see arguments.ts). */
  readonly input: z.ZodObject
  readonly inputSchema: () => JsonSchema
  /** Schema of the tool's results. */
  readonly output: () => z.ZodObject
  /** The fields of `output` that the reply of the tool's route does not have. */
  readonly ownOutput: () => z.ZodObject
  /** Complete JSON Schema of the tool's results. tools/list abbreviates it. */
  readonly outputSchema: () => JsonSchema
  readonly options: z.ZodObject
  readonly absent: AbsentFields
  /**
   * Dotted paths that the argument `clear` accepts, besides free-form data. If empty, the tool has
   * no `clear`.
   */
  readonly clearable: readonly string[]
  /** The tool's own arguments that change something, besides the fields of the route. */
  readonly changes: readonly string[]
  readonly defaults: Readonly<Record<string, unknown>>
  /** The tool as `tools/list` shows it; `pinned`: callers cannot choose the account. */
  readonly listed: (account: 'any' | 'pinned') => ProtocolTool
  readonly shortening: ItemShortening | undefined
  /** True if the tool may ask a person, or return a confirmation token. */
  readonly asksConfirmation: boolean
  readonly reportsProgress: boolean
  /** When the tool waits for telephone calls; `undefined`: never. */
  readonly waits: Waits | undefined
  /** True if the tool answers before clients time out. */
  readonly hasTimeLimit: boolean
  readonly run: (run: Run) => Promise<ToolOutcome>
}
