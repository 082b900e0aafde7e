import { type IconName, iconShapes, type Tone, toneIcons } from '../../design.ts'

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

/**
 * An icon in the colour and size of the text. Screen readers skip it, so it needs a text beside it.
 */
export function icon(name: IconName): SVGSVGElement {
  const create = <K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
    return element
  }
  const stroke = { fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 }
  const ends = { 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }
  const svg = create('svg', { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': true })
  svg.append(create('path', { d: iconShapes[name], ...stroke, ...ends }))
  return svg
}

/**
 * A status badge. Its tone sets both a colour and an icon, so that it is readable without colour.
 */
export const badge = (text: string, tone: Tone = 'neutral', shape = toneIcons[tone]): HTMLElement =>
  h('span', { class: 'badge', 'data-tone': tone }, icon(shape), text)

/** Names and values beside each other; rows without a value are left out. */
export const factList = (
  rows: readonly (readonly [name: Child | readonly Child[], value: Child | readonly Child[]])[],
): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    rows.flatMap(([name, value]) =>
      value === undefined || value === false || value === ''
        ? []
        : [h('dt', {}, ...[name]), h('dd', {}, ...[value])],
    ),
  )

/**
 * The first sentence of a problem. The other sentences are advice for models, and are folded under
 * a summary with this id.
 */
export function problemText(
  problem: string,
  id: string,
  nodesOf: (text: string) => readonly Child[] = (text) => [text],
): HTMLElement {
  const [first = '', ...rest] = problem.split(/(?<=[^.]{2}\.) (?=\p{Lu})/u)
  if (rest.length === 0) return h('p', { dir: 'auto' }, nodesOf(problem))
  return h(
    'details',
    { dir: 'auto' },
    h('summary', { id }, nodesOf(first)),
    h('p', { class: 'muted' }, rest.join(' ')),
  )
}

/** A button with a listener. Buttons that are redrawn need an id, to keep the focus. */
export const button = (
  label: Child | readonly Child[],
  click: () => unknown,
  attributes: Attributes = {},
): HTMLButtonElement =>
  listen(h('button', { type: 'button', ...attributes }, ...[label]), 'click', () => void click())

interface Slider {
  /** The selected index, from 0. */
  readonly now: () => number
  readonly last: number
  /** Indexes that Page Up and Page Down move by. */
  readonly perPage: number
  readonly go: (index: number) => void
}

/** The keys of a slider over a list (ARIA Authoring Practices, "Slider"). */
export function listenToSlider(slider: HTMLElement, { now, last, perPage, go }: Slider): void {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
    ...{ PageUp: perPage, PageDown: -perPage, Home: -last, End: last },
  }
  listen(slider, 'keydown', (event) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    go(Math.min(last, Math.max(0, now() + step)))
  })
}

/** Buttons in a line; false without any. */
export const actionRow = (actions: readonly HTMLElement[]): HTMLElement | false =>
  actions.length > 0 && h('div', { class: 'row' }, actions)

/** Placeholder for missing content: title, reason, and actions. */
export const emptyState = (title: string, text?: string, ...actions: HTMLElement[]): HTMLElement =>
  h(
    'div',
    { class: 'state' },
    icon('search'),
    h('h2', {}, title),
    text !== undefined && h('p', { class: 'muted' }, text),
    actionRow(actions),
  )

/**
 * Marks the edges of a scrolling box beyond which its content goes on, for its shades:
 * `data-more` contains `below`, `before` and `after` (in a line's direction).
 */
export function shadeEdges<T extends HTMLElement>(box: T): T {
  const mark = () => {
    const { scrollTop, scrollHeight, clientHeight, scrollWidth, clientWidth } = box
    // Negative in a box from right to left.
    const scrolled = Math.abs(box.scrollLeft)
    box.dataset.more = [
      scrollTop + clientHeight < scrollHeight - 1 ? 'below' : '',
      scrolled > 1 ? 'before' : '',
      scrolled + clientWidth < scrollWidth - 1 ? 'after' : '',
    ].join(' ')
  }
  const resized = new ResizeObserver(mark)
  for (const element of [box, ...box.children]) resized.observe(element)
  return listen(box, 'scroll', mark)
}

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
  shadeEdges(
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
    ),
  )

/** Header cell of a column. */
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

interface CopyOptions {
  readonly id: string
  /** Names the text: `the id of Ada`. */
  readonly what: string
  /** Element with the text and nothing else. */
  readonly reveal: () => HTMLElement
  /** False: the text is selected, not copied. */
  readonly done: (isCopied: boolean) => void
}

/** Message after a text was selected because it could not be copied. */
export const selectedText = 'Selected: copy it with the keyboard or the menu.'

/** A button that copies the revealed text. */
export function copyButton({ id, what, reveal, done }: CopyOptions): HTMLElement {
  const label = `Copy ${what}`
  const copy = button(
    icon('copy'),
    () => {
      const isCopied = copyText(reveal)
      copy.replaceChildren(icon(isCopied ? 'check' : 'copy'))
      done(isCopied)
    },
    { id, class: 'icon-button', 'aria-label': label, title: label },
  )
  return copy
}

/** A text to copy, such as an id, with its button. */
export function copyable(
  text: string,
  { id, what, announce }: { id: string; what: string; announce: (news: string) => void },
): HTMLElement {
  const code = h('code', {}, text)
  const done = (isCopied: boolean) => announce(isCopied ? 'Copied.' : selectedText)
  return h('span', { class: 'copyable' }, code, copyButton({ id, what, done, reveal: () => code }))
}

/**
 * Copies a text. Without the permission to copy, leaves it selected and returns false. Uses
 * `execCommand`, because the iframes of hosts seldom allow the newer `navigator.clipboard`, and a
 * refusal of that logs an error.
 */
function copyText(reveal: CopyOptions['reveal']): boolean {
  getSelection()?.selectAllChildren(reveal())
  const isCopied = document.execCommand('copy')
  if (isCopied) getSelection()?.removeAllRanges()
  return isCopied
}
