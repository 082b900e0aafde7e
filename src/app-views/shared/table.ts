import { h } from './dom.ts'

/** A table in a box that scrolls where it is longer than its room, also by keyboard. */
export const scrolledTable = ({
  id,
  label,
  head,
  rows,
}: {
  readonly id: string
  /** Names the box for people who do not see it. */
  readonly label: string
  /** The cells of its first row. */
  readonly head: readonly (HTMLElement | false)[]
  readonly rows: readonly HTMLElement[]
}): HTMLElement =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label, id },
    h('table', {}, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows)),
  )

/** A cell that names its column. */
export const columnHead = (text: string, kind?: 'number'): HTMLElement =>
  h('th', { scope: 'col', class: kind }, text)
