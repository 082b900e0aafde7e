import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { h, listen, listenToSlider } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
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

interface TimelineOptions extends Pick<Page<CallData>, 'formats' | 'signal'> {
  /** The call is read until its end, so that the timeline reaches to the present. */
  readonly isFollowed: boolean
  /** Called with the turn that the user selects. */
  readonly choose: (turn: number) => void
}

/**
 * Timeline of who spoke when: a slider over the turns. `undefined` if the turns have no times.
 */
export function timeline(
  call: CallData,
  { formats, signal, isFollowed, choose }: TimelineOptions,
): Timeline | undefined {
  const start = startOf(call) ?? firstTime(call)
  const turns = (call.transcript?.spoken ?? []).flatMap((turn): TimedTurn[] => {
    const at = secondOf(turn, start)
    return at === undefined ? [] : [{ turn, at }]
  })
  const [first] = turns
  if (!first || turns.length < 2 || start === undefined) return undefined
  const isLive = !hasEnded(call)
  const measure = () => lengthOf(call, { start, turns, isFollowed })
  let whole = measure()
  const isWhole = (call.transcript?.spoken.length ?? 0) >= (call.transcript?.turns ?? 0)
  const lastEnd = isWhole && !isLive ? whole : undefined
  const last = turns.length - 1
  const segments = turns.map(({ turn, at }, index) => {
    const segment = h('span', { class: `segment ${kindOf(turn)}` })
    return placed(segment, at, endOf(turns, index, { lastEnd, isWhole }))
  })
  const isReadToEnd = (turns[last]?.turn.turn ?? 0) >= (call.transcript?.turns ?? 0)
  const unread = isReadToEnd
    ? undefined
    : placed(h('span', { class: 'unread' }), endOf(turns, last, { lastEnd, isWhole }))
  const needle = h('span', { class: 'needle' })
  const strip = h(
    'div',
    {
      ...{ class: 'strip', id: 'timeline', tabindex: 0, role: 'slider' },
      'aria-label': isLive ? 'Timeline' : `Timeline of ${formats.length(whole)}`,
      'aria-valuemin': 1,
      'aria-valuemax': turns.length,
    },
    segments,
    unread,
    needle,
  )
  const shown = h('span', {})
  // A clock of a call under way is in the headline.
  const end = isFollowed ? ' / now' : !isLive && ` / ${formats.length(whole)}`
  const stretch = () => {
    whole = measure()
    strip.style.setProperty('--whole', String(whole))
  }
  stretch()
  if (isFollowed) {
    const timer = setInterval(stretch, 1000)
    signal.addEventListener('abort', () => clearInterval(timer))
  }
  let current = 0
  const show = (index: number) => {
    const { turn, at } = turns[index] ?? first
    segments[current]?.removeAttribute('data-current')
    current = index
    segments[index]?.setAttribute('data-current', '')
    placed(needle, at)
    const time = formats.length(at)
    shown.textContent = time
    strip.ariaValueNow = String(index + 1)
    strip.ariaValueText = firstCharacters(
      `${time}, ${speakerOf(turn, call)}: ${plainText(turn.message ?? '')}`,
      longestValue,
    )
  }
  const go = (index: number) => choose((turns[index] ?? first).turn.turn)
  listenToSlider(strip, { now: () => current, last, perPage, go })
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
    element: figure(call, strip, [
      unread && h('span', {}, h('span', { class: 'key unread' }), 'Not read yet'),
      h('span', { class: 'number' }, shown, end),
    ]),
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

/** Puts a mark at these seconds. The style sheet computes its place from `--whole`, the length. */
function placed(mark: HTMLElement, from: number, to = from): HTMLElement {
  mark.style.setProperty('--from', String(from))
  mark.style.setProperty('--to', String(to))
  return mark
}

const figure = (call: CallData, strip: HTMLElement, others: readonly (HTMLElement | undefined)[]) =>
  h(
    'figure',
    { class: 'timeline' },
    strip,
    h(
      'figcaption',
      { class: 'row muted small' },
      h('span', {}, h('span', { class: 'key agent' }), h('bdi', {}, agentOf(call))),
      h('span', {}, h('span', { class: 'key user' }), otherSide(call)),
      others,
    ),
  )

/** Assumed length of a turn whose next turn is not loaded or not spoken yet, s. */
const usualSeconds = 3

/**
 * End of a turn, s: the start of the next turn or, if that is not known, an assumed length later.
 */
function endOf(
  turns: readonly TimedTurn[],
  index: number,
  { lastEnd, isWhole }: { readonly lastEnd: number | undefined; readonly isWhole: boolean },
): number {
  const { turn, at = 0 } = turns[index] ?? {}
  const next = turns[index + 1]
  const isNext = next !== undefined && (isWhole || next.turn.turn - 1 === turn?.turn)
  return isNext ? next.at : (lastEnd ?? at + usualSeconds)
}

const kindOf = ({ role }: Turn) =>
  role === 'agent' ? 'agent' : role === 'user' || role === 'unknown' ? 'user' : 'other'

const firstTime = (call: CallData): number | undefined => {
  const times = (call.transcript?.spoken ?? []).map(({ timestamp }) => Date.parse(timestamp ?? ''))
  return times.find((time) => !Number.isNaN(time))
}

interface Measured {
  readonly start: number
  readonly turns: readonly TimedTurn[]
  readonly isFollowed: boolean
}

/**
 * Length of the call, s; of a call under way until now or, if it is not followed, until its last
 * turn, with some margin.
 */
function lengthOf(call: CallData, { start, turns, isFollowed }: Measured): number {
  const last = turns.at(-1)?.at ?? 0
  const until = isFollowed ? Date.now() : Date.parse(call.ended_at ?? '')
  const seconds = (until - start) / 1000
  if (!Number.isNaN(seconds)) return Math.max(1, seconds, last)
  return Math.max(1, last + (hasEnded(call) ? 0 : usualSeconds), call.duration_seconds ?? 0)
}
