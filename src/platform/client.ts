import {
  encodeQuery,
  type Method,
  type ReplyOf,
  type Route,
  type RouteRequest,
} from '../contract/route.ts'
import type { Observer, PlatformTry } from '../server/observe/observer.ts'
import { ApiError, type Failure, isCertificateProblem, SendFailure } from './failure.ts'
import type { Send } from './http-exchange.ts'
import { type AttemptResult, readReply, type WireReply } from './reply.ts'
import type { Drift } from './reply-drift.ts'
import { pause } from './time-limit.ts'

/** The platform's API with one API key. Cheap to create: `send` owns the connections. */
export interface Client {
  /**
   * Runs an operation and returns its parsed reply; `undefined` if the route has no reply schema.
   * Throws ApiError for every failure of the platform or the network.
   */
  call<R extends Route>(route: R, request: RouteRequest, signal?: AbortSignal): Promise<ReplyOf<R>>
}

export interface ClientOptions {
  readonly send: Send
  readonly apiKey: string
  /** Value of the User-Agent header, such as `voice-agent-mcp/1.0.0`. */
  readonly userAgent: string
  /** Network of the client that sent the API key, if known. */
  readonly clientNetwork?: string | undefined
  readonly retry?: RetryPolicy
  /** Time limit of all attempts together, ms, without the waits between them. */
  readonly totalTimeoutMs?: number | undefined
  /**
   * Returns the id of the API key's own account, which is sent in place of `me`: the reference
   * types some path parameters for accounts as UUIDs [R]. Stops waiting when the signal fires.
   * Default: sends `me`.
   */
  readonly ownAccountId?: (signal: AbortSignal | undefined) => Promise<string>
  /** Records changes in the audit trail. */
  readonly audit?: WriteAudit | undefined
  /** Records every attempt, for the log, the metrics and the traces. */
  readonly observer?: Pick<Observer, 'beginTry' | 'platformTried'> | undefined
  /** Origin and base path of the platform, or `sandbox`; for traces. */
  readonly platform?: string
  /** Called after every successful reply, which shows that the platform accepts the API key. */
  readonly onAccepted?: (() => void) | undefined
  /** Called after every change, even a failed one: it may have taken effect. */
  readonly onWrite?: (request: RouteRequest) => void
  /** Called with the parts that were dropped from a reply because they contradict the contract. */
  readonly onDrift?: ((operation: string, drift: readonly Drift[]) => void) | undefined
}

/** The audit trail, as far as the client uses it. */
export interface WriteAudit {
  /**
   * Sends a change and records it. Throws ApiError if the change must not be sent without a record.
   */
  write<T>(route: Route, request: RouteRequest, send: () => Promise<T>): Promise<T>
  /** Receives every attempt, including reads. */
  tried(attempt: PlatformTry): void
}

export function createClient(options: ClientOptions): Client {
  const { audit, onWrite, ownAccountId = async () => 'me' } = options
  return {
    async call(route, given, signal) {
      const isOwn = given.params.account_id === 'me' && 'account_id' in route.params.shape
      const request = isOwn
        ? { ...given, params: { ...given.params, account_id: await ownAccountId(signal) } }
        : given
      if (route.effect === 'reads') return callWithRetries(route, request, options, signal)
      const send = () => callWithRetries(route, request, options, signal)
      try {
        return await (audit ? audit.write(route, request, send) : send())
      } finally {
        onWrite?.(request)
      }
    },
  }
}

async function callWithRetries<R extends Route>(
  route: R,
  request: RouteRequest,
  options: ClientOptions,
  signal: AbortSignal | undefined,
): Promise<ReplyOf<R>> {
  const { retry = defaultRetryPolicy, totalTimeoutMs = 30_000 } = options
  let timeLeftMs = totalTimeoutMs
  let waitLeftMs = retry.maxRetryAfterSeconds * 1000
  for (let attempts = 1; ; attempts++) {
    const attempt = { signal, timeLeftMs, resends: attempts - 1 }
    const { result, durationMs } = await observedAttempt(route, request, options, attempt)
    timeLeftMs -= durationMs
    if (result.ok) {
      if (result.drift) options.onDrift?.(route.id, result.drift)
      // Parsed with the reply schema of this route, from which ReplyOf derives its type.
      return result.value as ReplyOf<R>
    }
    const waitMs = waitBeforeRetry(route.method, result.failure, attempts, retry)
    if (waitMs === null || waitMs > waitLeftMs || timeLeftMs <= 0) {
      const failure = withElapsed(result.failure, totalTimeoutMs - timeLeftMs)
      throw new ApiError(failure, { ...route, attempts })
    }
    waitLeftMs -= waitMs
    await pause(waitMs, signal)
    if (signal?.aborted) {
      // Cancelled between two attempts: nothing is in flight, and the last attempt had no effect.
      throw new ApiError({ kind: 'cancelled', maybeSent: false }, { ...route, attempts })
    }
  }
}

/** The failure; a timeout with the time of all attempts in place of the last attempt's time. */
const withElapsed = (failure: Failure, elapsedMs: number): Failure =>
  failure.kind === 'timeout' ? { ...failure, afterMs: Math.round(elapsedMs) } : failure

