import './browser-language.ts'
import uPlot from 'uplot'
import { listenToSlider } from '../shared/controls.ts'
import { h, listen } from '../shared/dom.ts'
import { mergeBuckets, type UsageSeries } from './buckets.ts'

export interface ChartOptions {
  readonly buckets: UsageSeries
  /** Called with the bars before they are drawn, at first and when their number changes. */
  readonly describe: (bars: UsageSeries, size: number) => Bars
  /** Formats an amount on the axis. */
  readonly amount: (value: number, decimals: number) => string
  /** Minimum distance of two grid lines, in the unit of the measure. */
  readonly minStep: number
  readonly signal: AbortSignal
}

interface Bars {
  /** Labels of the axis. */
  readonly labels: readonly string[]
  /** Description of a bar for screen readers. */
  readonly say: (bar: number) => string
  /** Called with the bar under the pointer (`isPointed`) or that was selected; `undefined`: none. */
  readonly choose: (bar: number | undefined, isPointed?: boolean) => void
}

const height = 260

/** How many times larger than usual the reader's text is. */
export const textScale = (): number =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

/** Time of the bar that was selected last, which stays selected when the chart is drawn again. */
let selectedTime: string | undefined

/**
 * Stacked bars at the width and text size that the chart has: where bars would be too narrow, each
 * is several buckets. The pointer or the arrow keys select a bar; to assistive technology the chart
 * is a slider over the bars.
 */
export function usageChart(options: ChartOptions): HTMLElement {
  const { buckets, describe, signal } = options
  const last = buckets.times.length - 1
  const slider = h('div', {
    role: 'slider',
    id: 'chart',
    class: 'chart',
    tabindex: 0,
    'aria-label': 'Chart: choose a time with the arrow keys',
    ...{ 'aria-valuemin': 0, 'aria-valuemax': last, 'aria-valuenow': last },
  })
  let data = buckets
  let bars: Bars | undefined
  let plot: uPlot | undefined
  let selected = 0
  function select(bar: number) {
    selected = bar
    slider.ariaValueNow = String(bar)
    slider.ariaValueText = bars?.say(bar) ?? ''
  }
  const selectByUser = (bar: number) => {
    select(Math.min(bar, data.times.length - 1))
    selectedTime = data.times[selected]
  }
  function show() {
    bars?.choose(selected)
    plot?.setCursor({ left: plot.valToPos(selected, 'x'), top: 0 }, false)
  }
  function release() {
    bars?.choose(undefined)
    plot?.setCursor({ left: -10, top: -10 }, false)
  }
  const go = (bar: number) => {
    selectByUser(bar)
    show()
  }
  const isFocused = () => document.activeElement === slider
  listenToSlider(slider, { now: () => selected, last, perPage, go })
  listen(slider, 'focus', show)
  listen(slider, 'blur', release)
  // A bar that was selected by press or key stays selected while the chart has the focus.
  listen(slider, 'mouseleave', () => (isFocused() ? show() : release()))
  listen(slider, 'mousemove', (event) => {
    const bar = plot && barUnder(event, plot)
    if (bar === undefined) return
    selectByUser(bar)
    bars?.choose(bar, true)
  })
  // uPlot stops most clicks.
  listen(slider, 'mouseup', (event) => go((plot && barUnder(event, plot)) ?? selected))
  function draw(size: number, width: number) {
    plot?.destroy()
    data = mergeBuckets(buckets, size)
    bars = describe(data, size)
    const { labels } = bars
    plot = new uPlot(
      plotOptions({ ...options, data, labels }, slider, width),
      stacked(data),
      slider,
    )
    slider.ariaValueMax = String(data.times.length - 1)
    select(barAt(selectedTime, data.times))
  }
  let drawn = ''
  const resized = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0)
    if (width === 0) return
    const scale = textScale()
    const size = bucketsPerBar(buckets, width, scale)
    if (drawn === `${size} ${scale}`) plot?.setSize({ width, height })
    else draw(size, width)
    drawn = `${size} ${scale}`
    if (isFocused()) show()
  })
  resized.observe(slider)
  signal.addEventListener('abort', () => {
    resized.disconnect()
    plot?.destroy()
  })
  return slider
}

/** The bar under the pointer; `undefined` beside the plot. */
function barUnder({ clientX }: MouseEvent, plot: uPlot): number | undefined {
  const { left, right } = plot.over.getBoundingClientRect()
  return left <= clientX && clientX <= right ? plot.posToIdx(clientX - left) : undefined
}

