import type { Facts } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'

/** Words for the decisions that have no view of their own. */
export const changeWords = (tool: string, facts: Facts): ToolWords | undefined =>
  tool === 'archive_agent' ? archiveWords(facts) : words[tool]

/**
 * Words of an archive. An archived agent keeps its numbers, and the API does not say what happens to
 * their calls.
 */
function archiveWords(facts: Facts): ToolWords {
  const isMany = 'Agents' in facts
  const use = facts[isMany ? 'In use' : 'Answers numbers'] ?? 'none'
  const reached = isMany
    ? 'Agents that answer numbers keep them, and callers may reach nobody. Assign other agents first.'
    : 'Its numbers stay assigned to it, and their callers may reach nobody. Assign another agent first.'
  const restored = `You can ask to restore ${isMany ? 'them' : 'it'} later, but the platform may refuse to.`
  return {
    answers: ['Archive', 'Keep'],
    effect: isMany ? ['The agents', 'archived'] : ['The agent', 'archived'],
    ...(use.startsWith('none')
      ? { consequence: restored }
      : { kind: 'stops', consequence: `${reached} ${restored}` }),
  }
}

const words: Readonly<Record<string, ToolWords>> = {
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
    kind: 'stops',
    consequence: 'Everything in it stops working until it is enabled again.',
  },
}