interface Attempt {
  readonly signal: AbortSignal | undefined
  readonly timeLeftMs: number
  /** Number of earlier attempts. */
  readonly resends: number
}

/** Runs one attempt and reports it to the log, metrics, traces and audit trail. */
async function observedAttempt(
  route: Route,
  request: RouteRequest,
  options: ClientOptions,
  attempt: Attempt,
): Promise<{ readonly result: AttemptResult; readonly durationMs: number }> {
  const { observer, audit, platform = '' } = options
  const { id: operation, method, path } = route
  const { resends } = attempt
  const span = observer?.beginTry?.({ operation, method, path, resends, platform })
  const started = performance.now()
  const send = () => sendOnce(route, request, options, attempt, span?.headers)
  const result = await (span ? span.run(send) : send())
  const durationMs = performance.now() - started
  const failure = result.ok ? undefined : result.failure
  // If there is no complete reply, the failure may have the status and the request id.
  const { status, requestId } = { status: undefined, requestId: null, ...failure }
  const record: PlatformTry = {
    operation,
    status: result.reply?.status ?? status,
    requestId: result.reply?.header('x-request-id') ?? requestId ?? undefined,
    failure: failure?.kind,
    durationMs,
    isRetry: resends > 0,
  }
  span?.end(record)
  observer?.platformTried(record)
  audit?.tried(record)
  return { result, durationMs }
}

async function sendOnce(
  route: Route,
  request: RouteRequest,
  { send, apiKey, userAgent, clientNetwork, onAccepted }: ClientOptions,
  { signal, timeLeftMs }: Attempt,
  moreHeaders: Readonly<Record<string, string>> | undefined,
): Promise<AttemptResult & { readonly reply?: WireReply }> {
  // Callers may pass the same request object to a read and to a change, so the body is sent only if
  // the route has one.
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
        // The client does not decompress replies. Without this header the platform may choose any
        // encoding (RFC 9110 §12.5.3).
        'accept-encoding': 'identity',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(request.beforeSending && { beforeSending: request.beforeSending }),
      ...(signal && { signal }),
      ...(clientNetwork !== undefined && { clientNetwork }),
      timeLeftMs,
    })
    if (reply.status >= 200 && reply.status < 300) onAccepted?.()
    return { ...readReply(route, reply), reply }
  } catch (error) {
    // Any error other than a SendFailure is a bug in this program.
    if (!(error instanceof SendFailure)) throw error
    const { failure } = error
    return isAcknowledged(route, failure) ? { ok: true, value: undefined } : { ok: false, failure }
  }
}

/**
 * Path and query of a request. Path parameters are encoded only here. A parameter that is empty,
 * `.` or `..` is refused, because it would address another resource. Broken Unicode is refused,
 * because it cannot be encoded.
 */
function targetOf(route: Route, request: RouteRequest): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = request.params[name] ?? ''
    if (value === '' || value === '.' || value === '..' || !value.isWellFormed()) {
      throw new SendFailure({ kind: 'bad_parameter', name, value })
    }
    return encodeURIComponent(value)
  })
  const query = encodeQuery(request.query)
  return query ? `${path}?${query}` : path
}

/**
 * True for a reply that was cut off, if its status proves the success and its body is not needed.
 */
const isAcknowledged = (route: Route, failure: Failure) =>
  !route.reply &&
  failure.kind === 'unreadable' &&
  failure.status < 300 &&
  failure.reason === 'cut_off'

/** Retry limits. */
interface RetryPolicy {
  /** Maximum attempts, including the first. */
  readonly maxAttempts: number
  /** Maximum wait before the second attempt, ms. The maximum doubles with each attempt. */
  readonly firstWaitMs: number
  /**
   * Maximum `Retry-After`, and maximum of all waits of a request together. A request that would
   * wait longer is not retried.
   */
  readonly maxRetryAfterSeconds: number
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 3,
  firstWaitMs: 250,
  maxRetryAfterSeconds: 30,
}

/**
 * Wait before the next attempt, ms; null: the request must not be retried.
 *
 * A write is retried only if there was no connection: a write that may have been sent may have
 * taken effect. Timeouts are never retried, because a second request would add load to a slow
 * platform. A 429 to a write is retried only by bulk operations (tool/bulk.ts).
 */
export function waitBeforeRetry(
  method: Method,
  failure: Failure,
  attempt: number,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number | null {
  if (attempt >= policy.maxAttempts || !mayRetry(method, failure)) return null
  const backoff = policy.firstWaitMs * 2 ** (attempt - 1) * random()
  const asked = 'retryAfter' in failure ? failure.retryAfter : null
  if (asked === null) return backoff
  return asked > policy.maxRetryAfterSeconds ? null : Math.max(asked * 1000, backoff)
}

function mayRetry(method: Method, failure: Failure): boolean {
  switch (failure.kind) {
    case 'network':
      return !isCertificateProblem(failure.code) && (method === 'GET' || !failure.maybeSent)
    case 'rejected':
      return method === 'GET' && busy.has(failure.status)
    case 'unreadable':
      return method === 'GET' && (busy.has(failure.status) || failure.reason === 'cut_off')
    default:
      return false
  }
}

/** Statuses after which the same request may succeed later. */
const busy = new Set([429, 502, 503, 504])
