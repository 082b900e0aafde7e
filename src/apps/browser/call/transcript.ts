import { type AnswerStatus, isAnswerStatus } from '../../../contract/answer-status.ts'
import { plainText } from '../../../text/safe-text.ts'
import { badge, button, h, icon, listen } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, hasEnded, isEvent } from './data.ts'
import { outcomeOf } from './outcome.ts'
import { type Recording, recordingOf } from './recording.ts'
import { type Timeline, timeline } from './timeline.ts'
import { turnList, unverifiedNote } from './turns.ts'

/** Reading position: the turn in view, of this call. */
let reading: { readonly call: string; readonly turn: number; readonly isLive: boolean } | undefined

interface Parts {
  /** The call is under way, and read until its end. */
  readonly isFollowed: boolean
  /** Buttons at the head of the transcript. */
  readonly actions: readonly HTMLElement[]
  /** Reads further turns; `undefined`: there are none, or they cannot be read. */
  readonly more: (() => void) | undefined
}

/**
 * The timeline and the transcript, synchronised in both directions. For a call in which nobody
 * spoke, the reason in their place.
 */
export function conversation(
  call: CallData,
  page: Page<CallData>,
  { isFollowed, actions, more }: Parts,
): readonly Node[] {
  const recording = recordingOf(call, page)
  const { turns = 0, spoken = [] } = call.transcript ?? {}
  const isSilent = spoken.every(({ role }) => isEvent(role)) && spoken.length === turns
  if (isSilent) return [silentCall(call, recording, actions)]
  const list = turnList({ call, formats: page.formats, openAt: recording?.openAt })
  const box = h(
    'div',
    { class: 'turn-box', id: 'turns', tabindex: 0, role: 'region', 'aria-label': 'Turns' },
    list,
    spoken.length < turns &&
      h(
        'div',
        { class: 'row more' },
        h('span', { class: 'muted' }, `${spoken.length} of ${turns} turns`),
        more && button('Show more turns', more, { id: 'more' }),
      ),
  )
  const strip = keepInStep(call, { ...page, isFollowed }, box)
  return [
    ...(strip ? [strip.element] : []),
    ...(outcomeOf(call) === 'machine' ? [h('p', { class: 'notice' }, voicemail)] : []),
    h(
      'section',
      { class: 'transcript', 'aria-labelledby': 'transcript' },
      h(
        'div',
        { class: 'row' },
        h('h2', { id: 'transcript' }, 'Transcript'),
        badge(unverifiedNote(call), 'warning'),
        h('div', { class: 'row end' }, actions, recording?.element),
      ),
      box,
    ),
  ]
}

const voicemail =
  'A machine answered, usually a voicemail. What the agent said may be recorded there. To reach the person, try another time of day.'

const keyOf = ({ id, conversation_id }: CallData) => id ?? conversation_id ?? ''

/** Distance from the bottom within which the transcript counts as scrolled to its end, px. */
const nearEnd = 8

/**
 * Keeps the scroll position over a redraw, and the timeline in step with the turn in view. A live
 * call stays at its end, where new turns appear, until the reader scrolls back.
 */
function keepInStep(
  call: CallData,
  { formats, signal, isFollowed }: Page<CallData> & Pick<Parts, 'isFollowed'>,
  box: HTMLElement,
): Timeline | undefined {
  const spoken = call.transcript?.spoken ?? []
  const isLive = !hasEnded(call)
  const before = document.getElementById('turns')
  const known = reading?.call === keyOf(call) ? reading : undefined
  const offset = before && known ? offsetIn(before, known.turn) : undefined
  const wasAtEnd =
    !before || before.scrollTop + before.clientHeight >= before.scrollHeight - nearEnd
  const followsEnd = (isLive || known?.isLive === true) && wasAtEnd
  const current = (followsEnd ? spoken.at(-1)?.turn : known?.turn) ?? spoken[0]?.turn ?? 1
  /**
   * Position that the view itself has scrolled to. A scroll event there does not change the turn in
   * view.
   */
  let placedAt: number | undefined

  const mark = (turn: number) => {
    reading = { call: keyOf(call), turn, isLive }
    markTurn(box, turn)
    strip?.mark(turn)
  }
  const choose = (turn: number) => {
    stepTo(box, turn)
    placedAt = box.scrollTop
    mark(turn)
  }
  const strip = timeline(call, { formats, signal, isFollowed, choose })
  mark(current)
  listen(box, 'scroll', () => {
    if (placedAt !== undefined && Math.abs(box.scrollTop - placedAt) < 1) return
    placedAt = undefined
    mark(turnInView(box) ?? current)
  })
  // Runs after the box was inserted into the page.
  queueMicrotask(() => {
    const item = itemOf(box, current)
    if (followsEnd) box.scrollTop = box.scrollHeight
    else if (offset !== undefined && item) box.scrollTop = item.offsetTop - offset
    placedAt = box.scrollTop
  })
  return strip
}

const itemOf = (box: HTMLElement, turn: number) =>
  box.querySelector<HTMLLIElement>(`.turn[value="${turn}"]`)

function offsetIn(box: HTMLElement, turn: number): number | undefined {
  const item = itemOf(box, turn)
  return item ? item.offsetTop - box.scrollTop : undefined
}

/** Moves a turn into view and highlights it. */
function stepTo(box: HTMLElement, turn: number): void {
  const item = itemOf(box, turn)
  if (!item) return
  box.scrollTop = item.offsetTop - (box.clientHeight - item.offsetHeight) / 2
  // Where the box is partly out of view, the page moves, too.
  item.scrollIntoView({ block: 'nearest' })
  for (const other of box.querySelectorAll('.chosen')) other.classList.remove('chosen')
  item.classList.add('chosen')
}

/**
 * Marks the turn in view. Only the time of this turn, a button that opens the recording, is in the
 * tab order.
 */
function markTurn(box: HTMLElement, turn: number): void {
  const item = itemOf(box, turn)
  for (const other of box.querySelectorAll('[aria-current]')) other.removeAttribute('aria-current')
  item?.setAttribute('aria-current', 'true')
  for (const at of box.querySelectorAll<HTMLElement>('button.at'))
    at.tabIndex = item?.contains(at) ? 0 : -1
}

/**
 * The turn in view: the one at a reading line in the box. The line moves from the top of the box to
 * its bottom as the reader scrolls, so that it reaches the first and the last turn.
 */
function turnInView(box: HTMLElement): number | undefined {
  const { scrollTop, clientHeight, scrollHeight } = box
  const line = scrollTop + clientHeight * (scrollTop / Math.max(1, scrollHeight - clientHeight))
  const items = [...box.querySelectorAll<HTMLLIElement>('.turn')]
  return items.findLast(({ offsetTop }) => offsetTop <= line)?.value
}

/** Shown in place of a transcript without words: what happened, and what to do. */
function silentCall(
  call: CallData,
  recording: Recording | undefined,
  actions: Parts['actions'],
): HTMLElement {
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
