import * as z from 'zod'
import { routes } from '../src/contract/routes.ts'
import { Usage } from '../src/contract/usage.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { shortenUsage, totalsOf, UsageTotals } from '../src/views/usage.ts'

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Show usage: minutes and talk time per month, day, agent',
  description:
    'Returns conversation seconds and counts by hour, day or month in a time zone, for an account and its subaccounts. group_by splits them by agent, subaccount or type.',
  route: routes.usage.get,
  result: {
    schema: Usage.extend({
      totals: UsageTotals,
      note: z.string().optional().describe('What was left out, and how to get it.'),
    }),
    from: ({ meta, data, ...rest }) => ({ meta, totals: totalsOf(data), ...rest, data }),
    shortening: shortenUsage,
  },
})
