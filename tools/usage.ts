import { routes } from '../src/contract/routes.ts'
import { getUsageSteps } from '../src/flows/usage/get-usage.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'

export const getUsage = defineTool({
  name: 'get_usage',
  title:
    'Show usage, how much was used: minutes, hours, talk time by month, week, day, agent or branch, compared with before',
  description:
    'Counts completed conversations and their minutes by hour, day, month or in total, for an account and its subaccounts, split by agent, subaccount or type; compare_start compares two times. Failed calls are left out, in the sandbox transferred ones too.',
  route: routes.usage.get,
  steps: getUsageSteps,
  view: 'usage',
})
