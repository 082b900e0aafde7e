import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { listenToSlider } from '../shared/controls.ts'
import { fill, h, listen } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, hasEnded, isEvent, startOf, type Turn } from './data.ts'
import { agentOf, otherSide, type Side, secondOf, sideOf, sides, speakerOf } from './turns.ts'

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
  /** Reads further turns; `undefined`: there are none, or they cannot be read. */
  readonly more: (() => void) | undefined
}

/**
 * Timeline of who spoke when: a slider over the turns. `undefined` if the turns have no times.
 */
export function timeline(
  call: CallData,
  { formats, signal, isFollowed, choose, more }: TimelineOptions,
): Timeline | undefined {
  const start = startOf(call)
  const turns = (call.transcript?.spoken ?? []).flatMap((turn): TimedTurn[] => {
    const at = secondOf(turn, start)
    return at === undefined ? [] : [{ turn, at }]
  })
  const [first] = turns
  if (!first || turns.length < 2 || start === undefined) return undefined
  const isLive = !hasEnded(call)
  const measure = () => lengthOf(call, { start, turns, isFollowed })
  let whole = measure()
  const { turns: count = 0, spoken = [] } = call.transcript ?? {}
  const isWhole = spoken.length >= count
  const lastEnd = isWhole && !isLive ? whole : undefined
  const last = turns.length - 1
  const speeches = turns.flatMap(({ turn, at }, index): Bar[] => {
    const side = sideOf(turn)
    return side
      ? [{ side, from: at, to: endOf(turns, index, { lastEnd, isWhole }), height: 1 }]
      : []
  })
  const loadedEnd = endOf(turns, last, { lastEnd, isWhole })
  const rest =
    (turns[last]?.turn.turn ?? 0) < count
      ? unloadedPart({ from: loadedEnd, whole, count, loaded: spoken.length })
      : undefined
  const needle = h('span', { class: 'needle' })
  const strip = h('div', {
    ...{ class: 'strip', id: 'timeline', tabindex: 0, role: 'slider' },
    'aria-label': isLive ? 'Timeline' : `Timeline of ${formats.length(whole)}${rest?.label ?? ''}`,
    'aria-valuemin': 1,
    'aria-valuemax': turns.length,
  })
  const shown = h('span', {})
  // A clock of a call under way is in the headline.
  const end = isFollowed ? ' / now' : !isLive && ` / ${formats.length(whole)}`
  let current = 0
  let segments: readonly HTMLElement[] = []
  const markSegment = () => {
    const { at } = turns[current] ?? first
    for (const segment of segments) {
      const [from, to] = [Number(segment.dataset.from), Number(segment.dataset.to)]
      segment.toggleAttribute('data-current', from <= at && at < to)
    }
  }
  const drawBars = () => {
    whole = measure()
    strip.style.setProperty('--whole', String(whole))
    const width = strip.clientWidth * Math.min(1, loadedEnd / whole)
    const bars = fittingBars(speeches, loadedEnd, width)
    segments = bars.map(drawnBar)
    strip.toggleAttribute('data-spans', bars !== speeches)
    fill(strip, [segments, rest?.element, needle])
    markSegment()
  }
  drawBars()
  const observer = new ResizeObserver(drawBars)
  observer.observe(strip)
  const timer = isFollowed ? setInterval(drawBars, 1000) : undefined
  signal.addEventListener('abort', () => {
    observer.disconnect()
    clearInterval(timer)
  })
  const show = (index: number) => {
    const { turn, at } = turns[index] ?? first
    current = index
    markSegment()
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
  const secondAt = ({ clientX }: MouseEvent) => {
    const { left: from, width } = strip.getBoundingClientRect()
    return ((clientX - from) / width) * whole
  }
  const goTo = (second: number) => go(turns.findLastIndex(({ at }) => at <= second))
  listen(strip, 'pointerdown', (event) => {
    const second = secondAt(event)
    if (rest && more && second > loadedEnd) more()
    else goTo(second)
  })
  listen(strip, 'pointermove', (event) => {
    if (event.buttons & 1) goTo(secondAt(event))
  })
  show(0)
  return {
    element: figure(call, strip, [rest?.key, h('span', { class: 'number' }, shown, end)]),
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

/** A bar of the timeline: one turn or, where turns would be too narrow, a span of time. */
interface Bar {
  readonly side: Side
  readonly from: number
  readonly to: number
  /** Height, at most 1. */
  readonly height: number
}

/** Minimum distance of two bars, px: a bar of six that can be told and hit, and a gap. */
const minDistance = 7

/**
 * The bars for a width in pixels. If turns would be too narrow, each bar is an equal span of time
 * instead, as high as this side spoke in it, compared with the most that one side spoke in a span.
 */
function fittingBars(speeches: readonly Bar[], end: number, width: number): readonly Bar[] {
  const count = Math.max(1, Math.floor(width / minDistance))
  if (width === 0 || speeches.length <= count) return speeches
  const span = end / count
  const bars = Array.from({ length: count }, (_, place) =>
    sides.flatMap((side): Bar[] => {
      const [from, to] = [place * span, (place + 1) * span]
      const seconds = speeches
        .filter((speech) => speech.side === side)
        .map((speech) => Math.min(to, speech.to) - Math.max(from, speech.from))
        .reduce((sum, one) => sum + Math.max(0, one), 0)
      return seconds > 0 ? [{ side, from, to, height: seconds }] : []
    }),
  ).flat()
  const longest = Math.max(...bars.map(({ height }) => height))
  return bars.map((bar) => ({ ...bar, height: bar.height / longest }))
}

function drawnBar({ side, from, to, height }: Bar): HTMLElement {
  const bar = h('span', { class: `segment ${side}`, 'data-from': from, 'data-to': to })
  bar.style.setProperty('--height', String(height))
  return placed(bar, from, to)
}

interface Unloaded {
  readonly from: number
  readonly whole: number
  /** All turns of the call, and those that are loaded. */
  readonly count: number
  readonly loaded: number
}

/** Minimum share of the timeline that has space for a text. */
const minTextShare = 0.3

/**
 * The part of the timeline whose turns are not loaded, with its explanation in it or, without space,
 * as a key of the legend.
 */
function unloadedPart({ from, whole, count, loaded }: Unloaded) {
  const hasSpace = (whole - from) / whole >= minTextShare
  const text = 'Not loaded yet'
  return {
    element: placed(h('span', { class: 'unread' }, hasSpace && h('span', {}, text)), from),
    key: hasSpace ? undefined : h('span', {}, h('span', { class: 'key unread' }), text),
    label: `, ${loaded} of ${count} turns loaded`,
  }
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
      call.transcript?.spoken.some(({ role }) => role === 'unknown') &&
        h('span', {}, h('span', { class: 'key unknown' }), 'Unknown'),
      others,
    ),
  )

/** Assumed length of a turn whose end is not known, s. */
const usualSeconds = 3

/**
 * End of a turn, s: the start of the next turn or, if that is not known, an assumed length later. An
 * event does not tell when the turn before it ended.
 */
function endOf(
  turns: readonly TimedTurn[],
  index: number,
  { lastEnd, isWhole }: { readonly lastEnd: number | undefined; readonly isWhole: boolean },
): number {
  const { turn, at = 0 } = turns[index] ?? {}
  const next = turns[index + 1]
  const isNext = next !== undefined && (isWhole || next.turn.turn - 1 === turn?.turn)
  const assumed = at + usualSeconds
  if (!isNext) return lastEnd ?? assumed
  return isEvent(next.turn.role) ? Math.min(next.at, assumed) : next.at
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
