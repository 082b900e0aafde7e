import { routes } from '../src/contract/routes.ts'
import { archiveAgentSteps } from '../src/flows/agents/archive-agents.ts'
import { copyAgentSteps } from '../src/flows/agents/copy-agent.ts'
import { createAgentSteps } from '../src/flows/agents/create-agent.ts'
import { updateAgentSteps } from '../src/flows/agents/update-agent.ts'
import { treeListSteps } from '../src/flows/lists/list-steps.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { listDefaults } from '../src/views/list.ts'

export const listAgents = defineTool({
  name: 'list_agents',
  title: 'List voice agents (bots, assistants): find by name or tag',
  description:
    'Lists the voice agents of an account, filtered by name, tags or dates. include_subaccounts adds those of its subaccounts. Archived agents are left out unless asked for.',
  route: routes.agents.list,
  listing: { hidden: ['created_gt', 'created_le', 'modified_gt', 'modified_le'] },
  defaults: listDefaults,
  steps: treeListSteps(routes.agents.list, {
    order: 'by_account',
    shows: ['id', 'name', 'tags', 'model.model', 'is_archived'],
  }),
})

export const createAgent = defineTool({
  name: 'create_agent',
  title: 'Create a new voice agent: build, make or set up another bot or assistant',
  description:
    'Creates a voice agent; model, transcriber and voice are required, the rest has defaults. Take ids from list_models, list_transcribers and list_voices.',
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
  steps: createAgentSteps,
  view: 'agent',
})

export const copyAgent = defineTool({
  name: 'copy_agent',
  title:
    'Copy an agent (bot): duplicate, clone, a second one like it, into another branch or account',
  description:
    'Creates an agent with all settings of another one, in the same account or another, with changes. Its numbers stay with the original.',
  route: routes.agents.create,
  listing: { describedElsewhere: ['changes'] },
  steps: copyAgentSteps,
  view: 'agent',
})

export const getAgent = defineTool({
  name: 'get_agent',
  title:
    'Show one agent (bot): how it is set up or configured, its settings, model, voice, greeting, what it says',
  description: 'Returns the full configuration of one agent.',
  route: routes.agents.get,
  view: 'agent',
})

export const updateAgent = defineTool({
  name: 'update_agent',
  title:
    'Change one agent (bot) or many: greeting, prompt, voice, model, faster or slower speech, switch recording, tags, restore',
  description:
    'Changes an agent, or many alike: only what is given (fields as in create_agent), the rest stays, nested fields too. clear empties fields, such as metadata.key.',
  route: routes.agents.update,
  listing: {
    typesOnly: Object.keys(routes.agents.create.body.shape).filter((name) => name !== 'tags'),
  },
  steps: updateAgentSteps,
  view: 'agent',
})

export const archiveAgent = defineTool({
  name: 'archive_agent',
  title: 'Archive agents (bots), one or many: delete, remove, retire, switch off, get rid of',
  description:
    'Archives an agent or many (a soft delete): lists leave them out. A preview names those in use. update_agent with is_archived false brings back.',
  route: routes.agents.archive,
  steps: archiveAgentSteps,
})
