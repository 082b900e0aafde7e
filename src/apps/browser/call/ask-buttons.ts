import { button, h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, numbersOf } from './data.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

/** Outcomes after which the same number may be called again. */
const repeatable: readonly Outcome[] = ['busy', 'not_answered', 'machine', 'failed']

/**
 * Buttons for what to do about a call that reached nobody. Each asks the model in the conversation,
 * so that a new call needs its confirmation. The messages contain only ids and phone numbers,
 * because names are untrusted text.
 */
export function askButtons(call: CallData, page: Page<CallData>): readonly HTMLElement[] {
  const { id = '', direction } = call
  const outcome = outcomeOf(call)
  const { to } = numbersOf(call)
  if (!page.host.canSendMessages() || !/^[\w-]{1,64}$/.test(id ?? '')) return []
  const isCalled = direction === 'outbound' && /^\+\d{5,15}$/.test(to)
  const status = h('span', { role: 'status', class: 'small muted' })
  const ask = (label: string, buttonId: string, message: string) =>
    button(
      label,
      async () => {
        status.textContent = await page.host.sendMessage(message).then(
          () => 'Asked in the conversation.',
          () => 'The host did not pass it on. Ask in the conversation.',
        )
      },
      { id: buttonId },
    )
  const buttons = [
    ...(outcome === 'failed'
      ? [ask('Ask what went wrong', 'ask-why', `Find out why the call ${id} failed.`)]
      : []),
    ...(isCalled && repeatable.includes(outcome)
      ? [
          ask(
            'Ask to call again',
            'ask-again',
            `Call ${to} again, with the agent and the number of the call ${id}.`,
          ),
        ]
      : []),
  ]
  return buttons.length > 0 ? [...buttons, status] : []
}
