import { button, h, icon } from './dom.ts'

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
