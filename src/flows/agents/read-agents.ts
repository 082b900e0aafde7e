import type { Client } from '../../api/client.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { readAllItems } from '../../session/read-all-items.ts'

export interface AgentsRead {
  readonly agents: readonly Agent[]
  /** False: the account has more than were read. */
  readonly isAll: boolean
}

/** The agents of one account that match, on all pages; without a filter the active ones. Throws ApiError. */
export async function readAgents(
  account_id: string,
  filters: object,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal | undefined },
): Promise<AgentsRead> {
  const { items: agents, isAll } = await readAllItems<Agent>((page) => {
    const asked = { params: { account_id }, query: { ...filters, ...page } }
    return client.call(routes.agents.list, asked, signal)
  })
  return { agents, isAll }
}
