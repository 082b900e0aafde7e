import * as z from 'zod'
import { Agent } from '../src/contract/agent.ts'
import { routes } from '../src/contract/routes.ts'
import { unlistedOption } from '../src/tool/checks/catalog-check.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import { listDefaults } from '../src/tool/lists/list-result.ts'
import { treeListSteps } from '../src/tool/lists/list-steps.ts'
import { latestChanges, latestChangesShape } from '../src/tool/undo.ts'
import { agentFilters, findAgents } from './agents/agent-selection.ts'
import {
  absentInstructions,
  instructionsElsewhere,
  newValueChecks,
} from './agents/agent-value-checks.ts'
import { createdAgentLines } from './agents/created-agent-summary.ts'

export const listAgents = defineTool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Lists the voice agents of an account.',
  route: routes.agents.list,
  listing: { hidden: ['created_gt', 'created_le', 'modified_gt', 'modified_le'] },
  defaults: listDefaults,
  ...treeListSteps(routes.agents.list, {
    order: 'by_account',
    filters: { options: agentFilters, find: findAgents },
    shows: ['id', 'name', 'tags', 'model.model', 'is_archived'],
  }),
})

/**
 * Creates an agent. First checks model, transcriber and voice against the catalogs, and the
 * greeting.
 */
export const createAgent = defineTool({
  name: 'create_agent',
  title: 'Create an agent',
  description:
    'Creates a voice agent. Needs model, transcriber and voice; all other fields have defaults.',
  route: routes.agents.create,
  listing: {
    undescribed: [
      'settings',
      'ambient_sound',
      'inactivity_settings',
      'response_timing',
      'interrupt_settings',
      'capture_settings',
      'volume',
      'denoising',
    ],
  },
  clears: [
    'ambient_sound.source',
    'inactivity_settings.reminder_timeout_ms',
    'inactivity_settings.end_call_timeout_ms',
  ],
  view: 'agent',
  options: unlistedOption,
  absent: absentInstructions,
  schema: Agent.extend({
    warnings: z.array(z.string()).optional().describe('What may be a mistake.'),
  }),
  async run(run) {
    const { request, session, signal, options } = run
    const given = request.body
    const checks = newValueChecks(run, options.allow_unlisted)
    const [catalogs, greeting] = await Promise.all([
      checks.catalogValues(given),
      checks.greeting(given.initial_message),
    ])
    const body = catalogs.wanted
    const warnings = [...catalogs.warnings, ...greeting.warnings]
    const agent = await session.client.call(routes.agents.create, { ...request, body }, signal)
    return {
      structured: {
        ...agent,
        ...(warnings.length > 0 && { warnings }),
      },
      lines: [
        ...createdAgentLines(agent, { verb: 'Created agent', given: body, sent: body, warnings }),
        instructionsElsewhere,
      ],
    }
  },
})

export const getAgent = defineTool({
  name: 'get_agent',
  title: 'Show an agent',
  description: 'Returns one agent with all its settings.',
  route: routes.agents.get,
  view: 'agent',
  options: { changes: z.boolean().optional().describe('true: also its latest changes.') },
  schema: Agent.extend(latestChangesShape),
  async run({ request, session, signal, options }) {
    const agent = await session.client.call(routes.agents.get, request, signal)
    if (!options.changes) return { structured: agent }
    const changes = await latestChanges({ kind: 'agent', id: agent.id }, session)
    return { structured: { ...agent, ...changes } }
  },
})
