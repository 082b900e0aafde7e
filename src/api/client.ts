import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { ApiError, type Failure, SendFailure } from './failure.ts'
import { type Outcome, readReply } from './reply.ts'
import { defaultRetryPolicy, type RetryPolicy, waitBeforeRetry } from './retry.ts'
import type { Send } from './send.ts'
import { targetOf } from './target.ts'
import { pause } from './time-limit.ts'

/** Speaks the platform's API with one user's key. Cheap to make: connections live in `send`. */
export interface Client {
  /**
   * Calls one operation and gives its parsed reply; `undefined` for an acknowledgement.
   * Whatever the platform or the network does wrong is thrown as ApiError.
   */
  call<R extends Route>(route: R, request: RouteRequest, signal?: AbortSignal): Promise<ReplyOf<R>>
}

export interface ClientOptions {
  readonly send: Send
  readonly apiKey: string
  /** The network of the client that the key came from, where that is known. */
  readonly clientNetwork?: string | undefined
  /** Such as `voice-agent-mcp/1.0.0`. */
  readonly userAgent: string
  readonly retry?: RetryPolicy
  /** Longest time spent on requests, all tries together, ms; waiting as asked comes on top. */
  readonly totalTimeoutMs?: number
}

export function createClient(options: ClientOptions): Client {
  const { retry = defaultRetryPolicy, totalTimeoutMs = 30_000 } = options
  return {
    async call(route, request, signal) {
      let timeLeftMs = totalTimeoutMs
      let patience = retry.longestRetryAfter * 1000
      for (let attempts = 1; ; attempts++) {
        const started = performance.now()
        const outcome = await attempt(route, request, options, { signal, timeLeftMs })
        timeLeftMs -= performance.now() - started
        // The value was parsed with this route's own reply schema, which is what ReplyOf names.
        if (outcome.ok) return outcome.value as ReplyOf<typeof route>
        const wait = waitBeforeRetry(route.method, outcome.failure, attempts, retry)
        if (wait === null || wait > patience || timeLeftMs <= 0) {
          const failure = withElapsed(outcome.failure, totalTimeoutMs - timeLeftMs)
          throw new ApiError(failure, { ...route, attempts })
        }
        patience -= wait
        await pause(wait, signal)
        if (signal?.aborted) {
          // Between two tries nothing is under way, and only what was not done is tried again.
          throw new ApiError({ kind: 'cancelled', maybeSent: false }, { ...route, attempts })
        }
      }
    },
  }
}

async function attempt(
  route: Route,
  request: RouteRequest,
  { send, apiKey, userAgent, clientNetwork }: ClientOptions,
  { signal, timeLeftMs }: { signal: AbortSignal | undefined; timeLeftMs: number },
): Promise<Outcome> {
  // A request that was made for a change may serve to read the same thing, too.
  const body = route.body ? request.body : undefined
  try {
    const reply = await send({
      method: route.method,
      target: targetOf(route, request),
      headers: {
        'x-api-key': apiKey,
        'user-agent': userAgent,
        accept: 'application/json',
        // Nothing is unpacked here, and whoever does not say so may be sent it (RFC 9110 §12.5.3).
        'accept-encoding': 'identity',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(clientNetwork !== undefined && { clientNetwork }),
      timeLeftMs,
    })
    return readReply(route, reply)
  } catch (error) {
    const failure = failureOf(error)
    return isAcknowledged(route, failure) ? { ok: true, value: undefined } : { ok: false, failure }
  }
}

/** A timeout tells how long was waited in all, not how much of that the last try was given. */
const withElapsed = (failure: Failure, elapsedMs: number): Failure =>
  failure.kind === 'timeout' ? { ...failure, afterMs: Math.round(elapsedMs) } : failure

/** An acknowledgement says it all by its status, even if its body broke off. */
const isAcknowledged = (route: Route, failure: Failure) =>
  !route.reply &&
  failure.kind === 'unreadable' &&
  failure.status < 300 &&
  failure.reason === 'cut_off'

/** Anything a sender throws that is no SendFailure is a bug of ours, and passes through as one. */
function failureOf(error: unknown): Failure {
  if (error instanceof SendFailure) return error.failure
  throw error
}
