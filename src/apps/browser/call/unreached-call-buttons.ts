import { askButtons } from '../shared/ask-buttons.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, numbersOf } from './data.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

/** Outcomes after which the same number may be called again. */
const repeatable: readonly Outcome[] = ['busy', 'not_answered', 'machine', 'failed']

/**
 * Buttons for what to do about a call that reached nobody. Each asks the model in the conversation,
 * so that a new call needs its confirmation. The messages contain only ids and phone numbers.
 */
export function unreachedCallButtons(
  call: CallData,
  { host }: Page<CallData>,
): readonly HTMLElement[] {
  const { id = '', direction } = call
  const outcome = outcomeOf(call)
  const { to } = numbersOf(call)
  if (!/^[\w-]{1,64}$/.test(id ?? '')) return []
  const isCalled = direction === 'outbound' && /^\+\d{5,15}$/.test(to)
  const why = ['Ask what went wrong', 'ask-why', `Find out why the call ${id} failed.`] as const
  const again = [
    'Ask to call again',
    'ask-again',
    `Call ${to} again, with the agent and the number of the call ${id}.`,
  ] as const
  return askButtons(host, [
    ...(outcome === 'failed' ? [why] : []),
    ...(isCalled && repeatable.includes(outcome) ? [again] : []),
  ])
}
