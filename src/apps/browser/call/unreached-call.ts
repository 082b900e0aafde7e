import { type AnswerStatus, isAnswerStatus } from '../../../contract/answer-status.ts'
import { capitalised } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { askButtons } from '../shared/controls.ts'
import { actionRow, folded, h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, isEvent, isPhoneNumber, numbersOf } from './data.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

/**
 * Shown in place of a transcript without words: what happened, and what to do. The platform's own
 * reason comes first, because it is the most exact; its code is folded.
 */
export function silentCall(
  call: CallData,
  actions: readonly (HTMLElement | undefined)[],
): HTMLElement {
  const [usual, advice] = wordsFor(call)
  const events = eventsOf(call)
  const [reason = usual, ...others] = events.map(withoutCode).filter((text) => text !== '')
  const codes = events.filter((text) => withoutCode(text) !== text)
  const buttons = actions.filter((action) => action !== undefined)
  return h(
    'div',
    { class: 'notice silence' },
    reason !== undefined && h('h2', { dir: 'auto' }, reason),
    others.map((text) => h('p', { dir: 'auto' }, text)),
    h('p', { class: 'muted' }, advice),
    actionRow(buttons),
    codes.length > 0 &&
      folded(
        'codes',
        'Details',
        codes.map((text) => h('p', { dir: 'auto' }, text)),
        { class: 'small muted' },
      ),
  )
}

const eventsOf = ({ transcript }: CallData): readonly string[] =>
  (transcript?.spoken ?? []).flatMap(({ role, message }) =>
    isEvent(role) && message ? [plainText(message)] : [],
  )

/** A reason without its SIP status code: `Number not in service.` for `SIP 404: number not in service`. */
function withoutCode(reason: string): string {
  const [code = ''] = /^SIP \d{3}\b[\s:–-]*/.exec(reason) ?? []
  const text = reason.slice(code.length)
  if (code === '' || text === '') return text
  return capitalised(text).replace(/\.?$/, '.')
}

type Words = readonly [reason: string | undefined, advice: string]

/**
 * Reason why an ended call has no transcript, and the next step, by answer status. The badge has the
 * outcome.
 */
const silences: Readonly<Record<AnswerStatus, Words>> = {
  waiting: ['The call ended before anybody took it.', 'Try another time of day.'],
  human: ['No words were kept.', 'Nobody spoke, or the account keeps no transcripts.'],
  machine: ['Nothing was said to the machine.', 'It was probably a voicemail. Try again later.'],
  user_rejected: [
    'The person, or their phone, did not take it.',
    'Agree on a time before you call again.',
  ],
  user_unavailable: ['It rang, and nobody took the call.', 'Try another time of day.'],
  user_busy: ['Somebody else was on the line.', 'Try again in a few minutes.'],
  unknown: ['It is not known whether anybody answered.', 'A recording, if there is one, can tell.'],
}

const endedEarly = 'It ended before anybody spoke.'

/**
 * Reason why a failed call has no transcript, and the next step. A call in a browser has no number.
 */
const failures: Readonly<Record<'inbound' | 'outbound' | 'other', Words>> = {
  inbound: [endedEarly, 'Check the agent that answers this number.'],
  outbound: [
    'It reached nobody.',
    'Check the number that was called. If other calls fail, too, check the agent and its number.',
  ],
  other: [endedEarly, 'Check the agent.'],
}

/** Reason and advice for a call in which nobody has spoken. */
function wordsFor(call: CallData): Words {
  switch (outcomeOf(call)) {
    case 'ringing':
      return [undefined, 'What is said will appear here.']
    case 'talking':
      return ['Nobody has spoken yet.', 'What is said will appear here.']
    case 'failed':
      if (call.direction === 'inbound') return failures.inbound
      return numbersOf(call).to ? failures.outbound : failures.other
    default: {
      const answer = call.answer_status ?? ''
      return silences[isAnswerStatus(answer) ? answer : 'human']
    }
  }
}

/** Outcomes after which the same number may be called again. */
const repeatable: readonly Outcome[] = ['busy', 'not_answered', 'machine', 'failed']

/** SIP status codes of a number that does not exist (RFC 3261, §21.4 and §21.6). */
const noSuchNumber = /^SIP (404|410|484|604)\b/

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
  const canRepeat =
    direction === 'outbound' &&
    isPhoneNumber(to) &&
    repeatable.includes(outcome) &&
    !eventsOf(call).some((event) => noSuchNumber.test(event))
  const why = ['Ask what went wrong', 'ask-why', `Find out why the call ${id} failed.`] as const
  const again = [
    'Ask to call again',
    'ask-again',
    `Call ${to} again, with the agent and the number of the call ${id}.`,
  ] as const
  return askButtons(host, [...(outcome === 'failed' ? [why] : []), ...(canRepeat ? [again] : [])])
}
