import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { LlmCalls } from './llm-dialogue.ts'
import type { Store } from './store.ts'

/** An authenticated and validated request. */
export interface HandlerInput<R extends Route> {
  readonly store: Store
  /** The account of the API key. */
  readonly own: AccountRow
  /** The account in the path; by default the API key's own. */
  readonly account: AccountRow
  readonly params: z.output<R['params']>
  readonly query: z.output<R['query']>
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : null
  /** Time of the request, Unix ms. */
  readonly now: number
  /** Speed of simulated calls relative to the wall clock. */
  readonly speed: number
  /** Present when a language model is configured to speak in calls. */
  readonly live: LlmCalls | undefined
  /** Present when web calls can be joined in a browser. */
  readonly webCalls: WebCalls | undefined
}

/** Settings of joinable web calls. */
interface WebCalls {
  /** The origin of the pages. */
  readonly pagesAt: string
  /** Time to wait for a person, ms; then the simulated caller joins. */
  readonly waitMs: number
}

/** A reply with another status than the route's documented success. */
export class ReplyWithStatus<T> {
  readonly status: number
  readonly reply: T

  constructor(status: number, reply: T) {
    this.status = status
    this.reply = reply
  }
}

type HandlerReply<R extends Route> = R['reply'] extends z.ZodType ? z.input<R['reply']> : undefined

/** Validated input of any route. */
export interface AnyInput extends Omit<HandlerInput<Route>, 'body'> {
  readonly body: unknown
}

/** The handler of one operation, made by `on`. */
export interface Handler {
  readonly route: Route
  readonly handle: (input: AnyInput) => unknown
}

/** Builds the handler of a route, typed by the route's input and reply. */
export function on<R extends Route>(
  route: R,
  handle: (input: HandlerInput<R>) => HandlerReply<R> | ReplyWithStatus<HandlerReply<R>>,
): Handler {
  // The router validates the input with this route before it calls the handler.
  return { route, handle: handle as Handler['handle'] }
}

/** A stored account. Instants are Unix ms. */
export const AccountRow = z.object({
  id: z.string(),
  parent_id: z.string().nullable(),
  name: z.string(),
  is_active: z.int(),
  created: z.int(),
  modified: z.int(),
})
export type AccountRow = z.output<typeof AccountRow>