/** The bar with a time; the last one if there is none. Compares local times, as they are written. */
function barAt(time: string | undefined, times: readonly string[]): number {
  const local = (ts: string) => ts.slice(0, 16)
  const found = time === undefined ? -1 : times.findLastIndex((ts) => local(ts) <= local(time))
  return found < 0 ? times.length - 1 : found
}

/** Bars that Page Up and Page Down move by: of days, a week. */
const perPage = 7

/** Cumulative sums: the last row, drawn first, is the bars' whole height. */
function stacked({ times, series }: UsageSeries): uPlot.AlignedData {
  const below = times.map(() => 0)
  const sums = series.map(({ values }) =>
    values.map((value, at) => {
      below[at] = (below[at] ?? 0) + value
      return below[at]
    }),
  )
  return [times.map((_, at) => at), ...sums.reverse()]
}

interface PlotOptions extends Pick<ChartOptions, 'amount' | 'minStep'>, Pick<Bars, 'labels'> {
  readonly data: UsageSeries
}

function plotOptions(
  { data, labels, amount, minStep }: PlotOptions,
  slider: HTMLElement,
  width: number,
): uPlot.Options {
  const colour = colours(slider)
  const [text, line, page] = [colour('--muted'), colour('--line'), colour('--page')]
  const scale = textScale()
  const { fontSize, fontFamily } = getComputedStyle(slider)
  const font = `${fontSize} ${fontFamily}`
  // With forced colours, lines cannot be faint: those of the grid are dotted instead.
  const isForced = matchMedia('(forced-colors: active)').matches
  const grid = { stroke: line, width: 1, dash: isForced ? [1, 3] : [] }
  const axis = { stroke: text, font, grid, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [barShare, maxBar], gap: 0 })
  const series = data.series.map((one) => ({
    fill: colour(`--series-${one.colour}`, 'none'),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  }))
  const { ticks, decimals } = amountTicks(Math.max(...data.totals), minStep, maxSteps / scale)
  const amounts = ticks.map((tick) => amount(tick, decimals))
  const labelWidth = scale * (14 + 7 * Math.max(...labels.map(({ length }) => length)))
  const columnWidth = (plot: uPlot) => plot.bbox.width / devicePixelRatio / data.times.length
  return {
    width,
    height,
    // Room on the right for half of the last axis label.
    padding: [12 * scale, 16 * scale, null, null],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false },
      // Snaps the cursor to the centre of a bucket.
      move: (plot, left, top) => [
        left < 0 ? left : plot.valToPos(Math.round(plot.posToVal(left, 'x')), 'x'),
        top,
      ],
    },
    scales: {
      x: { time: false, range: [-0.5, data.times.length - 0.5] },
      y: { range: [0, ticks.at(-1) ?? 1] },
    },
    series: [{}, ...series.reverse()],
    axes: [
      {
        ...axis,
        grid: { show: false },
        border: { show: isForced, stroke: text, width: 1 },
        size: 30 * scale,
        splits: (plot) => labelledBuckets(data.times, labelWidth / columnWidth(plot)),
        values: (_, at) => at.map((bucket) => labels[bucket] ?? ''),
      },
      {
        ...axis,
        size: 16 + 7 * scale * Math.max(...amounts.map(({ length }) => length)),
        splits: () => ticks,
        values: () => amounts,
      },
    ],
    hooks: {
      draw: [(plot) => separate(plot, data, page), (plot) => hatch(plot, data, page)],
      setSize: [(plot) => plot.over.style.setProperty('--column', `${columnWidth(plot)}px`)],
      ready: [(plot) => plot.over.style.setProperty('--column', `${columnWidth(plot)}px`)],
    },
  }
}

/** Width of a bar as a share of its bucket's width. */
const barShare = 0.8
/** Minimum and maximum width of a bar, pixels. */
const minBar = 6
const maxBar = 72

/** Numbers of buckets that a bar may have. */
const barSizes = { hour: [1, 2, 3, 4, 6, 12, 24], day: [1, 7, 14, 28], month: [1] }

/** Width of the axis of amounts and of the padding, about, pixels. */
const besidesBars = 64

/** Buckets per bar in a chart of this width, so that no bar is too narrow to see or to press. */
function bucketsPerBar({ times, granularity }: UsageSeries, width: number, scale: number): number {
  const isWide = (size: number) =>
    (barShare * (width - besidesBars * scale)) / Math.ceil(times.length / size) >= minBar
  const sizes = barSizes[granularity]
  return sizes.find(isWide) ?? sizes.at(-1) ?? 1
}

