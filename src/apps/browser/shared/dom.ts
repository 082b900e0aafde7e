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

/** Shapes of the icons, in a box of 16 by 16. */
const shapes = {
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.2',
  dot: 'M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5',
  circle: 'M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3',
  search: 'M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8M10 10l3.5 3.5',
  expand: 'M9.5 2.5h4v4M13 3 9 7M6.5 13.5h-4v-4M3 13l4-4',
  shrink: 'M13.5 6.5h-4v-4M10 6l3.5-3.5M2.5 9.5h4v4M6 10l-3.5 3.5',
  play: 'M5 3.5v9l7-4.5z',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  phone: 'M4.5 2.5 6.5 6 5.3 7.2a8 8 0 0 0 3.5 3.5L10 9.5l3.5 2v2c-6 .5-11.5-5-11-11z',
} as const
export type IconName = keyof typeof shapes

/** An icon in the colour and size of the text. It says nothing to screen readers: words stand beside it. */
export function icon(name: IconName): SVGSVGElement {
  const create = <K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
    return element
  }
  const stroke = { fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 }
  const ends = { 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }
  const svg = create('svg', { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': true })
  svg.append(create('path', { d: shapes[name], ...stroke, ...ends }))
  return svg
}

export type Tone = 'success' | 'warning' | 'danger' | 'info' | 'neutral'

const toneIcons: Readonly<Record<Tone, IconName>> = {
  success: 'check',
  warning: 'warning',
  danger: 'cross',
  info: 'dot',
  neutral: 'circle',
}

/** A status: its tone has a colour and a shape. */
export const badge = (text: string, tone: Tone = 'neutral', shape = toneIcons[tone]): HTMLElement =>
  h('span', { class: 'badge', 'data-tone': tone }, icon(shape), text)

/** Names and values beside each other; rows without a value are left out. */
export const factList = (
  rows: readonly (readonly [name: string, value: Child | readonly Child[]])[],
): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    rows.flatMap(([name, value]) =>
      value === undefined || value === false || value === ''
        ? []
        : [h('dt', {}, name), h('dd', {}, ...[value])],
    ),
  )

/** A button with a listener. Buttons that are redrawn need an id, to keep the focus. */
export const button = (
  label: Child | readonly Child[],
  click: () => unknown,
  attributes: Attributes = {},
): HTMLButtonElement =>
  listen(h('button', { type: 'button', ...attributes }, ...[label]), 'click', () => void click())

/** Nothing to show: what is missing, why, and what can be done. */
export const emptyState = (title: string, text?: string, ...actions: HTMLElement[]): HTMLElement =>
  h(
    'div',
    { class: 'state' },
    icon('search'),
    h('h2', {}, title),
    text !== undefined && h('p', { class: 'muted' }, text),
    actions.length > 0 && h('div', { class: 'row' }, actions),
  )

/** A table in a box that scrolls on overflow, also by keyboard. */
export const scrolledTable = ({
  id,
  label,
  head,
  rows,
  foot,
  stickyColumn = false,
}: {
  readonly id: string
  /** Accessible name of the box. */
  readonly label: string
  /** Cells of the header row. */
  readonly head: readonly (HTMLElement | false)[]
  readonly rows: readonly HTMLElement[]
  /** Row of totals, always in view. */
  readonly foot?: HTMLElement
  /** Keeps the first column in view. */
  readonly stickyColumn?: boolean
}): HTMLElement =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label, id },
    h(
      'table',
      { class: stickyColumn && 'sticky-column' },
      h('thead', {}, h('tr', {}, head)),
      h('tbody', {}, rows),
      foot && h('tfoot', {}, foot),
    ),
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
    { class: 'field' },
    label,
    listen(box, 'change', () => change(box.value)),
  )
}
