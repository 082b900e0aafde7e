import * as z from 'zod'
import { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { newValueChecks } from './new-value-checks.ts'
import { savedAgentLines } from './saved-agent.ts'

/** Creates an agent after checking its values against the catalogs, and its greeting. */
export const createAgentSteps: Steps<typeof routes.agents.create> = {
  schema: Agent.extend({
    warnings: z.array(z.string()).optional().describe('What may be a mistake.'),
  }),
  async run(run) {
    const { request, session, signal, body } = run
    const checks = newValueChecks(run)
    const found = await Promise.all([
      checks.catalogValues(body),
      checks.greeting(body.initial_message),
    ])
    const warnings = found.flat()
    const agent = await session.client.call(routes.agents.create, request, signal)
    return {
      structured: { ...agent, ...(warnings.length > 0 && { warnings }) },
      lines: savedAgentLines(agent, { verb: 'Created agent', given: body, warnings }),
    }
  },
}
