import { midnightBefore } from '../../../text/time-zone.ts'
import { button, select } from '../shared/controls.ts'
import { type Content, emptyState, fill, h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { type MissingTimes, missingTimes, seriesOf, startOfMonth } from './buckets.ts'
import { chartFigure } from './chart-figure.ts'
import { isRunning, type Measure, measures, UsageData, zoneOf } from './data.ts'
import { usageFigures } from './figures.ts'
import { groupingOf, groupings, groupsOf, lacksNames } from './groups.ts'
import { bucketTable, groupTable } from './tables.ts'

let measure: Measure = 'minutes'

startView({
  ...{ name: 'usage', title: 'Usage', what: 'usage' },
  skeleton: { figure: 5, control: 3, chart: 1, line: 11 },
  schema: UsageData,
  draw,
})

function draw(data: UsageData, page: Page<UsageData>): Drawing {
  const about = aboutOf(data, page.formats)
  const { conversations, before } = data.totals
  if (conversations === 0 && !before?.conversations) {
    return { title: 'Usage', about, content: [usageFigures(data, page), noUsage(data, page)] }
  }
  const body = h('div', { class: 'stack' })
  const setMeasure = (chosen: Measure) => {
    measure = chosen
    fill(body, chartAndTable(data, page))
  }
  fill(body, chartAndTable(data, page))
  const controls = usageControls(data, page, setMeasure)
  return { title: 'Usage', about, content: [usageFigures(data, page), controls, body] }
}

/** Line under the title: period, granularity and time zone. */
function aboutOf({ meta }: UsageData, { range }: Formats): Content {
  // Shown in the time zone of the tool call (its `tz`), which may differ from the user's.
  const shown = range(meta.start ?? '?', meta.end ?? '?', meta.tz ?? undefined)
  const granularity = meta.granularity === 'total' ? undefined : `by ${meta.granularity ?? 'day'}`
  const rest = [granularity, meta.tz && zoneText(meta.tz)]
    .filter(Boolean)
    .map((part) => ` · ${part}`)
  return h('span', {}, shown, isRunning(meta) && ', until now', rest)
}

/** A time zone by its city: `New York time`. A zone without a city is shown by its name. */
function zoneText(zone: string): string {
  const [, city] = /^(?!Etc).+\/(.+)$/.exec(zone) ?? []
  return city ? `${city.replaceAll('_', ' ')} time` : zone
}

/** Shown for a period without usage: a button that reads a longer one. */
function noUsage({ meta }: UsageData, { input, host, call, formats }: Page<UsageData>) {
  const zone = zoneOf(meta)
  const month = midnightBefore(Date.now(), 29, zone)
  const [start, end] = [meta.start, meta.end].map((time) => Date.parse(time ?? ''))
  const isUntilNow = Number(end) > Date.parse(midnightBefore(Date.now(), 0, zone))
  const hasMonth = isUntilNow && Number(start) <= Date.parse(month)
  const longer = hasMonth
    ? { start: startOfMonth(Date.now(), -11, zone), granularity: 'month' }
    : { start: month, granularity: 'day' }
  const { start: _, end: __, compare_start: ___, compare_end: ____, limit: _____, ...rest } = input
  const label = hasMonth ? 'Show the last 12 months' : 'Show the last 30 days'
  const ask = (args: Args) => () => call('get_usage', args)
  return emptyState(
    'No conversations',
    `None was completed in this time: \u2068${formats.range(meta.start ?? '?', meta.end ?? '?', zone)}\u2069.`,
    ...(host.canCallTools()
      ? [
          button(label, ask({ ...rest, ...longer }), { id: 'longer', class: 'primary' }),
          button('Read again', ask(input), { id: 'again' }),
        ]
      : []),
  )
}

const granularities = { hour: 'Hour', day: 'Day', month: 'Month', total: 'In total' }

const and = ' and '

/** Choice of the measure and, if the host lets the view call tools, of the grouping. */
function usageControls(
  { meta }: UsageData,
  { host, input, call }: Page<UsageData>,
  setMeasure: (measure: Measure) => void,
): HTMLElement {
  const again = (changed: Args) => {
    // A comparison returns only totals, without buckets, so the new request makes none.
    const { compare_start: _, compare_end: __, limit: ___, ...rest } = input
    call('get_usage', { ...rest, ...changed })
  }
  const shown = select({
    id: 'measure',
    label: 'Show',
    options: measures,
    value: measure,
    change: (value) => setMeasure(value === 'minutes' ? 'minutes' : 'conversations'),
  })
  if (!host.canCallTools()) return h('div', { class: 'row controls' }, shown)
  return h(
    'div',
    { class: 'row controls' },
    shown,
    select({
      id: 'granularity',
      label: 'By',
      options: granularities,
      value: meta.granularity ?? 'day',
      change: (granularity) => again({ granularity }),
    }),
    select({
      id: 'grouping',
      label: 'Split by',
      options: { '': 'Nothing', ...groupings },
      // The model may have requested several groupings at once.
      value: [input.group_by ?? []].flat().join(and),
      change: (group_by) => again({ group_by: group_by ? group_by.split(and) : undefined }),
    }),
  )
}

function chartAndTable(data: UsageData, page: Page<UsageData>): Content {
  const { formats } = page
  const { granularity } = data.meta
  const notes = lacksNames(data) && h('p', { class: 'muted' }, unnamed)
  if (granularity === 'total') {
    const groups = groupsOf(data)
    // A single group without a comparison would only repeat the figures.
    const isKnown = groups.length < 2 && !data.totals.before
    return [!isKnown && groupTable(groups, { head: groupingOf(data), measure, formats }), notes]
  }
  const series = seriesOf(data, measure)
  const labels = series.times.map((ts) => formats.wall(ts, series.granularity))
  const missing = missingTimes(data)
  const isPart = missing !== undefined
  const table = bucketTable({ data: series, measure, labels, isPart, formats })
  return [
    chartFigure(series, { measure, formats, signal: page.signal, choose: table.choose }),
    missing && missingNotice({ labels, missing }, page),
    table.parts,
    notes,
  ]
}

const unnamed = 'Where no name is known, such as for a deleted agent, the id is shown.'

/** The server returns as many buckets as fit into a result; the platform, at most the last 500. */
function missingNotice(
  { labels, missing: { next } }: { labels: readonly string[]; missing: MissingTimes },
  { host, input, call }: Page<UsageData>,
): HTMLElement {
  const shown = next ? `end with ${labels.at(-1)}` : `begin with ${labels[0]}`
  const more = () => call('get_usage', { ...input, start: next }, { join: joinTimes })
  return h(
    'div',
    { class: 'notice row' },
    `The chart and the table ${shown}; the figures above are of all.`,
    next && host.canCallTools() && button('Show more', more, { id: 'more' }),
  )
}

/** Appends buckets; the totals cover the whole range already. */
const joinTimes = (shown: UsageData, more: UsageData): UsageData => ({
  ...shown,
  names: joinNames(shown.names, more.names),
  data: [...shown.data, ...more.data],
})

const joinNames = (shown: UsageData['names'] = {}, more: UsageData['names'] = {}) =>
  Object.fromEntries(
    [...new Set([...Object.keys(shown), ...Object.keys(more)])].map((dimension) => [
      dimension,
      { ...shown[dimension], ...more[dimension] },
    ]),
  )
