import { plainText } from '../../../text/safe-text.ts'
import { columnHead, emptyState, h, listen, scrolledTable, select } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type Drawing, type Page, startView } from '../shared/view.ts'
import { usageChart } from './chart.ts'
import {
  type Group,
  groupsOf,
  type Measure,
  measures,
  seriesOf,
  UsageData,
  type UsageSeries,
} from './data.ts'

let measure: Measure = 'minutes'

startView({ name: 'usage', title: 'Usage', what: 'usage', schema: UsageData, draw })

function draw(data: UsageData, page: Page<UsageData>): Drawing {
  const body = h('div', { class: 'panes' })
  const setMeasure = (chosen: Measure) => {
    measure = chosen
    body.replaceChildren(...panes(data, page))
  }
  body.replaceChildren(...panes(data, page))
  const content = [
    totals(data, page.formats),
    usageControls(data, page, setMeasure),
    body,
    ...(data.note ? [h('p', { class: 'muted note' }, plainText(data.note))] : []),
    ...moreButton(data, page),
  ]
  return { title: 'Usage', about: [rangeInWords(data, page.formats)], content }
}

/** The server returns as many buckets as fit into a result, and where to continue. */
function moreButton({ note = '' }: UsageData, { host, input, call }: Page<UsageData>) {
  const [, start] = /go on with start = ([\w:+.-]+)/.exec(note) ?? []
  if (!start || !host.canCallTools()) return []
  const button = h('button', { id: 'more' }, 'Show the following times too')
  return [
    listen(button, 'click', () => call('get_usage', { ...input, start }, { join: joinTimes })),
  ]
}

/** Appends buckets; the totals cover the whole range already. */
const joinTimes = (shown: UsageData, more: UsageData): UsageData => ({
  ...shown,
  note: more.note,
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

function rangeInWords({ meta, compared_with }: UsageData, { moment }: Formats): string {
  // Buckets are in the call's zone, which may differ from the user's.
  const inZone = (iso: string) => moment(iso, meta.tz ?? undefined)
  const range = (start: string, end: string) => `${inZone(start)} – ${inZone(end)}`
  const shown = range(meta.start ?? '?', meta.end ?? '?')
  const zone = meta.tz ? `, in ${meta.tz}` : ''
  if (compared_with)
    return `${shown}, compared with ${range(compared_with.start, compared_with.end)}${zone}`
  return `${shown}${meta.granularity === 'total' ? '' : `, by ${meta.granularity ?? 'day'}`}${zone}`
}

function totals({ totals: { minutes, conversations, change, percent } }: UsageData, f: Formats) {
  const one = (value: number, name: string, changed: number | undefined) => [
    h('dt', {}, name),
    h(
      'dd',
      {},
      f.number(value),
      changed !== undefined && h('span', { class: 'muted' }, ` ${f.signed(changed)}`),
    ),
  ]
  return h(
    'dl',
    { class: 'row totals' },
    h('div', {}, one(minutes, 'Minutes', change?.minutes)),
    h('div', {}, one(conversations, 'Conversations', change?.conversations)),
    typeof percent === 'number' &&
      h('div', {}, h('dt', {}, 'Change in minutes'), h('dd', {}, `${f.signed(percent)} %`)),
  )
}

/** The chart beside the table. */
function panes(data: UsageData, page: Page<UsageData>): readonly Node[] {
  const { formats } = page
  if (data.totals.conversations === 0 && !data.totals.before)
    return [emptyState('No conversations', 'No conversation was completed in this time.')]
  if (data.meta.granularity === 'total') return [groupTable(groupsOf(data), formats)]
  const series = seriesOf(data, measure)
  const precision = precisionOf(data.meta.granularity)
  const labels = series.times.map((ts) => formats.wall(ts, precision))
  return [chartPane(series, { labels, page }), bucketTable(series, labels, formats)]
}

const precisionOf = (granularity: string | null | undefined) =>
  granularity === 'hour' || granularity === 'month' ? granularity : 'day'

function chartPane(
  series: UsageSeries,
  { labels, page }: { readonly labels: readonly string[]; readonly page: Page<UsageData> },
): HTMLElement {
  const { formats, signal } = page
  const name = measures[measure].toLowerCase()
  const details = readout(series)
  const amount = (at: number) =>
    series.series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
  const say = (at: number) => `${labels[at] ?? ''}: ${formats.number(amount(at))} ${name}`
  const chart = usageChart({
    data: series,
    labels,
    say,
    number: formats.number,
    choose: (at) => details.show(say(at), (group) => formats.number(group.values[at] ?? 0)),
    signal,
  })
  return h('figure', {}, details.node, chart)
}

/** Figures of the selected bucket; also the legend. */
function readout({ series, isGrouped }: UsageSeries) {
  const head = h('strong')
  const values = series.map(() => h('span', { class: 'number' }))
  const legend = series.map(({ label }, at) =>
    h('li', {}, h('span', { class: `swatch swatch-${at + 1}` }), label, ' ', values[at]),
  )
  return {
    node: h('figcaption', {}, head, isGrouped && h('ul', { class: 'legend' }, legend)),
    show(text: string, amountOf: (group: UsageSeries['series'][number]) => string) {
      head.textContent = text
      for (const [at, group] of series.entries()) {
        const place = values[at]
        if (place) place.textContent = amountOf(group)
      }
    },
  }
}

const granularities = { hour: 'Hour', day: 'Day', month: 'Month', total: 'In total' }
const groupings = { '': 'Nothing', agent: 'Agent', subaccount: 'Subaccount', type: 'Type' }

const and = ' and '

/** Choice of the measure and, if the host lets the view call tools, of the grouping. */
function usageControls(
  { meta }: UsageData,
  { host, input, call }: Page<UsageData>,
  setMeasure: (measure: Measure) => void,
): HTMLElement {
  const again = (changed: Readonly<Record<string, unknown>>) => {
    // A comparison has totals only.
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
      options: groupings,
      // The model may have requested several groupings at once.
      value: [input.group_by ?? []].flat().join(and),
      change: (group_by) => again({ group_by: group_by ? group_by.split(and) : undefined }),
    }),
  )
}

