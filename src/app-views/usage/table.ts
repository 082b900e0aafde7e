import { h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type Group, type Measure, measures, type UsageSeries } from './data.ts'

/** A box for a table that is longer than its room; the keyboard scrolls it. */
const scrolled = (label: string, table: HTMLElement) =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label, id: 'table' },
    table,
  )

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
  const heading = (text: string) => h('th', { scope: 'col', class: 'number' }, text)
  return scrolled(
    `${measures[measure]} by time`,
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Time'),
          heading(isGrouped ? `All ${measures[measure].toLowerCase()}` : measures[measure]),
          isGrouped ? series.map(({ label }) => heading(label)) : [],
        ),
      ),
      h(
        'tbody',
        {},
        times.map((_, at) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row', class: 'nowrap' }, labels[at] ?? ''),
            number(total(at)),
            isGrouped ? series.map(({ values }) => number(values[at] ?? 0)) : [],
          ),
        ),
      ),
    ),
  )
}

/** One row for each group, with a bar for its part of the whole. */
export function groupTable(
  groups: readonly Group[],
  { measure, formats }: { readonly measure: Measure; readonly formats: Formats },
): HTMLElement {
  const most = Math.max(...groups.map((group) => group[measure]), 0)
  const isCompared = groups.some(({ before }) => before)
  const heading = (text: string) => h('th', { scope: 'col', class: 'number' }, text)
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
  return scrolled(
    'Usage by group',
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Group'),
          heading('Minutes'),
          heading('Conversations'),
          isCompared && heading(`${measures[measure]} before`),
          isCompared && heading('Change'),
        ),
      ),
      h('tbody', {}, groups.map(row)),
    ),
  )
}
