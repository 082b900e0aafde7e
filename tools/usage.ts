import { routes } from '../src/contract/routes.ts'
import { defineTool } from '../src/mcp/tool.ts'

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Get usage',
  description:
    'Returns conversation seconds and counts by hour, day or month in a time zone, for an account and its subaccounts. group_by splits them by agent, subaccount or type.',
  route: routes.usage.get,
})
