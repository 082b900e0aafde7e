import { type AnswerStatus, isAnswerStatus } from '../../../contract/answer-status.ts'
import { type IconName, type Tone, toneIcons } from '../../design.ts'
import { badge } from '../shared/dom.ts'
import { type CallData, hasEnded, type ListedCall } from './data.ts'

type Looks = readonly [text: string, tone: Tone, shape?: IconName]

/** Label, tone and icon of each outcome, best first, of single calls and of calls in lists. */
const outcomes = {
  completed: ['Completed', 'success'],
  answered: ['Answered', 'success'],
  transferred: ['Transferred', 'success', 'arrow'],
  machine: ['Voicemail', 'neutral', 'phone'],
  talking: ['Live', 'info'],
  ringing: ['Ringing', 'info', 'phone'],
  placed: ['Placed', 'info', 'phone'],
  repeated: ['Placed before', 'neutral', 'check'],
  not_answered: ['No answer', 'warning'],
  busy: ['Busy', 'warning'],
  declined: ['Declined', 'warning', 'cross'],
  failed: ['Failed', 'danger'],
  not_allowed: ['Not allowed', 'danger'],
  not_dialled: ['Skipped', 'neutral'],
  ended: ['Ended', 'neutral', 'check'],
  unknown: ['Not known', 'warning'],
} as const satisfies Record<string, Looks>
export type Outcome = keyof typeof outcomes

const isOutcome = (name: string): name is Outcome => Object.hasOwn(outcomes, name)

/** All outcomes in the order of a summary. */
export const outcomeOrder = Object.keys(outcomes).filter(isOutcome)

/** Label, tone and icon of an outcome. */
export function looksOf(outcome: Outcome) {
  const [text, tone, shape]: Looks = outcomes[outcome]
  return { text, tone, shape: shape ?? toneIcons[tone] }
}

export function outcomeBadge(outcome: Outcome): HTMLElement {
  const { text, tone, shape } = looksOf(outcome)
  return badge(text, tone, shape)
}

/**
 * Outcome of an ended call by its answer status. For other answer statuses, the call's own status
 * decides.
 */
const byAnswer: Readonly<Partial<Record<AnswerStatus, Outcome>>> = {
  user_busy: 'busy',
  user_rejected: 'declined',
  user_unavailable: 'not_answered',
  machine: 'machine',
}

/** The state of a call under way, or how it ended. */
export function outcomeOf(call: CallData): Outcome {
  const { status, type } = call
  const answer = call.answer_status ?? ''
  const isAnswered = answer === 'human' || answer === 'machine'
  if (!hasEnded(call)) return isAnswered || type === 'web' ? 'talking' : 'ringing'
  const ended = isAnswerStatus(answer) ? byAnswer[answer] : undefined
  if (ended) return ended
  return status === 'completed' || status === 'failed' || status === 'transferred'
    ? status
    : 'ended'
}

export const outcomeOfListed = ({ state, outcome }: ListedCall): Outcome => {
  const name = state ?? outcome ?? ''
  return isOutcome(name) ? name : 'unknown'
}

export const isUnderWay = (outcome: Outcome): boolean =>
  outcome === 'talking' || outcome === 'ringing' || outcome === 'placed'

/** True if a call of a list was placed, or may have been placed. */
export const isTried = ({ call_id, state, outcome }: ListedCall): boolean =>
  (call_id ?? state) != null || ['placed', 'repeated', 'unknown'].includes(outcome ?? '')

/** False if nobody took the call, so that its length means nothing. */
export const isReached = (outcome: Outcome): boolean =>
  !['busy', 'declined', 'not_answered', 'not_allowed', 'not_dialled'].includes(outcome)
