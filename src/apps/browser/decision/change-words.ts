import { stillAssigned } from '../shared/assigned-numbers.ts'
import { type Facts, factText, withoutIds } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'

/** Words for the tools whose decisions this view shows (docs/views.md). */
export const changeWords = (tool: string, facts: Facts): ToolWords | undefined =>
  words[tool]?.(facts)

const words: Readonly<Record<string, (facts: Facts) => ToolWords>> = {
  archive_agent: archiveWords,
  delete_phone_number: (facts) => ({
    ...deletionOf('The number'),
    consequence: [undone, ...unreached(facts), ...released(facts)].join(' '),
  }),
  delete_sip_trunk: ({ Numbers: numbers = '' }) => ({
    ...deletionOf('The SIP trunk'),
    consequence: numbers.startsWith('not known')
      ? `${undone} If numbers are on it, the platform does not delete it.`
      : undone,
  }),
  update_subaccount: () => ({
    answers: ['Disable', 'Keep as it is'],
    effect: ['The subaccount', 'disabled'],
    ...{ kind: 'stops', momentary: ['Calls running now'] },
    consequence: 'Everything in it stops working until it is enabled again.',
  }),
}

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
    momentary: ['Calls running now', 'Answers numbers', 'In use'],
    ...(!isMany &&
      use.startsWith('+') && { after: (host) => [stillAssigned(factText(use), host)] }),
  }
}

const undone = 'This cannot be undone.'

const deletionOf = (subject: string): ToolWords => ({
  answers: ['Delete', 'Keep'],
  effect: [subject, 'deleted'],
  kind: 'deletes',
  momentary: ['Calls running now', 'Answered by'],
})

/** That callers no longer reach the agent that answers the number. */
const unreached = ({ 'Answered by': agent = 'nobody' }: Facts): string[] =>
  agent.startsWith('"') ? [`Callers of this number no longer reach ${withoutIds(agent)}.`] : []

/** What happens to a number by whether it was purchased. */
function released({ Purchased: purchased = 'not known' }: Facts): string[] {
  if (purchased.startsWith('probably not')) return []
  return purchased.startsWith('probably')
    ? ['The number is released, and may be lost for good.']
    : ['If the number was purchased, it is released, and may be lost for good.']
}
