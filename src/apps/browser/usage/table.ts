import { columnHead, h, scrolledTable } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type Group, type Measure, measures, type UsageSeries } from './data.ts'

/** One row for each bucket, with one column for each group. */
export function bucketTable(
  { times, series, isGrouped }: UsageSeries,
  {
    labels,
    measure,
    formats,
  }: { readonly labels: readonly string[]; readonly measure: Measure; readonly formats: Formats },
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

/** One row for each group, with a bar for its part of the whole. */
export function groupTable(
  groups: readonly Group[],
  { measure, formats }: { readonly measure: Measure; readonly formats: Formats },
): HTMLElement {
  const most = Math.max(...groups.map((group) => group[measure]), 0)
  const isCompared = groups.some(({ before }) => before)
  const row = (group: Group) => {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' })
    bar.style.width = `${most > 0 ? (100 * group[measure]) / most : 0}%`
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
