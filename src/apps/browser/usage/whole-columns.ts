import { textScale } from './chart.ts'

/** Minimum width of a column, rem, or its share of the box if that is less. */
const minColumn = { rem: 4.5, share: 0.3 }
/** Share of the first column, which has the row's name, that other columns leave. */
const minFirst = 0.35

/**
 * Sizes the columns of a table that is wider than its box: the box shows whole columns only, and
 * scrolls column by column beside the first one. The style sheet has the rest.
 */
export function showWholeColumns(box: HTMLElement): HTMLElement {
  const [first, ...others] = box.querySelectorAll<HTMLElement>('thead th')
  let sizedFor = ''
  const resized = new ResizeObserver(() => {
    const rem = 16 * textScale()
    const width = box.clientWidth
    if (!first || width === 0 || sizedFor === `${width} ${rem}`) return
    sizedFor = `${width} ${rem}`
    box.classList.remove('whole-columns')
    if (box.scrollWidth <= width) return
    box.classList.add('measured')
    const widths = others.map((cell) => cell.getBoundingClientRect().width)
    const wanted = first.offsetWidth + 1
    box.classList.remove('measured')
    const min = Math.ceil(
      Math.max(Math.min(minColumn.rem * rem, minColumn.share * width), ...widths),
    )
    const space = width - Math.min(wanted, Math.max(minFirst * width, width - min))
    const shown = Math.min(others.length, Math.max(1, Math.floor(space / min)))
    const column = Math.floor(space / shown)
    box.style.setProperty('--column', `${column}px`)
    box.style.setProperty('--first', `${width - shown * column}px`)
    box.style.setProperty('--columns', String(others.length))
    box.classList.add('whole-columns')
  })
  for (const element of [box, ...box.children]) resized.observe(element)
  return box
}
