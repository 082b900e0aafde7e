import type { AuditEntry } from '../../state/audit-trail.ts'

/**
 * How a tool call ended. `word` is the outcome as in the log: `ok`, `task`, or the kind of the
 * error.
 */
export interface CallEnd {
  readonly word: string
  /** Outcome of each item of a bulk tool call. */
  readonly targets: readonly Target[]
}

/** One item of a bulk tool call, with its outcome. */
export interface Target {
  readonly id: string | undefined
  /** The called telephone number, in a batch of telephone calls. */
  readonly to_number: string | undefined
  /** Outcome as in the tool's result. */
  readonly outcome: string
}

/**
 * Outcome of a tool call:
 * - `done`: everything sent was done
 * - `unchanged`: success without a request, because nothing had to change
 * - `partly`: some of it was done, and some certainly not
 * - `refused`: nothing was sent, because this server or a person declined; `reason` says why
 * - `failed`: nothing was done
 * - `unknown`: the effect of a sent request is not known
 * - `begun`: not ended, or the server ended first (set by ToolCallRecord)
 */
export type AuditOutcome = 'done' | 'unchanged' | 'partly' | 'refused' | 'failed' | 'unknown'

/** Outcome words of tool calls that were refused, by this server or by a person. */
const refusals: ReadonlySet<string> = new Set([
  'bad_arguments',
  'bad_parameter',
  'confirmation_declined',
  'confirmation_dismissed',
  'conflict',
  'needs_person',
  'not_allowed',
  'not_exposed',
  'protocol_error',
  'state_unavailable',
])

/** Outcome words of tool calls that only asked for confirmation. */
const questions: ReadonlySet<string> = new Set(['confirmation_needed', 'input_required'])

export const isQuestion = ({ word }: CallEnd): boolean => questions.has(word)

const isSuccess = (word: string) => word === 'ok' || word === 'task'

/** Outcomes of items that were not changed: failed or refused. */
const notDone: ReadonlySet<string> = new Set(['failed', 'not_allowed', 'not_dialled', 'not_tried'])

export function auditOutcome(
  { word, targets }: CallEnd,
  writes: AuditEntry['writes'],
): { readonly outcome: AuditOutcome; readonly reason?: string } {
  const reason = isSuccess(word) ? {} : { reason: word }
  // The audit trail could not record the writes, so they were not sent.
  if (word === 'not_recorded') return { outcome: 'refused', ...reason }
  const ends = [...writes, ...targets].map(({ outcome }) => outcome)
  if (ends.some((one) => one === 'unknown' || one === 'sent'))
    return { outcome: 'unknown', ...reason }
  const someFailed = ends.some((one) => notDone.has(one))
  if (writes.length === 0 && !someFailed) return { outcome: outcomeWithoutWrites(word), ...reason }
  if (ends.every((one) => notDone.has(one))) return { outcome: 'failed', ...reason }
  return { outcome: someFailed || !isSuccess(word) ? 'partly' : 'done', ...reason }
}

function outcomeWithoutWrites(word: string): AuditOutcome {
  if (isSuccess(word)) return 'unchanged'
  if (word === 'unknown_outcome') return 'unknown'
  return refusals.has(word) ? 'refused' : 'failed'
}
