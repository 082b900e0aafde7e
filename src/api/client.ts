import type { Method, ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { ApiError, type Failure, SendFailure } from './failure.ts'
import { type Outcome, readReply } from './reply.ts'
import { defaultRetryPolicy, type RetryPolicy, waitBeforeRetry } from './retry.ts'
import type { Send, WireReply } from './send.ts'
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

/** One request, as it went. */
export interface ClientTry {
  /** The id of its route. */
  readonly operation: string
  /** Of the reply; `undefined` if there was none. */
  readonly status: number | undefined
  readonly requestId: string | undefined
  /** `undefined`: it succeeded. */
  readonly failure: Failure['kind'] | undefined
  readonly durationMs: number
  /** Whether it repeats one that failed. */
  readonly isRetry: boolean
}

/** A try that begins. */
export interface BeginningTry {
  /** The id of its route. */
  readonly operation: string
  readonly method: Method
  /** Its path with variables, such as `/v1/accounts/{account_id}/agents`. */
  readonly path: string
  /** How many tries were before it. */
  readonly resends: number
}

/** What is done around a try. */
export interface ObservedTry {
  /** Further headers to send. */
  readonly headers: Readonly<Record<string, string>>
  run<T>(send: () => T): T
  end(attempt: ClientTry): void
}

export interface ClientOptions {
  readonly send: Send
  readonly apiKey: string
  /** The network of the client that the key came from, where that is known. */
  readonly clientNetwork?: string | undefined
  /** Such as `voice-agent-mcp/1.0.0`. */
  readonly userAgent: string
  readonly retry?: RetryPolicy
  /** Called before every try. */
  readonly beginTry?: ((beginning: BeginningTry) => ObservedTry) | undefined
  /** Called after every try. */
  readonly onTry?: ((attempt: ClientTry) => void) | undefined
  /** Longest time spent on requests, all tries together, ms; waits between tries are not counted. */
  readonly totalTimeoutMs?: number
}

export function createClient(options: ClientOptions): Client {
  const { retry = defaultRetryPolicy, totalTimeoutMs = 30_000 } = options
  const isObserved = options.beginTry !== undefined || options.onTry !== undefined
  return {
    async call(route, request, signal) {
      let timeLeftMs = totalTimeoutMs
      let patience = retry.longestRetryAfter * 1000
      for (let attempts = 1; ; attempts++) {
        const started = performance.now()
        const trying = { signal, timeLeftMs, resends: attempts - 1 }
        const outcome = await (isObserved
          ? observedAttempt(route, request, options, trying)
          : attempt(route, request, options, trying))
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
          // No request is under way between two tries, and the last one was not carried out.
          throw new ApiError({ kind: 'cancelled', maybeSent: false }, { ...route, attempts })
        }
      }
    },
  }
}

/** What came of a try, with its reply if one came. */
type Tried = Outcome & { readonly reply?: WireReply }

function tryOf(
  { id }: Route,
  tried: Tried,
  how: Pick<ClientTry, 'durationMs' | 'isRetry'>,
): ClientTry {
  const failure = tried.ok ? undefined : tried.failure
  // A reply that was cut off is known by its failure alone.
  const { status, requestId } = { status: undefined, requestId: null, ...failure }
  return {
    operation: id,
    status: tried.reply?.status ?? status,
    requestId: tried.reply?.header('x-request-id') ?? requestId ?? undefined,
    failure: failure?.kind,
    ...how,
  }
}

/** One try, with what there is for it. */
interface Trying {
  readonly signal: AbortSignal | undefined
  readonly timeLeftMs: number
  /** How many tries were before it. */
  readonly resends: number
}

async function observedAttempt(
  route: Route,
  request: RouteRequest,
  options: ClientOptions,
  trying: Trying,
): Promise<Tried> {
  const { id: operation, method, path } = route
  const { resends } = trying
  const observed = options.beginTry?.({ operation, method, path, resends })
  const started = performance.now()
  const send = () => attempt(route, request, options, trying, observed?.headers)
  const outcome = await (observed ? observed.run(send) : send())
  const durationMs = performance.now() - started
  const tried = tryOf(route, outcome, { durationMs, isRetry: resends > 0 })
  observed?.end(tried)
  options.onTry?.(tried)
  return outcome
}

async function attempt(
  route: Route,
  request: RouteRequest,
  { send, apiKey, userAgent, clientNetwork }: ClientOptions,
  { signal, timeLeftMs }: Trying,
  moreHeaders?: Readonly<Record<string, string>>,
): Promise<Tried> {
  // The request of a change is also used to read the same resource, which takes no body.
  const body = route.body ? request.body : undefined
  try {
    const reply = await send({
      method: route.method,
      target: targetOf(route, request),
      headers: {
        ...moreHeaders,
        'x-api-key': apiKey,
        'user-agent': userAgent,
        accept: 'application/json',
        // Replies are not decompressed here. Without this header any encoding is allowed (RFC 9110
        // §12.5.3).
        'accept-encoding': 'identity',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(clientNetwork !== undefined && { clientNetwork }),
      timeLeftMs,
    })
    return { ...readReply(route, reply), reply }
  } catch (error) {
    const failure = failureOf(error)
    return isAcknowledged(route, failure) ? { ok: true, value: undefined } : { ok: false, failure }
  }
}

/** A timeout with the time of all tries together, not only of the last one. */
const withElapsed = (failure: Failure, elapsedMs: number): Failure =>
  failure.kind === 'timeout' ? { ...failure, afterMs: Math.round(elapsedMs) } : failure

/** Whether only the body of an acknowledgement is incomplete: its status is enough. */
const isAcknowledged = (route: Route, failure: Failure) =>
  !route.reply &&
  failure.kind === 'unreadable' &&
  failure.status < 300 &&
  failure.reason === 'cut_off'

/** Everything else that a sender throws is a bug of this program, and is thrown on. */
function failureOf(error: unknown): Failure {
  if (error instanceof SendFailure) return error.failure
  throw error
}
