import { routes } from '../src/contract/routes.ts'
import { getUsageSteps } from '../src/flows/usage/get-usage.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'

export const getUsage = defineTool({
  name: 'get_usage',
  title:
    'Show usage: minutes, talk time and counts by month, week, day, agent or branch; compare periods',
  description:
    'Counts completed conversations and their minutes by hour, day, month or in total, in a time zone, for an account and its subaccounts; compare_start compares two times. group_by splits by agent, subaccount or type. Failed calls are not counted; whether transferred ones are is not documented (the sandbox leaves them out).',
  route: routes.usage.get,
  steps: getUsageSteps,
})
