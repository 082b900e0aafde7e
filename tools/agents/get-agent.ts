import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'

export const getAgent = defineTool({
  name: 'get_agent',
  title: 'Show an agent',
  description: 'Returns the full configuration of one agent.',
  route: routes.agents.get,
  view: 'agent',
})
