import { hasEnded } from '../../calls/call-state.ts'
import { answerMeanings } from '../../contract/answer-status.ts'
import type { CallDetail } from '../../contract/call.ts'
import { firstCharacters } from '../../text/first-characters.ts'
import { plainText } from '../../text/plain-text.ts'

/** What became of a call, best news first. */
export const callStates = [
  'answered',
  'machine',
  'talking',
  'ringing',
  'not_answered',
  'busy',
  'declined',
  'failed',
  'ended',
  'unknown',
] as const
export type CallState = (typeof callStates)[number]

/** The same in words; `ended`: the platform does not say how. */
export const callStateWords: Readonly<Record<CallState, string>> = {
  answered: answerMeanings.human,
  machine: answerMeanings.machine,
  talking: 'answered, still talking',
  ringing: 'still ringing',
  not_answered: 'not answered',
  busy: answerMeanings.user_busy,
  declined: answerMeanings.user_rejected,
  failed: 'failed',
  ended: 'ended, not known whether answered',
  unknown: 'not known',
}

/** The state of a call that goes on, or how it ended, by its published answer_status [R]. */
export function callStateOf(call: CallDetail): CallState {
  const { answer_status: answer, status } = call
  const isAnswered = answer === 'human' || answer === 'machine'
  if (!hasEnded(call)) return isAnswered ? 'talking' : 'ringing'
  switch (answer) {
    case 'human':
      return 'answered'
    case 'machine':
      return 'machine'
    case 'user_unavailable':
      return 'not_answered'
    case 'user_busy':
      return 'busy'
    case 'user_rejected':
      return 'declined'
    default:
      return status === 'failed' ? 'failed' : 'ended'
  }
}

export const isGoingOn = (state: CallState): boolean => state === 'talking' || state === 'ringing'

/** Nobody was reached, so that calling again may be wanted. */
export const isUnreached = (state: CallState): boolean =>
  ['machine', 'not_answered', 'busy', 'declined', 'failed'].includes(state)

/** Longest part of what was said last that is shown, in characters. */
const longestWords = 120

/** What the other side said last, on one line: untrusted speech. */
export function lastWordsOf({ messages }: CallDetail): string | undefined {
  const last = messages?.findLast(({ role, message }) => role === 'user' && message)
  const words = plainText(last?.message ?? '')
  const shown = firstCharacters(words, longestWords)
  return words === '' ? undefined : `${shown}${shown.length < words.length ? '…' : ''}`
}
