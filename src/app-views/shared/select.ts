import { h, listen } from './dom.ts'

export interface Choice {
  readonly id: string
  readonly label: string
  /** What is shown for each value, in this order. */
  readonly options: Readonly<Record<string, string>>
  readonly value: string
  readonly change: (value: string) => void
}

/** A labelled list to choose from. A value that the options do not have is shown as it is. */
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
