import * as z from 'zod'
import { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { accountReader } from '../checks/account-reader.ts'
import { checkNewCatalogValues } from '../checks/catalog-check.ts'
import { checkNewGreeting } from '../checks/greeting-check.ts'

/** Creates an agent after checking its values against the catalogs, and its greeting. */
export const createAgentSteps: Steps<typeof routes.agents.create> = {
  schema: Agent.extend({
    warnings: z.array(z.string()).optional().describe('What may be a mistake.'),
  }),
  async run(run) {
    const { request, session, signal, body } = run
    const reader = accountReader(run)
    const checks = await Promise.all([
      checkNewCatalogValues(body, reader),
      checkNewGreeting(body.initial_message, reader),
    ])
    const warnings = checks.flat()
    const agent = await session.client.call(routes.agents.create, request, signal)
    const lines = [
      `Created agent ${agent.name ? `${agent.name} (${agent.id})` : agent.id}; modified ${agent.modified ?? 'unknown'}. get_agent shows all of it.`,
      ...warnings.map((warning) => `Warning: ${warning}`),
    ]
    return {
      structured: { ...agent, ...(warnings.length > 0 && { warnings }) },
      lines,
    }
  },
}
