import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { agentSelection } from './agent-selection.ts'

/** Arguments of archiving. */
export const archiveOptions = {
  ...agentSelection,
  unused_only: z
    .boolean()
    .optional()
    .describe('true: not those that answer a number or are in a call.'),
  ...confirmOption,
}

export type ArchiveRun = Run<typeof routes.agents.archive, typeof archiveOptions>

const requestFor = (agent_id: string, { request }: ArchiveRun) => ({
  params: { ...request.params, agent_id },
  query: {},
})

export const readAgent = (id: string, run: ArchiveRun): Promise<Agent> =>
  run.session.client.call(routes.agents.get, requestFor(id, run), run.signal)

export const archive = (id: string, run: ArchiveRun): Promise<void> =>
  run.session.client.call(routes.agents.archive, requestFor(id, run), run.signal)
