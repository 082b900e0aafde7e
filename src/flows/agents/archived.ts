import type { Agent } from '../../contract/agent.ts'
import type { ReplyOf } from '../../contract/route.ts'
import type { routes } from '../../contract/routes.ts'

type AgentPage = ReplyOf<typeof routes.agents.list>

/** Reads one page of the account's agents; `undefined` when it cannot be read. */
export type ListAgents = (
  query: Readonly<Record<string, unknown>>,
) => Promise<AgentPage | undefined>

/** Agents read at a time, and how often, to find one. */
const perPage = 100
const mostPages = 5

/**
 * Whether an agent is archived. Replies need not say it [R], so the lists are asked: an archived
 * agent is in the one of archived agents, and not in the usual one, which shows a platform that
 * ignores the filter. `undefined` when the lists do not tell.
 */
export async function isArchived(
  { id, name }: Pick<Agent, 'id' | 'name'>,
  list: ListAgents,
): Promise<boolean | undefined> {
  const named = name ? { name } : {}
  const archived = await isListed(id, { ...named, is_archived: true }, list)
  if (archived !== true) return archived
  const usual = await isListed(id, named, list)
  return usual === false ? true : undefined
}

async function isListed(
  id: string,
  query: Readonly<Record<string, unknown>>,
  list: ListAgents,
): Promise<boolean | undefined> {
  const seen = new Set<string>()
  for (let offset = 0; seen.size < perPage * mostPages; offset = seen.size) {
    const page = await list({ ...query, limit: perPage, offset })
    if (!page) return undefined
    const before = seen.size
    for (const agent of page.items) seen.add(agent.id)
    if (seen.has(id)) return true
    const isLast = page.count === undefined ? page.items.length < perPage : seen.size >= page.count
    if (isLast || seen.size === before) return false
  }
  return undefined
}
