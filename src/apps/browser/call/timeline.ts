import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { h, listen } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type CallData, hasEnded, startOf, type Turn } from './data.ts'
import { agentOf, otherSide, secondOf, speakerOf } from './turns.ts'

interface TimedTurn {
  readonly turn: Turn
  /** Seconds since the start of the call. */
  readonly at: number
}

export interface Timeline {
  readonly element: HTMLElement
  /** Marks a turn as the one in view. */
  readonly mark: (turn: number) => void
}

/** Maximum length of a turn's words in the slider's value for screen readers, characters. */
const longestValue = 200

/** Turns that Page Up and Page Down move by. */
const perPage = 10

/**
 * Timeline of who spoke when: a slider over the turns. Calls `choose` with the turn that the user
 * selects. `undefined` if the turns have no times.
 */
export function timeline(
  call: CallData,
  formats: Formats,
  choose: (turn: number) => void,
): Timeline | undefined {
  const start = startOf(call) ?? firstTime(call)
  const turns = (call.transcript?.spoken ?? []).flatMap((turn): TimedTurn[] => {
    const at = secondOf(turn, start)
    return at === undefined ? [] : [{ turn, at }]
  })
  const [first] = turns
  if (!first || turns.length < 2 || start === undefined) return undefined
  const whole = lengthOf(call, start, turns)
  const isWhole = (call.transcript?.spoken.length ?? 0) >= (call.transcript?.turns ?? 0)
  const left = (seconds: number) => `${Math.min(100, Math.max(0, (seconds / whole) * 100))}%`
  const segments = turns.map(({ turn, at }, index) => {
    const segment = h('span', { class: `segment ${kindOf(turn)}` })
    segment.style.left = left(at)
    segment.style.width = left(endOf(turns, index, { whole, isWhole }) - at)
    return segment
  })
  const last = turns.length - 1
  const isReadToEnd = (turns[last]?.turn.turn ?? 0) >= (call.transcript?.turns ?? 0)
  const unread = isReadToEnd ? undefined : h('span', { class: 'unread' })
  if (unread) unread.style.left = left(endOf(turns, last, { whole, isWhole }))
  const needle = h('span', { class: 'needle' })
  const strip = h(
    'div',
    {
      ...{ class: 'strip', id: 'timeline', tabindex: 0, role: 'slider' },
      'aria-label': hasEnded(call) ? `Timeline of ${formats.length(whole)}` : 'Timeline',
      'aria-valuemin': 1,
      'aria-valuemax': turns.length,
    },
    segments,
    unread,
    needle,
  )
  const now = h('span', {})
  let current = 0
  const show = (index: number) => {
    const { turn, at } = turns[index] ?? first
    segments[current]?.removeAttribute('data-current')
    current = index
    segments[index]?.setAttribute('data-current', '')
    needle.style.left = left(at)
    const time = formats.length(at)
    now.textContent = time
    strip.ariaValueNow = String(index + 1)
    strip.ariaValueText = firstCharacters(
      `${time}, ${speakerOf(turn, call)}: ${plainText(turn.message ?? '')}`,
      longestValue,
    )
  }
  const go = (index: number) => {
    const next = turns[Math.min(turns.length - 1, Math.max(0, index))] ?? first
    choose(next.turn.turn)
  }
  listen(strip, 'keydown', (event) => {
    const index = stepped(event.key, current, turns.length)
    if (index === undefined) return
    event.preventDefault()
    go(index)
  })
  const goTo = ({ clientX }: MouseEvent) => {
    const { left: from, width } = strip.getBoundingClientRect()
    const second = ((clientX - from) / width) * whole
    go(turns.findLastIndex(({ at }) => at <= second))
  }
  listen(strip, 'pointerdown', goTo)
  listen(strip, 'pointermove', (event) => {
    if (event.buttons & 1) goTo(event)
  })
  show(0)
  return {
    element: figure(
      call,
      strip,
      // The total length is shown only after the call. Until then, the clock under the title runs.
      h('span', { class: 'number' }, now, hasEnded(call) && ` / ${formats.length(whole)}`),
    ),
    mark(turn) {
      show(
        Math.max(
          0,
          turns.findLastIndex((one) => one.turn.turn <= turn),
        ),
      )
    },
  }
}

const figure = (call: CallData, strip: HTMLElement, times: HTMLElement) =>
  h(
    'figure',
    { class: 'timeline' },
    strip,
    h(
      'figcaption',
      { class: 'row muted small' },
      h('span', {}, h('span', { class: 'key agent' }), h('bdi', {}, agentOf(call))),
      h('span', {}, h('span', { class: 'key user' }), otherSide(call)),
      times,
    ),
  )

/** Index that a slider's key moves to; `undefined` for other keys. */
function stepped(key: string, from: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return from + 1
    case 'ArrowLeft':
    case 'ArrowDown':
      return from - 1
    case 'PageUp':
      return from + perPage
    case 'PageDown':
      return from - perPage
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

/** Assumed length of a turn whose next turn is not loaded, s. */
const usualSeconds = 3

/**
 * End of a turn, s: the start of the next turn or, if that is not loaded, an assumed length later.
 */
function endOf(
  turns: readonly TimedTurn[],
  index: number,
  { whole, isWhole }: { readonly whole: number; readonly isWhole: boolean },
): number {
  const { turn, at = whole } = turns[index] ?? {}
  const next = turns[index + 1]
  if (isWhole) return next?.at ?? whole
  const isNext = next !== undefined && next.turn.turn - 1 === turn?.turn
  return isNext ? next.at : Math.min(at + usualSeconds, whole)
}

const kindOf = ({ role }: Turn) =>
  role === 'agent' ? 'agent' : role === 'user' || role === 'unknown' ? 'user' : 'other'

const firstTime = (call: CallData): number | undefined => {
  const times = (call.transcript?.spoken ?? []).map(({ timestamp }) => Date.parse(timestamp ?? ''))
  return times.find((time) => !Number.isNaN(time))
}

/** Length of the call, s; of a call under way until its last turn, with some margin. */
function lengthOf(call: CallData, start: number, turns: readonly TimedTurn[]): number {
  const last = turns.at(-1)?.at ?? 0
  const ended = (Date.parse(call.ended_at ?? '') - start) / 1000
  if (!Number.isNaN(ended)) return Math.max(1, ended, last)
  return Math.max(1, last + (hasEnded(call) ? 0 : 3), call.duration_seconds ?? 0)
}
