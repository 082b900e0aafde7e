import { type Content, columnHead, h, scrolledTable } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { withSoftHyphens } from '../shared/typography.ts'
import type { BucketRange, Coverage, UsageSeries } from './buckets.ts'
import { textScale } from './chart.ts'
import { amountIn, type Measure, measures, sum } from './data.ts'
import type { Group } from './groups.ts'

interface BucketTable {
  readonly data: UsageSeries
  readonly measure: Measure
  readonly labels: readonly string[]
  /** The result covers only a part of the period. */
  readonly isPart: boolean
  readonly formats: Formats
}

/**
 * One row per bucket, one column per group. The total comes first, so that a phone shows it without
 * scrolling. Of hours only those with an amount have a row: most nights have none.
 */
export function bucketTable({ data, measure, labels, isPart, formats }: BucketTable): {
  readonly parts: Content
  /** Marks the rows of buckets, and unless they are only pointed at, scrolls to them. */
  readonly choose: (range: BucketRange | undefined, isPointed?: boolean) => void
} {
  const { granularity, times, series, isGrouped, totals, partial } = data
  const name = measures[measure]
  const groups = isGrouped ? series : []
  const number = (amount: number) => numberCell(amount, amountIn(measure, amount, formats))
  const row = (label: string, coverage: Coverage | undefined, amounts: readonly number[]) =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row', class: 'time' },
        label,
        coverage && h('span', { class: 'muted' }, ` ${coverage}`),
      ),
      amounts.map(number),
    )
  const all = sum(totals)
  const isListed = (at: number) =>
    granularity !== 'hour' || partial.get(at) === 'so far' || totals[at] !== 0
  const rowOf = (at: number) =>
    row(labels[at] ?? '', partial.get(at), [
      totals[at] ?? 0,
      ...groups.map(({ values }) => values[at] ?? 0),
    ])
  const listed = labels.flatMap((_, at) => (isListed(at) ? [{ at, row: rowOf(at) }] : []))
  const table = scrolledTable({
    id: 'table',
    label: `${name} by time`,
    head: [
      columnHead('Time'),
      numberHead(isGrouped ? 'Total' : name),
      ...groups.map(({ label }) => numberHead(label, label)),
    ],
    rows: listed.map(({ row }) => row),
    foot: row(isPart ? 'Total shown' : 'Total', undefined, [
      all,
      ...groups.map(({ total }) => total),
    ]),
  })
  const isWhole = listed.length === labels.length
  const columns = [totals, ...series.map(({ values }) => values)]
  const sums = [...columns, ...times.map((_, at) => series.map(({ values }) => values[at] ?? 0))]
  return {
    parts: [
      fittedTable(table),
      notes(
        !isWhole && `Hours without ${name.toLowerCase()} are not listed.`,
        measure === 'minutes' && roundingNote(sums),
      ),
    ],
    choose(buckets, isPointed) {
      const isChosen = (at: number) => !!buckets && buckets.first <= at && at <= buckets.last
      for (const { at, row } of listed) row.classList.toggle('chosen', isChosen(at))
      if (!isPointed)
        scrollToRows(
          table,
          listed.flatMap(({ at, row }) => (isChosen(at) ? [row] : [])),
        )
    },
  }
}

/** Notes under a table, if there are any. */
const notes = (...all: readonly (string | false)[]): Content => {
  const text = all.filter(Boolean).join(' ')
  return text && h('p', { class: 'muted small' }, text)
}

/** A note if rounded minutes do not add up to their rounded sum. */
function roundingNote(sums: readonly (readonly number[])[]): string | false {
  const tenths = (amount: number) => Math.round(10 * amount)
  const isEven = (amounts: readonly number[]) => sum(amounts.map(tenths)) === tenths(sum(amounts))
  return !sums.every(isEven) && 'Minutes are rounded: a sum may differ by a tenth.'
}

/** Header cell above numbers. A label with a `title` is cut after a few lines. */
const numberHead = (label: string, title?: string): HTMLElement =>
  h(
    'th',
    { scope: 'col', class: 'number' },
    h('span', { class: 'group', dir: 'auto', title }, withSoftHyphens(label)),
  )

const numberCell = (amount: number, text: string, ...more: HTMLElement[]): HTMLElement =>
  h('td', { class: 'number' }, amount === 0 ? h('span', { class: 'zero' }, text) : text, more)

/** One row per group with a bar for its share, the most used first. */
export function groupTable(
  groups: readonly Group[],
  { head, measure, formats }: { head: string; measure: Measure; formats: Formats },
): Content {
  const sorted = [...groups].sort((one, other) => other[measure] - one[measure])
  const max = Math.max(...groups.map((group) => group[measure]), 0)
  const isCompared = groups.some(({ before }) => before)
  const other = measure === 'minutes' ? 'conversations' : 'minutes'
  // The chosen measure and its change come first, so that a phone shows them without scrolling.
  const cells = (group: Sums) => [
    amountCell(measure, group[measure], formats),
    isCompared && changeCell(group, measure, formats),
    isCompared && amountCell(measure, group.before?.[measure] ?? 0, formats),
    amountCell(other, group[other], formats),
    h('td', { class: 'number' }, lengthOf(group, formats)),
  ]
  const table = scrolledTable({
    id: 'table',
    label: 'Usage by group',
    head: [
      columnHead(head),
      numberHead(measures[measure]),
      isCompared && numberHead('Change'),
      isCompared && numberHead('Before'),
      numberHead(measures[other]),
      numberHead('Average length'),
    ],
    rows: sorted.map((group) => {
      const bar = h('span', { class: 'bar', 'aria-hidden': 'true' })
      bar.style.width = `${max > 0 ? (100 * group[measure]) / max : 0}%`
      bar.style.background = `var(--series-${group.colour})`
      const name = h('span', { class: 'group', dir: 'auto' }, withSoftHyphens(group.label))
      return h('tr', {}, h('th', { scope: 'row' }, name, bar), cells(group))
    }),
    foot: h('tr', {}, h('th', { scope: 'row' }, 'Total'), cells(sumOf(groups))),
  })
  const [now, before] = [
    groups.map(({ minutes }) => minutes),
    groups.map((group) => group.before?.minutes ?? 0),
  ]
  const changes = groups.map((_, at) => [now[at] ?? 0, -(before[at] ?? 0)])
  return [
    fittedTable(table),
    notes(roundingNote([now, before, ...changes, [sum(now), -sum(before)]])),
  ]
}

