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
  /** The account the path names; the key's own where it names none. */
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

/** Input as the router has it: validated, but of no particular route. */
export interface AnyInput extends Omit<HandlerInput<Route>, 'body'> {
  readonly body: unknown
}

/** One operation, ready to be run: its types are checked where `on` makes it. */
export interface Handler {
  readonly route: Route
  readonly handle: (input: AnyInput) => unknown
}

/** Binds a handler to its route, so that input and reply are of that route's types. */
export function on<R extends Route>(
  route: R,
  handle: (input: HandlerInput<R>) => HandlerReply<R> | ReplyWithStatus<HandlerReply<R>>,
): Handler {
  // The router validates input with this very route before it calls the handler.
  return { route, handle: handle as Handler['handle'] }
}
