import { ApiError } from '../api/failure.ts'
import { failureText } from '../api/failure-text.ts'
import { ownAccountId } from './account.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

/** Why a key may not keep anything open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/**
 * How long a refused key is not checked again, ms. Repeated tries of a client then cost the platform
 * nothing, and a key that is corrected works soon.
 */
const refusedMs = 10_000

/** Refused keys, by their caches: which fault, and until when, by the clock of `performance.now`. */
const refused = new WeakMap<ReplyCache, { readonly fault: KeyFault; readonly until: number }>()

/**
 * A fault if the platform refuses the key or cannot be asked. A key that it accepts is asked once,
 * and one that it refuses at most once in `refusedMs`.
 */
export async function faultOfKey({
  cache,
  keySource,
  redact,
}: Pick<Session, 'cache' | 'keySource' | 'redact'>): Promise<KeyFault | undefined> {
  const known = refused.get(cache)
  if (known && known.until > performance.now()) return known.fault
  try {
    await ownAccountId(cache)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { failure } = error
    const reason = redact(failureText(failure))
    const isRefused = failure.kind === 'rejected' && [401, 403].includes(failure.status)
    if (!isRefused) {
      const message = `The platform could not be asked about the API key (${reason}).`
      return { status: 503, message }
    }
    const message = `The platform refuses the API key from ${keySource} (${reason}).`
    const fault: KeyFault = { status: 401, message }
    refused.set(cache, { fault, until: performance.now() + refusedMs })
    return fault
  }
}
