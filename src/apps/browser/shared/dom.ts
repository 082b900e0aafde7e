type Child = Node | string | number | false | undefined

/** Attributes of an element; `false` and `undefined` omit one. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Creates an element. Text becomes text nodes, so outside text is never parsed as HTML. Throws for
 * attributes that run script (`on…`), and for `style`, which the page's policy forbids.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Child | readonly Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (/^(on|style$)/.test(name)) throw new Error(`${name} is not an attribute for views`)
    if (value === false || value === undefined) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(
    ...children
      .flat()
      .filter((child) => child !== false && child !== undefined)
      .map((child) => (child instanceof Node ? child : String(child))),
  )
  return element
}

/** Adds a listener to an element and returns it. */
export function listen<T extends HTMLElement, K extends keyof HTMLElementEventMap>(
  element: T,
  event: K,
  listener: (event: HTMLElementEventMap[K]) => void,
): T {
  element.addEventListener(event, listener)
  return element
}

/** A table in a box that scrolls on overflow, also by keyboard. */
export const scrolledTable = ({
  id,
  label,
  head,
  rows,
}: {
  readonly id: string
  /** Accessible name of the box. */
  readonly label: string
  /** Cells of the header row. */
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

interface Choice {
  readonly id: string
  readonly label: string
  /** Label of each value, in display order. */
  readonly options: Readonly<Record<string, string>>
  readonly value: string
  readonly change: (value: string) => void
}

/** A labelled select. A value outside the options is shown as it is. */
export function select({ id, label, options, value, change }: Choice): HTMLElement {
  const all = value in options ? options : { ...options, [value]: value }
  const box = h(
    'select',
    { id },
    Object.entries(all).map(([one, text]) => h('option', { value: one }, text)),
  )
  box.value = value
  return h(
    'label',
    {},
    `${label} `,
    listen(box, 'change', () => change(box.value)),
  )
}
