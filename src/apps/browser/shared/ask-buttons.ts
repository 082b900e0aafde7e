import { button, h } from './dom.ts'
import type { Host } from './host.ts'

type Ask = readonly [label: string, id: string, message: string, style?: 'primary']

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
          () => 'The host did not pass it on. Ask in the conversation.',
        )
      },
      { id, class: style },
    )
    return ask
  })
  return [...buttons, status]
}
