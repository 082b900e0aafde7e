import type { Failure } from '../api/failure.ts'

/**
 * Statuses that do not tell: 408, 460 and 499 are what proxies say when somebody has waited in vain,
 * and 409 may mean this very call, where the platform looks for external ids.
 */
const untold = new Set([408, 409, 460, 499])

/** What is said, in whatever words, before anything is done with a request. */
const turnedAway = new Set([401, 403, 404, 405, 411, 413, 414, 415, 429, 431])

/** The request did not leave, or the platform understood it and said no. */
export function isCertainlyNotDone(failure: Failure): boolean {
  if ('maybeSent' in failure) return !failure.maybeSent
  switch (failure.kind) {
    case 'bad_parameter':
      return true
    case 'rejected':
      return failure.status >= 400 && failure.status < 500 && !untold.has(failure.status)
    case 'unreadable':
      return turnedAway.has(failure.status)
    default:
      return false
  }
}
