import type * as z from 'zod'
import type { Route } from '../contract/route.ts'
import type { AccountRow } from './account-row.ts'
import type { LiveCalls } from './live-calls.ts'
import type { Store } from './store.ts'

/** What a handler is given: a request that has been authenticated and validated. */
export interface HandlerInput<R extends Route> {
  readonly store: Store
  /** The account of the key. */
  readonly own: AccountRow
  /** The account of the path; the key's own when the path has none. */
  readonly account: AccountRow
  readonly params: z.output<R['params']>
  readonly query: z.output<R['query']>
  readonly body: R['body'] extends z.ZodObject ? z.output<R['body']> : null
  /** The time of the request, Unix ms. */
  readonly now: number
  /** How much faster than the wall clock simulated calls run. */
  readonly speed: number
  /** Present when a language model is configured to speak in calls. */
  readonly live: LiveCalls | undefined
  /** Present when web calls can be joined in a browser. */
  readonly webCalls: WebCalls | undefined
}

/** How a web call waits for a person. */
export interface WebCalls {
  /** Where the pages are, without a path. */
  readonly pagesAt: string
  /** For how long, ms; then the simulated caller joins. */
  readonly waitMs: number
}

/** A reply with another status than the documented success. */
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

/** The handler of one operation; `on` makes it and checks its types. */
export interface Handler {
  readonly route: Route
  readonly handle: (input: AnyInput) => unknown
}

/** Makes the handler of a route, with the route's types of input and reply. */
export function on<R extends Route>(
  route: R,
  handle: (input: HandlerInput<R>) => HandlerReply<R> | ReplyWithStatus<HandlerReply<R>>,
): Handler {
  // The router validates the input with this route before it calls the handler.
  return { route, handle: handle as Handler['handle'] }
}