type Sums = Pick<Group, Measure | 'before'>

const sumOf = (groups: readonly Group[]): Sums => {
  const total = (amountOf: (group: Group) => number) => sum(groups.map(amountOf))
  return {
    minutes: total(({ minutes }) => minutes),
    conversations: total(({ conversations }) => conversations),
    before: {
      minutes: total(({ before }) => before?.minutes ?? 0),
      conversations: total(({ before }) => before?.conversations ?? 0),
    },
  }
}

const lengthOf = ({ minutes, conversations }: Sums, formats: Formats) =>
  conversations > 0
    ? formats.length((60 * minutes) / conversations)
    : h('span', { class: 'zero' }, '–')

const amountCell = (measure: Measure, amount: number, formats: Formats) =>
  numberCell(amount, amountIn(measure, amount, formats))

/** Difference from the compared period, also in percent. */
function changeCell(group: Sums, measure: Measure, formats: Formats): HTMLElement {
  const before = group.before?.[measure] ?? 0
  const change = group[measure] - before
  const text = amountIn(measure, change, formats, true)
  const percent = formats.fixed(before === 0 ? 0 : (100 * change) / before, {
    ...{ decimals: 1, isPercent: true, isSigned: true },
  })
  return numberCell(
    change,
    text,
    h('span', { class: 'percent muted' }, before === 0 ? '' : percent),
  )
}

/** Keeps a table fitted to its box: whole columns, and a last row that shows that more follow. */
function fittedTable(box: HTMLElement): HTMLElement {
  let sizedFor = ''
  const resized = new ResizeObserver(() => {
    const [width, rem] = [box.clientWidth, 16 * textScale()]
    if (width === 0) return
    if (sizedFor !== `${width} ${rem}`) showWholeColumns(box, rem)
    sizedFor = `${width} ${rem}`
    endWithinRow(box)
  })
  for (const element of [box, ...box.children]) resized.observe(element)
  return box
}

/** Minimum width of a column, rem, or its share of the box if that is less. */
const minColumn = { rem: 4.5, share: 0.3 }
/** Share of the first column, which has the row's name, that other columns leave. */
const minFirst = 0.35

/**
 * Sizes the columns of a table that is wider than its box: the box shows whole columns only, and
 * scrolls column by column beside the first one. The style sheet has the rest.
 */
function showWholeColumns(box: HTMLElement, rem: number): void {
  const [first, ...others] = box.querySelectorAll<HTMLElement>('thead th')
  const width = box.clientWidth
  box.classList.remove('whole-columns')
  if (!first || box.scrollWidth <= width) return
  box.classList.add('measured')
  const widths = others.map((cell) => cell.getBoundingClientRect().width)
  const wanted = first.offsetWidth + 1
  box.classList.remove('measured')
  const min = Math.ceil(Math.max(Math.min(minColumn.rem * rem, minColumn.share * width), ...widths))
  const space = width - Math.min(wanted, Math.max(minFirst * width, width - min))
  const shown = Math.min(others.length, Math.max(1, Math.floor(space / min)))
  const column = Math.floor(space / shown)
  box.style.setProperty('--column', `${column}px`)
  box.style.setProperty('--first', `${width - shown * column}px`)
  box.style.setProperty('--columns', String(others.length))
  box.classList.add('whole-columns')
}

/**
 * Shortens the box of a long table, so that it ends half-way through a row above the total. A table
 * that was scrolled to its end stays there.
 */
function endWithinRow(box: HTMLElement): void {
  const { scrollTop } = box
  const isAtEnd = scrollTop > 0 && scrollTop + box.clientHeight >= box.scrollHeight - 1
  box.style.maxHeight = ''
  if (box.scrollHeight <= box.clientHeight) return
  const foot = box.querySelector('tfoot')?.offsetHeight ?? 0
  const middles = [...box.querySelectorAll<HTMLElement>('tbody tr')].map(
    ({ offsetTop, offsetHeight }) => offsetTop + offsetHeight / 2,
  )
  const middle = middles.findLast((height) => height <= box.clientHeight - foot)
  const border = box.offsetHeight - box.clientHeight
  if (middle) box.style.maxHeight = `${middle + foot + border}px`
  box.scrollTop = isAtEnd ? box.scrollHeight : scrollTop
}

/** Scrolls a table, but not the page, to adjacent rows: all of them, or as many as it shows. */
function scrollToRows(box: HTMLElement, rows: readonly HTMLElement[]): void {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return
  const heightOf = (part: string) => box.querySelector<HTMLElement>(part)?.offsetHeight ?? 0
  const top = first.offsetTop - heightOf('thead')
  const bottom = last.offsetTop + last.offsetHeight + heightOf('tfoot') - box.clientHeight
  box.scrollTop = Math.min(top, Math.max(box.scrollTop, bottom))
}
