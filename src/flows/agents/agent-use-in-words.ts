import { canonicalId } from '../../text/canonical-id.ts'
import { type DialogText, dialogText, joinDialogTexts } from '../../text/dialog-text.ts'
import { numberInWords } from '../found-in-words.ts'
import type { AgentUse } from '../in-use.ts'

/** What one of the agents is used for: `answers +12025550110 ("Main line")`; `undefined`: nothing known. */
export function useInWords(agentId: string, { numbers, calls }: AgentUse): DialogText | undefined {
  const id = canonicalId(agentId)
  const isMeant = (other: string | null | undefined) => !!other && canonicalId(other) === id
  const answered = numbers.items.filter(({ inbound_agent }) => isMeant(inbound_agent?.id))
  const running = calls.items.filter(({ agent_id }) => isMeant(agent_id)).length
  const parts = [
    answered.length > 0 &&
      dialogText`answers ${joinDialogTexts(answered.map(numberInWords), ', ')}`,
    running === 1 && dialogText`has a call running`,
    running > 1 && dialogText`has ${running} calls running`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? joinDialogTexts(parts, ', ') : undefined
}

/** Why it is not certain that the other agents are unused; `undefined`: it is. */
export function unknownUse({ numbers, calls }: AgentUse): DialogText | undefined {
  const parts = [
    numbers.unknown && dialogText`numbers: ${numbers.unknown}`,
    calls.unknown && dialogText`calls: ${calls.unknown}`,
  ].filter((part) => part !== undefined)
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}
