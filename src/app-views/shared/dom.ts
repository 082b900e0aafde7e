type Child = Node | string | number | false | undefined

/** Attributes of an element; `false` and `undefined` leave one out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Makes an element. Text becomes text nodes, so no text from outside is ever read as HTML. Attributes
 * that run script (`on…`), and `style`, which the policy of the page forbids, are refused.
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

/** The same with a listener. */
export function listen<T extends HTMLElement, K extends keyof HTMLElementEventMap>(
  element: T,
  event: K,
  listener: (event: HTMLElementEventMap[K]) => void,
): T {
  element.addEventListener(event, listener)
  return element
}
