import * as z from 'zod'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { severalAccountsShape } from '../lists/several-accounts.ts'
import {
  countsOf,
  grouped,
  namesOf,
  notDoneInWords,
  outcomeShape,
  repeatedLines,
} from '../many/outcomes-in-words.ts'
import type { SelectedMany } from './agent-selection.ts'
import type { AgentOutcome } from './each-agent.ts'
import { failedLines, failedShown, tagLines } from './selection-notes.ts'
import { agentOutcomeShape } from './updated-agent.ts'

/** What became of an agent that was to be archived. */
export interface Archived {
  /** unchanged: it was archived before. */
  readonly result: 'archived' | 'in_use' | 'unchanged'
  /** What it is used for. */
  readonly why?: string
}

const outcomeNames = ['failed', 'unknown', 'not_tried', 'in_use', 'archived', 'unchanged'] as const

/** The result for many agents. */
export const archivesResultShape = {
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  agents: z
    .array(
      z.object({
        ...agentOutcomeShape,
        outcome: z.enum(outcomeNames).describe('unchanged: archived before; in_use: left out.'),
      }),
    )
    .describe('Many agents, in the order given.'),
}

export function archivesResult(
  outcomes: readonly AgentOutcome<Archived>[],
  { repeated, failed, argument }: Omit<Required<SelectedMany>, 'agents'>,
  isTree: boolean | undefined,
): ToolOutcome {
  const agents = outcomes.map(archivedAgent)
  const { summary, text } = countsOf(agents, outcomeNames, 'agent')
  const named = namesOf(agents, ({ agent_id }) => agent_id)
  const of = (name: string) => agents.filter(({ outcome }) => outcome === name)
  const [archived, unchanged] = [of('archived'), of('unchanged')]
  return {
    structured: { summary, ...failedShown(failed), agents },
    lines: [
      text,
      ...failedLines(failed),
      ...repeatedLines(repeated),
      ...notDoneInWords(agents, named),
      ...grouped(of('in_use'), ({ problem = '' }) => [problem]).map(
        ([why, some]) => `In use, not archived: ${named(some)} ${why}`,
      ),
      ...(archived.length > 0 ? [`Archived: ${named(archived)}`] : []),
      ...(unchanged.length > 0 ? [`Archived before: ${named(unchanged)}`] : []),
      ...tagLines(argument, isTree),
      ...(archived.length > 0 ? [archived.some(({ account }) => account) ? undoInTree : undo] : []),
    ],
  }
}

const undo = 'update_agent with agent_ids and is_archived false undoes it.'
const undoInTree =
  'update_agent with agent_ids (the ids), include_subaccounts true and is_archived false undoes it.'

function archivedAgent({ given, id, account, outcome }: AgentOutcome<Archived>) {
  const named = { ...(id && { agent_id: id }), name: given, ...(account && { account }) }
  if (outcome.state !== 'done')
    return { ...named, outcome: outcome.state, problem: outcome.problem }
  const { result, why } = outcome.value
  return { ...named, outcome: result, ...(why && { problem: why }) }
}
