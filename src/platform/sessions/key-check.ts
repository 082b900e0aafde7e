import { LRUCache } from 'lru-cache/raw'
import { ApiError, failureText, isRejectedWith } from '../failure.ts'
import { ownAccountId } from './account.ts'
import type { Session } from './session.ts'

/** Reason why a request with an API key may not open a stream. */
export interface KeyProblem {
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

type KeyCheck = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyProblem | undefined>

/**
 * Creates a check of API keys, which returns a problem if the platform refuses the key or cannot be
 * asked. It asks once about an accepted key, and at most once per `refusedMs` about a refused key.
 */
export function createKeyCheck(): KeyCheck {
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

const refusal = (keySource: string, reason: string): KeyProblem => ({
  status: 401,
  message: `The platform refuses the API key from ${keySource} (${reason}).`,
})
