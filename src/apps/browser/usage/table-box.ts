import { textScale } from './chart.ts'

/** Keeps a table fitted to its box: whole columns, and a last row that shows that more follow. */
export function fittedTable(box: HTMLElement): HTMLElement {
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
export function scrollToRows(box: HTMLElement, rows: readonly HTMLElement[]): void {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return
  const heightOf = (part: string) => box.querySelector<HTMLElement>(part)?.offsetHeight ?? 0
  const top = first.offsetTop - heightOf('thead')
  const bottom = last.offsetTop + last.offsetHeight + heightOf('tfoot') - box.clientHeight
  box.scrollTop = Math.min(top, Math.max(box.scrollTop, bottom))
}
