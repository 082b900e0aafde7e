import { answerMeanings, isAnswerStatus } from '../../../contract/answer-status.ts'
import { plainText } from '../../../text/safe-text.ts'
import { badge, columnHead, h, listen, scrolledTable } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, hasEnded, type ListedCall, startOf } from './data.ts'

/** State of a call in words, and its tone: good, bad or open. */
function stateOf(call: CallData): {
  readonly text: string
  readonly kind: 'live' | 'good' | 'bad'
} {
  const { status } = call
  const answer_status = call.answer_status ?? ''
  const answer = isAnswerStatus(answer_status) ? answerMeanings[answer_status] : undefined
  const isAnswered = answer_status === 'human' || answer_status === 'machine'
  if (!hasEnded(call)) {
    const isWeb = call.type === 'web'
    return { text: isAnswered || isWeb ? 'Live: talking' : 'Live: ringing', kind: 'live' }
  }
  const parts = [status ?? 'ended', answer].filter(Boolean).map((part) => plainText(part ?? ''))
  return { text: parts.join(', '), kind: status === 'failed' ? 'bad' : 'good' }
}

const tones = { live: 'info', good: 'success', bad: 'danger' } as const

/** State, parties, time and duration. */
export function callFacts(call: CallData, page: Page<CallData>): HTMLElement {
  const { formats } = page
  const { text, kind } = stateOf(call)
  const [from, to] = numbersOf(call)
  const began = call.started_at ?? call.start_timestamp
  const rows: [string, string | Node | undefined][] = [
    ['Agent', called(call.agent_name ?? call.agent_id)],
    ['From', called(from)],
    ['To', called(to)],
    ['Placed', call.created ? formats.moment(call.created) : undefined],
    ['Started', began ? formats.moment(began) : undefined],
    ['Length', lengthOf(call, page)],
    ['External id', called(call.external_id)],
    ['Recording', recordingOf(call, page)],
  ]
  return h(
    'div',
    {},
    h('p', {}, badge(text, tones[kind])),
    h(
      'dl',
      { class: 'facts' },
      rows.flatMap(([name, value]) =>
        value ? h('div', {}, h('dt', {}, name), h('dd', {}, value)) : [],
      ),
    ),
  )
}

const called = (text: string | null | undefined) => (text ? plainText(text) : undefined)

/** A conversation has the agent's number and the other side's, whatever its direction. */
function numbersOf({ direction, from_number, to_number, phone_number, contact_number }: CallData) {
  const numbers = [phone_number, contact_number]
  const [from, to] = direction === 'inbound' ? numbers.toReversed() : numbers
  return [from_number ?? from, to_number ?? to]
}

/** Duration of the call; while it goes on, updated each second. */
function lengthOf(call: CallData, { formats, signal }: Page<CallData>): string | Node | undefined {
  if (hasEnded(call))
    return typeof call.duration_seconds === 'number'
      ? formats.length(call.duration_seconds)
      : undefined
  const start = startOf(call)
  if (start === undefined) return undefined
  const place = h('span', { role: 'timer' })
  const count = () => {
    place.textContent = `${formats.length((Date.now() - start) / 1000)} so far`
  }
  count()
  const timer = setInterval(count, 1000)
  signal.addEventListener('abort', () => clearInterval(timer))
  return place
}

/** The host opens a recording, and may ask first; a view itself loads nothing. */
function recordingOf({ capture }: CallData, { host }: Page<CallData>): Node | string | undefined {
  const url = capture?.recording_url
  if (!url) return undefined
  if (!/^https?:\/\//.test(url) || !host.canOpenLinks()) return plainText(url)
  const button = h('button', { id: 'recording' }, 'Open the recording')
  // If the client does not open the recording, the user can still copy its address.
  const showAddress = () => button.replaceWith(plainText(url))
  return listen(button, 'click', () => void host.openLink(url).catch(showAddress))
}

/** Calls of a list, one row each; a row opens its call. */
export function severalCalls(calls: readonly ListedCall[], page: Page<CallData>): HTMLElement {
  const { account_id } = page.input
  const account = account_id ? { account_id } : {}
  const open = (call_id: string, at: number) =>
    listen(
      h('button', { id: `open-${at}`, 'aria-label': `Show call ${at + 1}` }, 'Show'),
      'click',
      () => {
        page.call('get_call', { ...account, call_id })
      },
    )
  const row = (call: ListedCall, at: number) =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row', class: 'nowrap' },
        plainText(call.to_number ?? '') || `Call ${at + 1}`,
      ),
      h('td', {}, wordsOf(call)),
      h(
        'td',
        { class: 'number' },
        typeof call.duration_seconds === 'number' ? page.formats.length(call.duration_seconds) : '',
      ),
      h('td', {}, lastWords(call)),
      page.host.canCallTools() && h('td', {}, call.call_id ? open(call.call_id, at) : ''),
    )
  const heads = ['To', 'Result', 'Length', 'Said last']
  return scrolledTable({
    id: 'calls',
    label: 'Calls',
    head: [
      ...heads.map((head) => columnHead(head)),
      page.host.canCallTools() && columnHead('Call'),
    ],
    rows: calls.map(row),
  })
}

const wordsOf = ({ outcome, state, problem }: ListedCall) =>
  [state ?? outcome, problem]
    .filter(Boolean)
    .map((part) => plainText(part ?? '').replaceAll('_', ' '))
    .join(': ')

const lastWords = ({ last_words }: ListedCall) =>
  last_words
    ? h(
        'div',
        { class: 'user said' },
        h('span', { class: 'mark' }, 'unverified speech'),
        plainText(last_words),
      )
    : ''
