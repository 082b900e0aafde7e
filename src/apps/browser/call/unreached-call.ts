import { type AnswerStatus, isAnswerStatus } from '../../../contract/answer-status.ts'
import { capitalised } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { type Ask, askButtons } from '../shared/controls.ts'
import { actionRow, h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, isEvent, type ListedCall, numbersOf } from './data.ts'
import { isTried, type Outcome, outcomeOf, outcomeOfListed } from './outcome.ts'

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
      h(
        'details',
        { class: 'small muted' },
        h('summary', { id: 'codes' }, 'Details'),
        codes.map((text) => h('p', { dir: 'auto' }, text)),
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

const isPhoneNumber = (text: string) => /^\+\d{5,15}$/.test(text)

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

/** A count of phone numbers: `1 number` or `2 numbers`. */
export const numberCount = (count: number, { number }: Formats): string =>
  count === 1 ? '1 number' : `${number(count)} numbers`

/**
 * Buttons for the shown calls of a list that have no id. A number that was not called, but is allowed,
 * can be called. A call that may have been placed is only looked up, so that nobody is called twice.
 */
export function unplacedCallsButtons(
  shown: readonly ListedCall[],
  calls: readonly ListedCall[],
  { host, formats }: Page<CallData>,
): readonly HTMLElement[] {
  const tried = calls.filter(isTried).map(({ to_number }) => to_number)
  const again = new Set<string>()
  const unknown = new Set<string>()
  for (const call of shown) {
    const number = call.to_number ?? ''
    if (call.call_id || !isPhoneNumber(number)) continue
    const outcome = outcomeOfListed(call)
    if (outcome === 'unknown') unknown.add(number)
    else if (unplaced.includes(outcome) && !tried.includes(number)) again.add(number)
  }
  const ask = (id: string, label: string, message: string, asked: Set<string>): Ask[] =>
    asked.size > 0 ? [[label, id, `${message}: ${[...asked].join(', ')}.`]] : []
  const retry = 'These numbers were not called. Call them now, as before'
  const notCalled = calls.length - tried.length
  const isPart = again.size < notCalled
  const numbers = isPart
    ? `${formats.number(again.size)} of the ${formats.number(notCalled)}`
    : numberCount(again.size, formats)
  const find = 'Find out whether these calls were placed. Do not repeat them'
  return askButtons(host, [
    ...ask('ask-again', `Ask to call ${numbers} not called`, retry, again),
    ...ask('ask-unknown', 'Ask about calls not known', find, unknown),
  ])
}

const unplaced: readonly Outcome[] = ['failed', 'not_dialled']