/**
 * Indexes of the buckets with an axis label. As many as fit, at regular hours or days. If that costs
 * few labels, they are placed so that the last bucket has one. `distance`: minimum between two
 * labels.
 */
function labelledBuckets(times: readonly string[], distance: number): number[] {
  const isApart = (labelled: readonly number[]) =>
    labelled.every((bucket, at) => bucket - (labelled[at - 1] ?? -distance) >= distance)
  const hourOf = (at: number) => Number(times[at]?.slice(11, 13))
  const all = times.map((_, at) => at)
  const regular = [1, 2, 3, 6, 12, 24].map((hours) => all.filter((at) => hourOf(at) % hours === 0))
  const fitting = regular.find(isApart)
  if (fitting) return fitting
  const midnights = regular.at(-1) ?? []
  const everyDays = (days: number) => midnights.filter((_, at) => at % days === 0)
  const minDays = midnights.findIndex((_, days) => days > 0 && isApart(everyDays(days)))
  if (minDays < 0) return midnights.slice(0, 1)
  const steps = Array.from({ length: minDays + 1 }, (_, more) => minDays + more)
  return everyDays(steps.find((days) => (midnights.length - 1) % days === 0) ?? minDays)
}

/**
 * Grid lines of the amount axis, in steps of 1, 2 or 5 times a power of ten. The last is not below
 * the highest bar.
 */
function amountTicks(
  max: number,
  minStep: number,
  maxSteps: number,
): { ticks: number[]; decimals: number } {
  const power = 10 ** Math.floor(Math.log10(max / maxSteps || 1))
  const fitting = [1, 2, 5].map((factor) => factor * power).find((step) => step * maxSteps >= max)
  const step = Math.max(minStep, fitting ?? 10 * power)
  const count = Math.max(1, Math.ceil(max / step))
  const ticks = Array.from({ length: count + 1 }, (_, at) => at * step)
  return { ticks, decimals: step < 1 ? 1 : 0 }
}

/** Maximum number of steps, with text of usual size. */
const maxSteps = 5

/** Draws a line of a pixel between the groups of a bar, which tells them apart without colour. */
function separate({ ctx, bbox, valToPos }: uPlot, { series, times }: UsageSeries, colour: string) {
  const ratio = devicePixelRatio
  const width = Math.min((barShare * bbox.width) / times.length, maxBar * ratio)
  ctx.fillStyle = colour
  for (const bucket of times.keys()) {
    let [below, bottom] = [0, valToPos(0, 'y', true)]
    for (const { values } of series) {
      below += values[bucket] ?? 0
      const top = valToPos(below, 'y', true)
      const isFirst = below === (values[bucket] ?? 0)
      if (!isFirst && bottom - top > 2 * ratio)
        ctx.fillRect(
          valToPos(bucket, 'x', true) - width / 2,
          Math.round(bottom) - Math.ceil(ratio),
          width,
          Math.ceil(ratio),
        )
      bottom = top
    }
  }
}

/** Draws stripes over the bars of buckets that are not covered whole. */
function hatch({ ctx, bbox, valToPos }: uPlot, data: UsageSeries, colour: string): void {
  const { partial, totals, times } = data
  const ratio = devicePixelRatio
  const width = Math.min((barShare * bbox.width) / times.length, maxBar * ratio)
  for (const bucket of partial.keys()) {
    const left = valToPos(bucket, 'x', true) - width / 2
    const [top, bottom] = [valToPos(totals[bucket] ?? 0, 'y', true), valToPos(0, 'y', true)]
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, top, width, bottom - top)
    ctx.clip()
    ctx.beginPath()
    for (let x = left - (bottom - top); x < left + width; x += 6 * ratio) {
      ctx.moveTo(x, bottom)
      ctx.lineTo(x + bottom - top, top)
    }
    ctx.strokeStyle = colour
    ctx.lineWidth = 2 * ratio
    ctx.stroke()
    ctx.restore()
  }
}

/**
 * Reads the style sheet's colours in the current theme, because a canvas has no variables. In
 * forced-colours mode, all groups would have the same colour: `none` (`forced-color-adjust`) keeps
 * the style sheet's.
 */
function colours(place: HTMLElement): (name: string, adjust?: 'none') => string {
  return (name, adjust) => {
    const probe = h('span', { hidden: true })
    if (adjust) probe.style.setProperty('forced-color-adjust', adjust)
    probe.style.color = `var(${name})`
    place.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