/** One row per bucket, one column per group. */
function bucketTable(
  { times, series, isGrouped }: UsageSeries,
  labels: readonly string[],
  formats: Formats,
): HTMLElement {
  const total = (at: number) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
  const number = (value: number) => h('td', { class: 'number' }, formats.number(value))
  const name = measures[measure]
  const groups = isGrouped ? series : []
  return scrolledTable({
    id: 'table',
    label: `${name} by time`,
    head: [
      columnHead('Time'),
      columnHead(isGrouped ? `All ${name.toLowerCase()}` : name, 'number'),
      ...groups.map(({ label }) => columnHead(label, 'number')),
    ],
    rows: times.map((_, at) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row', class: 'nowrap' }, labels[at] ?? ''),
        number(total(at)),
        groups.map(({ values }) => number(values[at] ?? 0)),
      ),
    ),
  })
}

/** One row per group, with a bar for its share. */
function groupTable(groups: readonly Group[], formats: Formats): HTMLElement {
  const max = Math.max(...groups.map((group) => group[measure]), 0)
  const isCompared = groups.some(({ before }) => before)
  const row = (group: Group) => {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' })
    bar.style.width = `${max > 0 ? (100 * group[measure]) / max : 0}%`
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, group.label, bar),
      h('td', { class: 'number' }, formats.number(group.minutes)),
      h('td', { class: 'number' }, formats.number(group.conversations)),
      isCompared && h('td', { class: 'number' }, formats.number(group.before?.[measure] ?? 0)),
      isCompared && h('td', { class: 'number' }, formats.signed(group.change?.[measure] ?? 0)),
    )
  }
  return scrolledTable({
    id: 'table',
    label: 'Usage by group',
    head: [
      columnHead('Group'),
      columnHead('Minutes', 'number'),
      columnHead('Conversations', 'number'),
      isCompared && columnHead(`${measures[measure]} before`, 'number'),
      isCompared && columnHead('Change', 'number'),
    ],
    rows: groups.map(row),
  })
}
