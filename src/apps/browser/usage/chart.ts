import './data.ts'
import uPlot from 'uplot'
import { h, listen } from '../shared/dom.ts'
import type { UsageSeries } from './data.ts'

export interface ChartOptions {
  readonly data: UsageSeries
  /** Labels of the times. */
  readonly labels: readonly string[]
  /** Description of a bucket for screen readers. */
  readonly say: (bucket: number) => string
  /** The pointer or the keyboard selects a bucket. */
  readonly choose: (bucket: number) => void
  readonly number: (value: number) => string
  readonly signal: AbortSignal
}

const height = 220

/**
 * Stacked bars, one per bucket. The pointer or the arrow keys select a bucket; to assistive
 * technology the chart is a slider over the buckets.
 */
export function usageChart(options: ChartOptions): HTMLElement {
  const { data, choose, say, signal } = options
  const last = data.times.length - 1
  const slider = h('div', {
    role: 'slider',
    id: 'chart',
    class: 'chart',
    tabindex: 0,
    'aria-label': 'Chart: choose a time with the arrow keys',
    'aria-valuemin': 0,
    'aria-valuemax': last,
  })
  let chart: uPlot | undefined
  let chosen = last
  function chooseBucket(bucket: number) {
    chosen = Math.min(last, Math.max(0, bucket))
    slider.ariaValueNow = String(chosen)
    slider.ariaValueText = say(chosen)
    choose(chosen)
  }
  listen(slider, 'keydown', (event) => {
    const next = nextBucket(event.key, chosen, last)
    if (next === undefined) return
    event.preventDefault()
    chooseBucket(next)
    chart?.setCursor({ left: chart.valToPos(chosen, 'x'), top: 0 }, false)
  })
  const resized = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0)
    if (width === 0) return
    if (chart) chart.setSize({ width, height })
    else chart = new uPlot(plotOptions(options, slider, width, chooseBucket), stacked(data), slider)
  })
  resized.observe(slider)
  signal.addEventListener('abort', () => {
    resized.disconnect()
    chart?.destroy()
  })
  chooseBucket(last)
  return slider
}

function nextBucket(key: string, chosen: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return chosen - 1
    case 'ArrowRight':
    case 'ArrowUp':
      return chosen + 1
    case 'PageUp':
      return chosen + 7
    case 'PageDown':
      return chosen - 7
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

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

function plotOptions(
  { data, labels, number }: ChartOptions,
  slider: HTMLElement,
  width: number,
  choose: (bucket: number) => void,
): uPlot.Options {
  const colour = colours(slider)
  const [text, line] = [colour('--muted'), colour('--line')]
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.8, 48], gap: 0 })
  const series = data.series.map((_, at) => ({
    fill: colour(`--series-${at + 1}`, 'none'),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  }))
  return {
    width,
    height,
    // Room for half of the last label.
    padding: [null, 32, null, null],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, data.times.length - 0.5] },
      y: { range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    series: [{}, ...series.reverse()],
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 30,
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 48, 96, 168],
        values: (_, at) => at.map((bucket) => labels[bucket] ?? ''),
      },
      { ...axis, size: 56, values: (_, values) => values.map((value) => number(value)) },
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          if (typeof cursor.idx === 'number') choose(cursor.idx)
        },
      ],
    },
  }
}

/**
 * Reads the style sheet's colours in the current theme, because a canvas has no variables. Forced
 * colours would give all groups the same colour: `none` keeps the style sheet's.
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
