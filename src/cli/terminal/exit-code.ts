import { exitCodes } from '../../config/exit-codes.ts'
import { targetsOf } from '../../mcp/protocol/call-targets.ts'

/** The words for calls that were not agreed to, or not allowed (docs/errors.md). */
const refusals: ReadonlySet<string> = new Set([
  'confirmation_declined',
  'confirmation_dismissed',
  'confirmation_needed',
  'needs_person',
  'not_allowed',
  'not_exposed',
  'not_recorded',
])

const usageErrors: ReadonlySet<string> = new Set(['bad_arguments', 'bad_parameter'])

/** What a result says of how the call ended. */
export interface CallEnd {
  /** `ok`, or why not: see `outcomeOf` in mcp/protocol/call-outcome.ts. */
  readonly word: string
  readonly result: unknown
  /** The request that failed may have been carried out: it changes something, and had no answer. */
  readonly mayBeDone: boolean
}

/** The exit code of `call`. */
export function exitCodeOf({ word, result, mayBeDone }: CallEnd): number {
  const outcomes = targetsOf(result).map(({ outcome }) => outcome)
  if (word === 'unknown_outcome' || outcomes.includes('unknown') || mayBeDone)
    return exitCodes.unknown
  if (usageErrors.has(word)) return exitCodes.usage
  if (refusals.has(word)) return exitCodes.refused
  return word === 'ok' && !outcomes.some((one) => notDone.has(one))
    ? exitCodes.done
    : exitCodes.failed
}

/** The words of results for things that were left as they are. */
const notDone: ReadonlySet<string> = new Set(['failed', 'not_allowed', 'not_dialled', 'not_tried'])
