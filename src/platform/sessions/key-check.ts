import { LRUCache } from 'lru-cache/raw'
import { ApiError, failureText, isRejectedWith } from '../failure.ts'
import { ownAccountId } from './account.ts'
import type { Session } from './session.ts'

/** Reason to refuse an API key anything that stays open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/**
 * Time for which a refused API key is not checked again, ms. Long enough that a client's retries
 * cause no requests to the platform, short enough that a reactivated key soon works.
 */
const refusedMs = 10_000

/** Maximum number of stored refusals. With their reasons they take about 2 MB. */
const maxRefused = 1000

type FaultOfKey = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyFault | undefined>

/**
 * Returns a fault if the platform refuses the API key or cannot be asked. Checks an accepted key
 * once, and a refused key at most once per `refusedMs`.
 */
export function createFaultOfKey(): FaultOfKey {
  // By hash of the API key. `until` is a time of `performance.now`.
  const refused = new LRUCache<string, { readonly reason: string; readonly until: number }>({
    max: maxRefused,
  })
  return async (session) => {
    const { keyHash, keySource, redact } = session
    const known = refused.get(keyHash)
    if (known && known.until > performance.now()) return refusal(keySource, known.reason)
    try {
      await ownAccountId(session)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const reason = redact.start(failureText(error.failure), 1000)
      if (!isRejectedWith(error, 401, 403)) {
        const message = `The platform could not be asked about the API key (${reason}).`
        return { status: 503, message }
      }
      refused.set(keyHash, { reason, until: performance.now() + refusedMs })
      return refusal(keySource, reason)
    }
  }
}

const refusal = (keySource: string, reason: string): KeyFault => ({
  status: 401,
  message: `The platform refuses the API key from ${keySource} (${reason}).`,
})
