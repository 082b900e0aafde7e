import { mapAtOnce } from '../../api/map-at-once.ts'
import type { Agent } from '../../contract/agent.ts'
import { type AccountInTree, accountsAtOnce } from '../../session/account-tree.ts'
import { type AgentUse, agentUse } from '../in-use.ts'
import type { ArchiveRun } from './archiving.ts'
import { runIn } from './each-agent.ts'

/** An agent, and whose it is where agents of several accounts can be meant. */
export interface OwnedAgent {
  readonly agent: Agent
  readonly account: AccountInTree | undefined
}

/** What uses agents, by the account's id. */
export type UseByAccount = ReadonlyMap<string, AgentUse>

const keyOf = ({ account }: OwnedAgent) => account?.id ?? ''

/** Looks in the account of each agent for what uses it; each account is looked through once. */
export async function useByAccount(
  agents: readonly OwnedAgent[],
  run: ArchiveRun,
): Promise<UseByAccount> {
  const accounts = [...new Set(agents.map(keyOf))]
  const uses = await mapAtOnce(accounts, accountsAtOnce, async (key) => {
    const own = agents.filter((one) => keyOf(one) === key)
    const ids = own.map(({ agent }) => agent.id)
    return [key, await agentUse(runIn(own[0]?.account, run), ids)] as const
  })
  return new Map(uses)
}

/** What uses the agent. Throws where its account was not looked through: that is a defect. */
export function useOf(one: OwnedAgent, uses: UseByAccount): AgentUse {
  const use = uses.get(keyOf(one))
  if (!use) throw new Error(`the use of agents of ${keyOf(one)} was not read`)
  return use
}
