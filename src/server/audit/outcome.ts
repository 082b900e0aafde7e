import type { AuditEntry } from '../../state/audit-trail.ts'

/** Outcome of a call, as in the log: `ok`, `task`, or the kind of its error. */
export interface CallEnd {
  readonly word: string
  /** The outcome of each item of a bulk call. */
  readonly targets: readonly Target[]
}

/** The outcome of one item of a bulk call. */
export interface Target {
  readonly id: string | undefined
  /** The called number, for a batch of calls. */
  readonly to_number: string | undefined
  /** As in the tool's result. */
  readonly outcome: string
}

/**
 * Outcome of a call:
 *
 *   done       everything that was sent was done
 *   unchanged  it succeeded, and nothing had to be sent: it was so already, or was done before
 *   partly     some of it was done, and some certainly not
 *   refused    nothing was sent: this server or a person said no; `reason` says why
 *   failed     nothing was done
 *   unknown    of something that was sent it is not known whether it was done
 *   begun      it has not ended, or the server ended before it did (given by ToolCallRecord)
 */
export type AuditOutcome = 'done' | 'unchanged' | 'partly' | 'refused' | 'failed' | 'unknown'

/** Outcomes of calls that this server or a person has refused. */
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

/** Outcomes of calls that only asked for confirmation. */
const questions: ReadonlySet<string> = new Set(['confirmation_needed', 'input_required'])

export const isQuestion = ({ word }: CallEnd): boolean => questions.has(word)

const isSuccess = (word: string) => word === 'ok' || word === 'task'

/** Item outcomes in results that mean: failed or refused, and unchanged. */
const notDone: ReadonlySet<string> = new Set(['failed', 'not_allowed', 'not_dialled', 'not_tried'])

export function outcomeOf(
  { word, targets }: CallEnd,
  writes: AuditEntry['writes'],
): { readonly outcome: AuditOutcome; readonly reason?: string } {
  const reason = isSuccess(word) ? {} : { reason: word }
  // Writes that were to be sent, and were not.
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
