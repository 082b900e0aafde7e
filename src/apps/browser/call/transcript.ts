import { button } from '../shared/controls.ts'
import { actionRow, badge, type Content, h, listen, scrollBox } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, hasEnded, isEvent, searchIn } from './data.ts'
import { outcomeOf } from './outcome.ts'
import { recordingOf } from './recording.ts'
import { type Timeline, timeline } from './timeline.ts'
import { otherSide, turnList, unverifiedNote } from './turns.ts'
import { silentCall, unreachedCallButtons } from './unreached-call.ts'

/** Reading position: the turn in view, of this call. */
let reading: { readonly call: string; readonly turn: number; readonly isLive: boolean } | undefined

interface Parts {
  /** The call is under way, and read until its end. */
  readonly isFollowed: boolean
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
  { isFollowed, more }: Parts,
): Content {
  const recording = recordingOf(call, page)
  const { turns = 0, spoken = [] } = call.transcript ?? {}
  const isSilent = spoken.every(({ role }) => isEvent(role)) && spoken.length === turns
  if (isSilent) return silentCall(call, [...unreachedCallButtons(call, page), recording?.element])
  const list = turnList({ call, formats: page.formats, openAt: recording?.openAt })
  const box = scrollBox({ class: 'turn-box', id: 'turns', 'aria-label': 'Turns' }, list)
  fitBox(box, list, page.signal)
  const strip = keepInStep(call, { ...page, isFollowed, more }, box)
  const unverified = unverifiedNote(call)
  const search = searchIn(page.input)
  const isOneSided = unverified === undefined && hasEnded(call) && spoken.length === turns
  return [
    strip?.element,
    outcomeOf(call) === 'machine' && voicemail(call, page),
    h(
      'section',
      { class: 'transcript', 'aria-labelledby': 'transcript' },
      h(
        'div',
        { class: 'row' },
        h('h2', { id: 'transcript' }, 'Transcript'),
        unverified !== undefined && badge(unverified, 'warning'),
        recording && h('div', { class: 'end' }, recording.element),
      ),
      spoken.length > 0 && box,
      isOneSided &&
        h(
          'p',
          { class: 'row more muted' },
          `Nothing was heard from the ${otherSide(call).toLowerCase()}.`,
        ),
      spoken.length < turns &&
        h(
          'div',
          { class: 'row more' },
          h('span', { class: 'muted' }, shownPart(spoken.length, turns, search)),
          more &&
            button(
              search || spoken.length === 0 ? 'Show the whole conversation' : 'Show more turns',
              more,
              { id: 'more' },
            ),
        ),
    ),
  ]
}

/** How many of the turns are shown, and the text that they were searched for. */
function shownPart(shown: number, turns: number, search: string): Content {
  const count = `${shown || 'None'} of ${turns} turns`
  if (search === '') return count
  const [before, after] = shown > 0 ? [', matching “', '”'] : [' matches “', '”.']
  return [count, before, h('bdi', {}, search), after]
}

const voicemail = (call: CallData, page: Page<CallData>) =>
  h(
    'div',
    { class: 'notice stack' },
    h(
      'p',
      {},
      'The voicemail may have recorded the agent. To reach the person, try another time of day.',
    ),
    actionRow(unreachedCallButtons(call, page)),
  )

/** Height of turns for which the box grows, so that it does not hide the last one or two, px. */
const maxGrowth = 200

/** Lets the box take the height of its turns, if little would be hidden otherwise. */
function fitBox(box: HTMLElement, list: HTMLElement, signal: AbortSignal): void {
  const observer = new ResizeObserver(() => {
    box.classList.remove('whole')
    const hidden = box.scrollHeight - box.clientHeight
    box.classList.toggle('whole', hidden <= maxGrowth)
  })
  observer.observe(list)
  signal.addEventListener('abort', () => observer.disconnect())
}

const keyOf = ({ id, conversation_id }: CallData) => id ?? conversation_id ?? ''

/** Distance from the bottom within which the transcript counts as scrolled to its end, px. */
const nearEnd = 8

/**
 * Keeps the scroll position over a redraw, and the timeline in step with the turn in view. A live
 * call stays at its end, where new turns appear, until the reader scrolls back.
 */
function keepInStep(
  call: CallData,
  { formats, signal, isFollowed, more }: Page<CallData> & Pick<Parts, 'isFollowed' | 'more'>,
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
  const strip = timeline(call, { formats, signal, isFollowed, choose, more })
  mark(current)
  listen(box, 'scroll', () => {
    // A box that has grown to show all turns has no reading position.
    if (box.scrollHeight <= box.clientHeight) return
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

/** Moves a turn into view. */
function stepTo(box: HTMLElement, turn: number): void {
  const item = itemOf(box, turn)
  if (!item) return
  box.scrollTop = item.offsetTop - (box.clientHeight - item.offsetHeight) / 2
  // Where the box is partly out of view, the page moves, too.
  item.scrollIntoView({ block: 'nearest' })
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
  return (items.findLast(({ offsetTop }) => offsetTop <= line) ?? items[0])?.value
}
