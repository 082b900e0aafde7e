import { routes } from '../src/contract/routes.ts'
import { getUsageSteps } from '../src/flows/usage/get-usage.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'

export const getUsage = defineTool({
  name: 'get_usage',
  title:
    'Show usage: minutes, talk time and counts by month, week, day, agent or branch; compare periods',
  description:
    'Counts completed conversations and their minutes by hour, day, month or in total, for an account and its subaccounts, split by agent, subaccount or type; compare_start compares two times. Failed calls are left out, in the sandbox transferred ones too.',
  route: routes.usage.get,
  steps: getUsageSteps,
})
