import { ApiError } from '../api/failure.ts'
import type { CallDetail } from '../contract/call.ts'
import { longestCallMs } from '../policy/dial-policy.ts'

/** The states that a call does not leave, by the platform's reference. */
const finalStates = new Set(['completed', 'failed', 'transferred'])

/**
 * Whether a call has ended: it is in a final state or has an end. The platform may add states: an
 * unknown one, such as `queued`, means that the call goes on, until it is older than a call can be.
 */
export function hasEnded({ status, ended_at, created, started_at }: CallDetail): boolean {
  if (ended_at || finalStates.has(status ?? '')) return true
  if (!status || status === 'in_progress') return false
  const began = Date.parse(started_at ?? created ?? '')
  return Date.now() - began > longestCallMs
}

/** How long after it was placed a call may be missing on the platform, ms. */
export const shownAfterMs = 30_000

/** Whether the platform says that there is no such call. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && 'status' in error.failure && error.failure.status === 404

/** Whether a later reading of the call differs in what requests that wait for it report. */
export function hasChanged(before: CallDetail | undefined, call: CallDetail): boolean {
  if (!before) return true
  return (
    before.status !== call.status ||
    before.answer_status !== call.answer_status ||
    (before.messages?.length ?? 0) !== (call.messages?.length ?? 0)
  )
}
