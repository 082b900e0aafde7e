import type { Facts } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'

/** Words for the decisions that have no view of their own. */
export const changeWords = (tool: string, facts: Facts): ToolWords | undefined =>
  tool === 'archive_agent' && 'Agents' in facts ? archiveMany : words[tool]

const archiveMany: ToolWords = {
  answers: ['Archive', 'Keep'],
  effect: ['The agents', 'archived'],
  consequence: 'You can ask to restore them later. The platform may refuse.',
}

const words: Readonly<Record<string, ToolWords>> = {
  archive_agent: {
    answers: ['Archive', 'Keep'],
    effect: ['The agent', 'archived'],
    consequence: 'You can ask to restore it later. The platform may refuse.',
  },
  delete_phone_number: {
    answers: ['Delete', 'Keep'],
    effect: ['The number', 'deleted'],
    kind: 'deletes',
  },
  delete_sip_trunk: {
    answers: ['Delete', 'Keep'],
    effect: ['The SIP trunk', 'deleted'],
    kind: 'deletes',
  },
  update_subaccount: {
    answers: ['Disable', 'Keep as it is'],
    effect: ['The subaccount', 'disabled'],
    consequence: 'Everything in it stops working until it is enabled again.',
  },
}
