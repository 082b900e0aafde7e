import { type AnswerStatus, isAnswerStatus } from '../../../contract/answer-status.ts'
import { plainText } from '../../../text/safe-text.ts'
import { h, icon } from '../shared/dom.ts'
import { type CallData, isEvent } from './data.ts'
import { outcomeOf } from './outcome.ts'
import type { Recording } from './recording.ts'

interface Parts {
  readonly recording: Recording | undefined
  /** Buttons beside that of the recording. */
  readonly actions: readonly HTMLElement[]
}

/** Shown in place of a transcript without words: what happened, and what to do. */
export function silentCall(call: CallData, { recording, actions }: Parts): HTMLElement {
  const [title, text] = wordsFor(call)
  const events = (call.transcript?.spoken ?? []).filter(
    ({ role, message }) => isEvent(role) && message !== `${title}.`,
  )
  return h(
    'div',
    { class: 'state silence' },
    icon('phone'),
    h('h2', {}, title),
    h('p', {}, text),
    events.map(({ message }) => h('p', { class: 'muted', dir: 'auto' }, plainText(message ?? ''))),
    (recording || actions.length > 0) && h('div', { class: 'row' }, recording?.element, actions),
  )
}

type Words = readonly [title: string, text: string]

/** Title and text for an ended call without words, by answer status: why, and what to do. */
const silences: Readonly<Record<AnswerStatus, Words>> = {
  waiting: ['Nobody answered', 'The call ended before anybody took it. Try another time of day.'],
  human: ['No words were kept', 'Nobody spoke, or the account keeps no transcripts.'],
  machine: ['A machine answered', 'Usually a voicemail. Nothing was said to it. Try again later.'],
  user_rejected: [
    'The call was declined',
    'The person, or their phone, did not take it. Agree on a time before you call again.',
  ],
  user_unavailable: [
    'Nobody answered',
    'It rang, and nobody took the call. Try another time of day.',
  ],
  user_busy: ['The line was busy', 'Nobody was reached. Try again in a few minutes.'],
  unknown: [
    'No words were kept',
    'It is not known whether anybody answered. A recording, if there is one, can tell.',
  ],
}

const failures: Readonly<Record<'inbound' | 'other', Words>> = {
  inbound: [
    'The call failed',
    'It ended before anybody spoke. Check the agent that answers this number.',
  ],
  other: [
    'The call failed',
    'It reached nobody. Check the number that was called. If other calls fail, too, ask for a check of the agent and its number.',
  ],
}

/** Title and text for a call in which nobody has spoken. */
function wordsFor(call: CallData): Words {
  switch (outcomeOf(call)) {
    case 'ringing':
      return ['Ringing', 'What is said will be here.']
    case 'talking':
      return ['Nobody has spoken yet', 'What is said will be here.']
    case 'failed':
      return failures[call.direction === 'inbound' ? 'inbound' : 'other']
    default: {
      const answer = call.answer_status ?? ''
      return silences[isAnswerStatus(answer) ? answer : 'human']
    }
  }
}
