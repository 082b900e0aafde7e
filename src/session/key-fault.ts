import { ApiError } from '../api/failure.ts'
import { saidBy } from '../api/failure-text.ts'
import { ownAccountId } from './account.ts'
import type { Session } from './session.ts'

/** Why a key may not keep anything open on this server, such as a stream. */
export interface KeyFault {
  readonly status: 401 | 503
  readonly message: string
}

/** A fault if the platform refuses the key or cannot be asked. A key that it accepts is asked once. */
export async function faultOfKey({
  cache,
  keySource,
  redact,
}: Pick<Session, 'cache' | 'keySource' | 'redact'>): Promise<KeyFault | undefined> {
  try {
    await ownAccountId(cache)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { failure } = error
    const reason = redact(saidBy(failure))
    const isRefused = failure.kind === 'rejected' && [401, 403].includes(failure.status)
    return isRefused
      ? { status: 401, message: `The platform refuses the API key from ${keySource} (${reason}).` }
      : { status: 503, message: `The platform could not be asked about the API key (${reason}).` }
  }
}
