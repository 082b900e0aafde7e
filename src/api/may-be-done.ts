import type { ApiError } from './failure.ts'

/** Whether the platform may have made the change although the request failed. */
export const mayBeDone = ({ failure, effect }: ApiError): boolean =>
  effect !== 'reads' && mayBeCarriedOut(failure)

/** As much of a failure as tells how far its request has come. */
interface FailureFacts {
  readonly kind: string
  readonly maybeSent?: boolean | undefined
  readonly status?: number | undefined
}

/** Whether the platform may have carried out a request that failed in this way. */
export function mayBeCarriedOut({ kind, maybeSent, status = 0 }: FailureFacts): boolean {
  if (maybeSent !== undefined) return maybeSent
  if (kind === 'unreadable') return status < 400 || status >= 500
  return kind === 'rejected' && status >= 500
}
