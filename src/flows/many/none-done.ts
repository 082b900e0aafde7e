import { ApiError } from '../../api/failure.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Outcome } from './for-each.ts'

/** The outcome of one thing, and how the caller named it. */
export interface NamedOutcome<T> {
  readonly given: string
  readonly outcome: Outcome<T>
}

/**
 * Throws where nothing was done: the error that all have, else one that names each thing with its
 * reason. `argument` is the argument that named them.
 */
export function refuseIfNoneDone(
  outcomes: readonly NamedOutcome<unknown>[],
  argument: string,
): void {
  if (outcomes.some(({ outcome }) => outcome.state === 'done')) return
  const same = errorOfAll(outcomes)
  if (same) throw same
  const isUncertain = outcomes.some(({ outcome }) => outcome.state === 'unknown')
  const fields = outcomes.map(({ given, outcome }) => ({
    argument: `${argument} ${given}`,
    message: outcome.state === 'done' ? '' : outcome.problem,
  }))
  throw new Refused(
    isUncertain ? 'unknown_outcome' : 'all_failed',
    isUncertain
      ? `none of ${outcomes.length} is certain to be done: what became of some is not known`
      : `none of ${outcomes.length} was done`,
    {
      fields,
      next: 'Correct what is wrong, and call again: what is done already stays as it is.',
    },
  )
}

/** The error, if it is the same for all and says nothing of a single thing, such as that it is missing. */
function errorOfAll(outcomes: readonly NamedOutcome<unknown>[]): ApiError | Refused | undefined {
  const errors = outcomes.map(({ outcome }) => ('error' in outcome ? outcome.error : undefined))
  const problems = new Set(
    outcomes.map(({ outcome }) => (outcome.state === 'done' ? '' : outcome.problem)),
  )
  const [first] = errors
  if (!first || problems.size > 1 || errors.includes(undefined)) return undefined
  const isOfOne =
    first instanceof ApiError && 'status' in first.failure && first.failure.status === 404
  return isOfOne ? undefined : first
}
