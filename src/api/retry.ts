import type { Method } from '../contract/route.ts'
import { type Failure, isCertificateProblem } from './failure.ts'

/** How failed requests are tried again. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly tries: number
  /** Upper bound of the first wait, ms; doubled for each further one. */
  readonly firstWaitMs: number
  /** Longest wait in all, seconds; a longer `Retry-After` is not waited for. */
  readonly longestRetryAfter: number
}

export const defaultRetryPolicy: RetryPolicy = { tries: 3, firstWaitMs: 250, longestRetryAfter: 30 }

/** Statuses for which the same request may succeed later. */
const busy = new Set([429, 502, 503, 504])

/**
 * How long to wait before trying again, in ms; null when it must not be tried again.
 *
 * A request that changes something is repeated only if there was no connection: once it may have been
 * sent, it may have been carried out. Timeouts are never repeated, because a second request would add
 * to the load of a slow platform.
 */
export function waitBeforeRetry(
  method: Method,
  failure: Failure,
  attempt: number,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number | null {
  if (attempt >= policy.tries || !mayRetry(method, failure)) return null
  const backoff = policy.firstWaitMs * 2 ** (attempt - 1) * random()
  const asked = 'retryAfter' in failure ? failure.retryAfter : null
  if (asked === null) return backoff
  return asked > policy.longestRetryAfter ? null : Math.max(asked * 1000, backoff)
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
