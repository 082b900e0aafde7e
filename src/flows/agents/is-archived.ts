import type { Agent } from '../../contract/agent.ts'
import type { ReplyOf } from '../../contract/route.ts'
import type { routes } from '../../contract/routes.ts'

type AgentPage = ReplyOf<typeof routes.agents.list>

/** Reads one page of the account's agents; `undefined` if the list cannot be read. */
export type ListAgents = (
  query: Readonly<Record<string, unknown>>,
) => Promise<AgentPage | undefined>

/** Agents on one page, and most pages that are read to find one. */
const perPage = 100
const mostPages = 5

/**
 * Whether an agent is archived. Replies need not say so [R], so the lists are asked: the list of
 * archived agents has an archived agent, and the usual list does not. An agent in both shows that
 * the platform ignores the filter. `undefined`: the lists do not tell.
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
    // No new agent: the platform ignores `offset`.
    if (isLast || seen.size === before) return false
  }
  return undefined
}
