import type { Failure } from '../api/failure.ts'

/**
 * Client errors after which the call may exist: a proxy answers 408, 460 or 499 when it stopped
 * waiting for the platform, and 409 may be about this very call, where external ids are unique.
 */
const ambiguous = new Set([408, 409, 460, 499])

/** Statuses that are answered before a request is acted on, also without the platform's error body. */
const refusedUnread = new Set([401, 403, 404, 405, 411, 413, 414, 415, 429, 431])

/** Whether a failed request has certainly placed no call: it was not sent, or it was refused. */
export function isNotPlaced(failure: Failure): boolean {
  if ('maybeSent' in failure) return !failure.maybeSent
  switch (failure.kind) {
    case 'bad_parameter':
      return true
    case 'rejected':
      return failure.status >= 400 && failure.status < 500 && !ambiguous.has(failure.status)
    case 'unreadable':
      return refusedUnread.has(failure.status)
    default:
      return false
  }
}
