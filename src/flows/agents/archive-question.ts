import type { Agent } from '../../contract/agent.ts'
import type { Confirmable } from '../../mcp/call/confirmation-question.ts'
import {
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../text/dialog-text.ts'
import { accountForPerson } from '../account-in-words.ts'
import { countInWords, foundInWords, numberInWords } from '../found-in-words.ts'
import { type AgentUse, isNone } from '../in-use.ts'
import { unknownUse, useInWords } from './agent-use-in-words.ts'
import type { ArchiveRun } from './archiving.ts'

export async function archiveQuestion(
  agent: Agent,
  { numbers, calls }: AgentUse,
  run: ArchiveRun,
): Promise<Confirmable> {
  return {
    kind: 'hides',
    stopsNothing: agent.is_archived === true || (isNone(numbers) && isNone(calls)),
    question: dialogText`Archive the agent ${quotedNameWithId(agent.name, agent.id)}?`,
    facts: {
      Agent: quotedNameWithId(agent.name, agent.id),
      'Answers numbers': foundInWords(numbers, numberInWords),
      'Calls running now': countInWords(calls),
      Account: await accountForPerson(run),
      Undo: dialogText`update_agent with agent_id ${wordOrQuoted(agent.id)} and is_archived false, if the platform takes it.`,
    },
    // A number that it answers only since then is another question; calls come and go.
    scope: { numbers: numbers.items.map(({ id }) => id).sort() },
  }
}

/** One question for many agents, which names those in use. */
export async function archiveManyQuestion(
  agents: readonly Agent[],
  use: AgentUse,
  run: ArchiveRun,
): Promise<Confirmable> {
  const used = agents.flatMap((agent) => {
    const what = useInWords(agent.id, use)
    return what ? dialogText`${nameAmong(agents, agent)} ${what}` : []
  })
  const unknown = unknownUse(use)
  return {
    kind: 'hides',
    stopsNothing: used.length === 0 && unknown === undefined,
    question: dialogText`Archive ${agents.length} agents?`,
    facts: {
      Agents: joinDialogTexts(
        agents.map((agent) => nameAmong(agents, agent)),
        ', ',
      ),
      'In use': used.length > 0 ? joinDialogTexts(used, '; ') : dialogText`none that is known`,
      ...(used.length > 0 && {
        'Leave those out': dialogText`call again with unused_only true instead.`,
      }),
      ...(unknown && { 'Not known': unknown }),
      Account: await accountForPerson(run),
      Undo: dialogText`update_agent with agent_ids and is_archived false, if the platform takes it.`,
    },
    scope: {
      agents: agents.map(({ id }) => id).sort(),
      numbers: use.numbers.items.map(({ id }) => id).sort(),
    },
  }
}

/** By name alone where no other of them has it. */
function nameAmong(agents: readonly Agent[], { id, name }: Agent): DialogText {
  const isOnly = !!name && agents.filter((other) => other.name === name).length === 1
  return isOnly ? quotedUpTo(name) : quotedNameWithId(name, id)
}
