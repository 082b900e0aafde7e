import { type IconName, iconShapes, type Tone, toneIcons } from '../../design.ts'
import type { Piece } from './word-diff.ts'

/** Content of an element. `false`, `undefined` and an empty text add nothing. */
export type Content = Node | string | number | false | undefined | readonly Content[]

/** Attributes of an element; `false` and `undefined` omit one. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Creates an element. Text becomes text nodes, so outside text is never parsed as HTML. Throws for
 * attributes that run script (`on…`), and for `style`, which the page's policy forbids.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (/^(on|style$)/.test(name)) throw new Error(`${name} is not an attribute for views`)
    if (value === false || value === undefined) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  fill(element, content)
  return element
}

/** Replaces the content of an element. */
export const fill = (element: Element, content: Content): void =>
  element.replaceChildren(...nodesOf(content))

function nodesOf(content: Content): readonly (Node | string)[] {
  if (content === false || content === undefined || content === '') return []
  if (typeof content !== 'object') return [String(content)]
  return content instanceof Node ? [content] : content.flatMap(nodesOf)
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

/** Marks a control that opens something outside the view. Screen readers skip it. */
export const outwardArrow = (): HTMLElement => h('span', { 'aria-hidden': true }, '↗')

/**
 * A status badge. Its tone sets both a colour and an icon, so that it is readable without colour.
 */
export const badge = (text: string, tone: Tone = 'neutral', shape = toneIcons[tone]): HTMLElement =>
  h('span', { class: 'badge', 'data-tone': tone }, icon(shape), text)

/** A sentence that warns, in a box of its own. */
export const warningNotice = (text: string): HTMLElement =>
  h('p', { class: 'notice', 'data-tone': 'warning' }, icon('warning'), ` ${text}`)

/** Names and values beside each other; rows without a value are left out. */
export const factList = (
  rows: readonly (readonly [name: Content, value: Content])[],
  className = 'facts',
): HTMLElement =>
  h(
    'dl',
    { class: className },
    rows.flatMap(([name, value]) =>
      value === undefined || value === false || value === ''
        ? []
        : [h('dt', {}, name), h('dd', {}, value)],
    ),
  )

/**
 * The first sentence of a problem. The other sentences are advice for models, and are folded under
 * a summary with this id.
 */
export function problemText(
  problem: string,
  id: string,
  contentOf: (text: string) => Content = (text) => text,
): HTMLElement {
  const [first = '', ...rest] = problem.split(/(?<=[^.]{2}\.) (?=\p{Lu})/u)
  if (rest.length === 0) return h('p', { dir: 'auto' }, contentOf(problem))
  return folded(id, contentOf(first), h('p', { class: 'muted' }, rest.join(' ')), { dir: 'auto' })
}

/** Content that is folded under a summary with this id. */
export const folded = (
  id: string,
  summary: Content,
  content: Content,
  attributes: Attributes = {},
): HTMLElement => h('details', attributes, h('summary', { id }, summary), content)

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

/** A box that scrolls on overflow, also by keyboard. Give it an id and an accessible name. */
export const scrollBox = (attributes: Attributes, content: HTMLElement): HTMLElement =>
  shadeEdges(h('div', { class: 'scroll', tabindex: 0, role: 'region', ...attributes }, content))

/** A table in a box that scrolls. */
export const scrolledTable = ({
  id,
  label,
  head,
  rows,
  foot,
}: {
  readonly id: string
  /** Accessible name of the box. */
  readonly label: string
  /** Cells of the header row. */
  readonly head: readonly (HTMLElement | false)[]
  readonly rows: readonly HTMLElement[]
  /** Row of totals. It and the first column are then always in view. */
  readonly foot?: HTMLElement
}): HTMLElement =>
  scrollBox(
    { id, 'aria-label': label },
    h(
      'table',
      { class: foot && 'sticky-column' },
      h('thead', {}, h('tr', {}, head)),
      h('tbody', {}, rows),
      foot && h('tfoot', {}, foot),
    ),
  )

/** Header cell of a column. */
export const columnHead = (text: string, kind?: 'number'): HTMLElement =>
  h('th', { scope: 'col', class: kind }, text)

const hidden = (text: string) => h('span', { class: 'hidden' }, text)

/** A removed text, struck through, and announced as removed. */
export const removed = (text: string | undefined): HTMLElement =>
  h('del', {}, hidden('removed: '), text)

/** An added text, underlined, and announced as added. */
export const added = (text: string | undefined): HTMLElement =>
  h('ins', {}, hidden('added: '), text)

/** Nodes of a piece. The spaces around a changed phrase are not marked as changed. */
export function pieceNodes({ text, change }: Piece): readonly (Node | string)[] {
  const [, start = '', phrase = '', end = ''] = /^( *)(.*?)( *)$/s.exec(text) ?? []
  if (change === 'none' || phrase === '') return [markedPiece(text, change)]
  return [start, markedPiece(phrase, change), end]
}

const markedPiece = (text: string, change: Piece['change']): Node | string =>
  change === 'none' ? text : change === 'removed' ? removed(text) : added(text)
