import type { PlatformCall } from './call-lists.ts'

/** A client's answer to a request to place a telephone call. */
export interface ReportedAnswer {
  readonly answer: {
    readonly kind: string
    readonly callId?: string
    /** Reason of a refusal. */
    readonly why?: string
  }
  /** When the request was sent, by the lab's clock, ms. */
  readonly from: number
  /** Index of the request; absent if the platform does not record which request placed a call. */
  readonly nth?: number
}

/**
 * Violations of guarantees about one call: contradictions between the clients' answers and the
 * platform's calls.
 */
export function violationsOfCall(
  reported: readonly ReportedAnswer[],
  calls: readonly PlatformCall[],
): string[] {
  const rung = calls.filter(({ rings }) => rings)
  const found = reported.flatMap((one) => violationsOfAnswer(one, calls, rung))
  return rung.length > 1 ? ['rung twice', ...found] : found
}

function violationsOfAnswer(
  { answer: { kind, callId, why }, from, nth }: ReportedAnswer,
  calls: readonly PlatformCall[],
  rung: readonly PlatformCall[],
): string[] {
  if (kind === 'placed') {
    const call = calls.find(({ id }) => id === callId)
    const exists = call !== undefined && (call.rings || !call.isAccepted)
    return exists ? [] : [`lost: ${callId} is reported as placed, but was not placed`]
  }
  if (kind !== 'refused') return []
  if (why === 'conflict') return ['its id is reported as that of another call']
  const lost = rung.find(
    ({ request, sentAt }) => (request !== undefined && request === nth) || sentAt < from,
  )
  return lost ? [`lost: reported as refused (${why}), but ${lost.id} rings`] : []
}
