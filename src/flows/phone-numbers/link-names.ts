import { ApiError } from '../../api/failure.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import { accountIn } from '../../session/account.ts'
import { unlessMissing } from '../checks/account-reader.ts'
import type { LinkNames, NumberLink } from './number-changes.ts'
import type { UpdateNumberRun } from './update-one-number.ts'

/**
 * The trunk and the agent that a dry run would set, read once for all numbers: the platform, which
 * would check them, is not asked to save anything. What may not be read keeps its id. Throws Refused
 * where one does not exist or is archived.
 */
export async function linksForDryRun(run: UpdateNumberRun): Promise<LinkNames> {
  const { sip_trunk_id: trunkId, inbound_agent_id: agentId } = run.body
  if (!run.options.dry_run) return {}
  const [trunk, agent] = await Promise.all([
    trunkId ? readTrunk(trunkId, run) : undefined,
    agentId ? readAgent(agentId, run) : undefined,
  ])
  return { ...(trunk && { sip_trunk_id: trunk }), ...(agent && { inbound_agent_id: agent }) }
}

async function readTrunk(id: string, run: UpdateNumberRun): Promise<NumberLink> {
  const params = { account_id: accountIn(run.request), sip_trunk_id: id }
  const { client } = run.restricted
  const trunk = await readable(client.call(routes.sipTrunks.get, { params, query: {} }, run.signal))
  if (trunk === 'missing') throw wrongLink('sip_trunk_id', `there is no SIP trunk ${id}`)
  return linkOf(trunk)
}

async function readAgent(id: string, run: UpdateNumberRun): Promise<NumberLink> {
  const params = { account_id: accountIn(run.request), agent_id: id }
  const { client } = run.restricted
  const agent = await readable(client.call(routes.agents.get, { params, query: {} }, run.signal))
  if (agent === 'missing') throw wrongLink('inbound_agent_id', `there is no agent ${id}`)
  if (agent?.is_archived) throw wrongLink('inbound_agent_id', `the agent ${id} is archived`)
  return linkOf(agent)
}

const linkOf = (thing: { id: string; name?: string | null | undefined } | undefined): NumberLink =>
  thing ? { id: thing.id, ...(thing.name && { name: thing.name }) } : null

const wrongLink = (argument: string, message: string) => badArguments([{ argument, message }])

async function readable<T>(reading: Promise<T>): Promise<T | 'missing' | undefined> {
  try {
    return (await unlessMissing(reading)) ?? 'missing'
  } catch (error) {
    if (error instanceof ApiError && error.failure.kind === 'not_exposed') return undefined
    throw error
  }
}
