import { hasEnded } from '../../src/calls/call-follower.ts'
import { answerMeanings } from '../../src/contract/answer-status.ts'
import type { CallDetail } from '../../src/contract/call.ts'
import type { Message } from '../../src/contract/conversation.ts'
import { firstCharacters, plainText } from '../../src/text/safe-text.ts'

/** Outcomes of a call, best first. */
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

/** `ended`: the platform does not report the outcome. */
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

/**
 * The state of a running call. For an ended call, its outcome by the published `answer_status` [R].
 */
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

/** True if nobody was reached, so that another call may be useful. */
export const isUnreached = (state: CallState): boolean =>
  ['machine', 'not_answered', 'busy', 'declined', 'failed'].includes(state)

/** Maximum length of the last words, characters. */
const longestWords = 120

/** Maximum length of the agent's first words, characters. */
const longestOpening = 400

/** The last words of the person on the call, on one line. They are untrusted speech. */
export const lastWordsOf = ({ messages }: CallDetail): string | undefined =>
  shownWords(
    messages?.findLast(({ role, message }) => role === 'user' && message),
    longestWords,
  )

/** The first words of the agent, on one line. They may repeat values from untrusted sources. */
export const openingOf = ({ messages }: CallDetail): string | undefined =>
  shownWords(
    messages?.find(({ role, message }) => role === 'agent' && message),
    longestOpening,
  )

function shownWords(said: Message | undefined, longest: number): string | undefined {
  const words = plainText(said?.message ?? '')
  const shown = firstCharacters(words, longest)
  return words === '' ? undefined : `${shown}${shown.length < words.length ? '…' : ''}`
}
