import type { AuditEntry } from '../state/audit-trail.ts'

/** How a call ended, in the words of the log: `ok`, `task`, or the kind of its error. */
export interface CallEnd {
  readonly word: string
}

/**
 * What came of a call:
 *
 *   done       everything that was sent was done
 *   unchanged  it succeeded, and nothing had to be sent: it was so already, or was done before
 *   partly     some of it was done, and some certainly not
 *   refused    nothing was sent: this server or a person said no; `reason` says why
 *   failed     nothing was done
 *   unknown    of something that was sent it is not known whether it was done
 *   begun      it has not ended, or the server ended before it did (given by CallRecord)
 */
export type AuditOutcome = 'done' | 'unchanged' | 'partly' | 'refused' | 'failed' | 'unknown'

/** The words for a call that this server or a person has refused. */
const refusals: ReadonlySet<string> = new Set([
  'all_failed',
  'bad_arguments',
  'bad_parameter',
  'confirmation_declined',
  'confirmation_dismissed',
  'conflict',
  'needs_person',
  'not_allowed',
  'not_exposed',
  'protocol_error',
])

/** The words for a call that only asked, and did nothing yet: no call is confirmed by it. */
const questions: ReadonlySet<string> = new Set(['confirmation_needed', 'input_required'])

export const isQuestion = ({ word }: CallEnd): boolean => questions.has(word)

const isSuccess = (word: string) => word === 'ok' || word === 'task'

export function outcomeOf(
  { word }: CallEnd,
  writes: AuditEntry['writes'],
): { readonly outcome: AuditOutcome; readonly reason?: string } {
  const reason = isSuccess(word) ? {} : { reason: word }
  // Writes that were to be sent, and were not.
  if (word === 'not_recorded') return { outcome: 'refused', ...reason }
  if (writes.length === 0) return { outcome: outcomeWithoutWrites(word), ...reason }
  const some = (outcome: string) => writes.some((write) => write.outcome === outcome)
  if (some('unknown') || some('sent')) return { outcome: 'unknown', ...reason }
  if (!some('done')) return { outcome: 'failed', ...reason }
  return { outcome: some('failed') || !isSuccess(word) ? 'partly' : 'done', ...reason }
}

function outcomeWithoutWrites(word: string): AuditOutcome {
  if (isSuccess(word)) return 'unchanged'
  if (word === 'unknown_outcome') return 'unknown'
  return refusals.has(word) ? 'refused' : 'failed'
}
