import { fill, h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { withSoftHyphens } from '../shared/typography.ts'
import type { Page } from '../shared/view.ts'
import type { BucketRange, UsageSeries } from './buckets.ts'
import { usageChart } from './chart.ts'
import { amountIn, type Measure, measures, sum, type UsageData } from './data.ts'

interface FigureSettings extends Pick<Page<UsageData>, 'formats' | 'signal'> {
  readonly measure: Measure
  /** Called with the buckets of the bar under the pointer, or that was selected; `undefined`: none. */
  readonly choose: (range: BucketRange | undefined, isPointed?: boolean) => void
}

/**
 * The chart with the total above it, and below it the names, colours and totals of the series and
 * the bars that are not covered whole. Instead of the totals, the amounts of a chosen bar are shown.
 */
export function chartFigure(
  buckets: UsageSeries,
  { measure, formats, signal, choose }: FigureSettings,
): HTMLElement {
  const name = measures[measure].toLowerCase()
  const textOf = (amount: number) => amountIn(measure, amount, formats)
  const all = `Total: ${textOf(sum(buckets.totals))} ${name}`
  const head = h('strong', {}, all)
  const merged = h('span', { class: 'muted small' })
  const legend = h('ul', { class: 'legend' })

  function describe(bars: UsageSeries, size: number) {
    const { series, totals, partial, granularity } = bars
    const bucketsIn = bucketsOf(bars, buckets)
    const labels = bars.times.map((_, at) => barLabel(bucketsIn(at), buckets, formats))
    const keys = series.map(({ label, colour }) => seriesKey(label, colour))
    const textOfBar = (bar: number) => {
      const coverage = partial.get(bar)
      const time = `${labels[bar] ?? ''}${coverage ? `, ${coverage}` : ''}`
      return `${time}: ${textOf(totals[bar] ?? 0)} ${name}`
    }
    const show = (bar: number | undefined) => {
      head.textContent = bar === undefined ? all : textOfBar(bar)
      for (const [at, { total, values }] of series.entries())
        keys[at]?.show(textOf(bar === undefined ? total : (values[bar] ?? 0)))
    }
    const parts = [...partial].map(([bar, coverage]) =>
      partKey(`${labels[bar] ?? ''}, ${coverage}`),
    )
    fill(legend, [bars.isGrouped && keys.map(({ item }) => item), parts])
    merged.textContent =
      size > 1 ? `To fit, each bar is ${size} ${granularity}s. The table is by ${granularity}.` : ''
    show(undefined)
    return {
      labels: axisLabels(bars, formats),
      say: textOfBar,
      choose(bar: number | undefined, isPointed?: boolean) {
        show(bar)
        choose(bar === undefined ? undefined : bucketsIn(bar), isPointed)
      },
    }
  }

  const chart = usageChart({
    ...{ buckets, describe, signal },
    amount: (value, decimals) => formats.fixed(value, { decimals }),
    minStep: measure === 'minutes' ? 0.1 : 1,
  })
  return h('figure', {}, h('figcaption', { class: 'row' }, head, merged), chart, legend)
}

/** Colour and name of a series in the legend, with a place for its amount. */
function seriesKey(label: string, colour: number) {
  const swatch = h('span', { class: 'swatch' })
  swatch.style.background = `var(--series-${colour})`
  const amount = h('span', { class: 'number' })
  const name = h('span', { dir: 'auto' }, withSoftHyphens(label))
  return {
    item: h('li', {}, swatch, h('span', {}, name, ' ', amount)),
    show(text: string) {
      amount.textContent = text
    },
  }
}

/** A striped bar in the legend. */
const partKey = (text: string): HTMLElement =>
  h('li', { class: 'muted partial' }, h('span', { class: 'swatch striped' }), text)

/** Finds the buckets of a bar. */
function bucketsOf({ times }: UsageSeries, buckets: UsageSeries): (bar: number) => BucketRange {
  const firsts = [...times.map((ts) => buckets.times.indexOf(ts)), buckets.times.length]
  return (bar) => ({ first: firsts[bar] ?? 0, last: (firsts[bar + 1] ?? 0) - 1 })
}

/** Time of a bar: a bucket, or the first to the last of its buckets. */
function barLabel(
  { first, last }: BucketRange,
  { times, granularity }: UsageSeries,
  { wall }: Formats,
): string {
  const [from = '', to = ''] = [times[first], times[last]]
  if (first === last) return wall(from, granularity)
  if (granularity !== 'hour') return `${wall(from, 'date')} – ${wall(to, 'date')}`
  const end = new Date(Date.parse(`${to.slice(0, 16)}Z`) + 3_600_000).toISOString()
  return `${wall(from, 'hour')}–${wall(end, 'time')}`
}

/** Short labels: hours have the date only where it changes. */
function axisLabels({ times, granularity }: UsageSeries, { wall }: Formats): readonly string[] {
  return times.map((ts) => {
    if (granularity === 'hour') return wall(ts, /T00:/.test(ts) ? 'date' : 'time')
    return wall(ts, granularity === 'month' ? 'month' : 'date')
  })
}
