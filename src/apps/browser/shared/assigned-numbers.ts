import * as z from 'zod/mini'
import { joinedUpTo } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { askButtons } from './controls.ts'
import { actionRow, h, icon } from './dom.ts'
import type { Host } from './host.ts'
import { withPhoneNumbers } from './typography.ts'

/** Maximum phone numbers that a view reads to find those of an agent. */
export const maxNumbersRead = 200

const Numbers = z.object({ items: z.array(z.unknown()) })
const AssignedNumber = z.object({
  number: z.string(),
  inbound_agent: z.object({ id: z.string() }),
})

/**
 * The phone numbers in a result of `list_phone_numbers` that these agents are assigned to, as one
 * text: `+12025550110, +12025550111`. Of more than three, the others are counted. Empty without any.
 */
export function assignedNumbers(list: unknown, agentIds: readonly unknown[]): string {
  const { items = [] } = Numbers.safeParse(list).data ?? {}
  const numbers = items.flatMap((item) => {
    const found = AssignedNumber.safeParse(item).data
    return found && agentIds.includes(found.inbound_agent.id) ? [plainText(found.number)] : []
  })
  return joinedUpTo(numbers.toSorted(), 3)
}

/** Warning that archived agents are still assigned to phone numbers, with a way on. */
export const stillAssigned = (numbers: string, host: Host): HTMLElement =>
  h(
    'div',
    { class: 'notice stack', 'data-tone': 'warning', id: 'assigned' },
    h(
      'p',
      { class: 'consequence' },
      icon('warning'),
      h('span', {}, withPhoneNumbers(`Still assigned: ${numbers}. `), 'Callers may reach nobody.'),
    ),
    actionRow(askButtons(host, [['Ask to assign another agent', 'assign', assignAnother]])),
  )

/** The message contains no untrusted text. */
const assignAnother =
  'Phone numbers are still assigned to an archived agent. Please ask me which agent is to answer them instead.'
