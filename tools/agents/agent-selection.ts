import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { closestWord } from '../../src/text/closest-match.ts'
import { manyIds } from '../../src/tool/bulk.ts'
import { type ItemSelection, selectItems } from '../../src/tool/item-selection.ts'
import type {
  AccountLists,
  AccountListsRun,
  Matching,
} from '../../src/tool/lists/complete-account-lists.ts'
import { badArgument } from '../../src/tool/refused.ts'
import { agentFilters, findAgents } from './agent-filters.ts'

const Where = z.object({
  tags: z.array(z.string().min(1)).min(1).optional().describe('All must match.'),
  ...agentFilters,
})
type Where = z.output<typeof Where>

/** Arguments that select agents. Exactly one of the first four is given; item-selection.ts checks it. */
export const selectionOptions = {
  agent_id: z.string().min(1).optional().describe('Agent id.'),
  agent_ids: manyIds.describe('Instead: many, by id or name, or * for all.'),
  with_tag: z.string().min(1).optional().describe('Instead: where with one tag.'),
  where: Where.optional().describe(
    'Instead: active ones by tags (all), any_tag, sip_trunk_id, unused_since.',
  ),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: agent_ids and where also find agents of all subaccounts.'),
}

type SelectionOptions = z.output<z.ZodObject<typeof selectionOptions>>

/** Finds the selected agents. Throws Refused and ApiError. */
export async function selectAgents(
  { agent_ids: ids, with_tag: tag, where, include_subaccounts: isTree }: SelectionOptions,
  run: AccountListsRun,
): Promise<{ readonly oneId: string } | ItemSelection> {
  if (tag !== undefined && where) throw badArgument('with_tag', 'not together with where')
  const filters = tag === undefined ? where : { tags: [tag] }
  const selected = await selectItems<Agent>(
    { ids, where: filters, isTree, ...(tag !== undefined && { filtersIn: 'with_tag' }) },
    {
      argument: 'agent_id',
      find: (lists) => agentsWhere(filters ?? {}, lists),
      whyNone: (_, lists) => whyNone(filters ?? {}, lists),
      readMore: ({ read }) => read(routes.agents.list, { is_archived: true }),
    },
    run,
  )
  if ('oneId' in selected || !selected.isByFilter) return selected
  const leftOut = isTree
    ? 'Not looked at: agents archived before.'
    : 'Not looked at: agents archived before, and those of subaccounts.'
  return { ...selected, leftOut }
}

/** Finds the active agents that match the filters. */
async function agentsWhere(
  { tags, ...filters }: Where,
  lists: AccountLists,
): Promise<Matching<Agent>> {
  const found = await findAgents(filters, lists, tags ? { tags } : {})
  // The platform may split a tag at its comma into several tags [R], so tags are compared here
  // again.
  const owned = found.owned.filter(
    ({ item }) => tags?.every((tag) => item.tags?.includes(tag)) ?? true,
  )
  return { ...found, owned }
}

/**
 * Names the wanted tags that no active agent has, each with the closest existing tag; empty if
 * every tag exists.
 */
async function whyNone(
  { tags = [], any_tag = [] }: Where,
  { read }: AccountLists,
): Promise<string> {
  const all = await read<Agent>(routes.agents.list)
  const known = [...new Set(all.owned.flatMap(({ item }) => item.tags ?? []))]
  const unknown = [...tags, ...any_tag].filter((tag) => !known.includes(tag))
  return unknown
    .slice(0, 5)
    .map((tag) => `no active agent has the tag ${tag}; ${tagMeant(tag, known)}`)
    .join(' ')
}

/** Suggests the closest existing tag, or else some existing tags. */
function tagMeant(tag: string, known: readonly string[]): string {
  const meant = closestWord(tag, known)
  if (meant) return `did you mean ${meant}?`
  const some = known.slice(0, 10).join(', ')
  return some ? `tags that agents have: ${some}` : 'no agent has any tag'
}
