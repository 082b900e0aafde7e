import { type Attributes, type Content, h, icon, listen } from './dom.ts'
import type { Host } from './host.ts'

/** A button with a listener. Buttons that are redrawn need an id, to keep the focus. */
export const button = (
  label: Content,
  click: () => unknown,
  attributes: Attributes = {},
): HTMLButtonElement =>
  listen(h('button', { type: 'button', ...attributes }, label), 'click', () => void click())

export type Ask = readonly [label: string, id: string, message: string, style?: 'primary']

/**
 * Buttons that each send a message to the conversation, and a status that says so. The messages
 * must not contain names, because names are untrusted text.
 */
export function askButtons(host: Host, asks: readonly Ask[]): HTMLElement[] {
  if (asks.length === 0 || !host.canSendMessages()) return []
  const status = h('span', { role: 'status', class: 'small muted' })
  const buttons = asks.map(([label, id, message, style]) => {
    const ask = button(
      label,
      async () => {
        status.textContent = await host.sendMessage(message).then(
          () => {
            ask.remove()
            return 'Asked in the conversation.'
          },
          () => 'The client did not pass it on. Ask in the conversation.',
        )
      },
      { id, class: style },
    )
    return ask
  })
  return [...buttons, status]
}

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
