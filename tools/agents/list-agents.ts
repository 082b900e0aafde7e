import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { treeListSteps } from '../../src/tool/lists/list-steps.ts'
import { listDefaults } from '../../src/tool/lists/list-view.ts'

export const listAgents = defineTool({
  name: 'list_agents',
  title: 'List agents',
  description:
    'Lists the voice agents of an account, filtered by name, tags or dates. include_subaccounts adds those of its subaccounts. Archived agents are left out unless asked for.',
  route: routes.agents.list,
  listing: { hidden: ['created_gt', 'created_le', 'modified_gt', 'modified_le'] },
  defaults: listDefaults,
  ...treeListSteps(routes.agents.list, {
    order: 'by_account',
    shows: ['id', 'name', 'tags', 'model.model', 'is_archived'],
  }),
})
