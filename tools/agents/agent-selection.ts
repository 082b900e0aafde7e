import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { instant } from '../../src/contract/field.ts'
import type { PhoneNumber } from '../../src/contract/phone-number.ts'
import { routes } from '../../src/contract/routes.ts'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { closestWord } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import { counted } from '../../src/text/labels.ts'
import { manyIds } from '../../src/tool/bulk.ts'
import { type ItemSelection, selectItems } from '../../src/tool/item-selection.ts'
import type {
  AccountLists,
  AccountListsRun,
  Matching,
  Owned,
} from '../../src/tool/lists/complete-account-lists.ts'
import { numbersOnTrunk, readNumbers } from '../../src/tool/phone-number-filters.ts'
import { badArgument, type Refused } from '../../src/tool/refused.ts'

/** Filters that the platform's list of agents does not support. */
export const agentFilters = {
  any_tag: z.array(z.string().min(1)).min(1).optional().describe('Any of these.'),
  sip_trunk_id: z.string().min(1).optional().describe('They answer its numbers.'),
  unused_since: instant('They answer no number, and had no conversation since.').optional(),
}
type AgentFilters = z.output<z.ZodObject<typeof agentFilters>>

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

/**
 * Finds the agents that match all filters, in every requested account. `query`: filters that the
 * platform applies. Throws Refused and ApiError.
 */
export async function findAgents(
  { any_tag: tags, sip_trunk_id: trunk, unused_since: since }: AgentFilters,
  lists: AccountLists,
  query: object = {},
): Promise<Matching<Agent>> {
  const read = await lists.read<Agent>(routes.agents.list, query)
  const tagged = read.owned.filter(
    ({ item }) => !tags || tags.some((tag) => item.tags?.includes(tag)),
  )
  const has = (tag: string) => read.owned.some(({ item }) => item.tags?.includes(tag))
  const unknown = (tags ?? [])
    .filter((tag) => !has(tag))
    .map((tag) => `No agent read has the tag ${shownName(tag)}.`)
  if (trunk === undefined && since === undefined) return { ...read, owned: tagged, notes: unknown }
  const argument = trunk === undefined ? 'unused_since' : 'sip_trunk_id'
  const numbers = await readNumbers(lists, argument)
  const onTrunk = trunk === undefined ? undefined : await numbersOnTrunk(trunk, numbers, lists)
  const answering = answeringIds(onTrunk?.owned ?? [])
  const owned = onTrunk ? tagged.filter(({ item }) => answering.has(canonicalId(item.id))) : tagged
  const known = { ...read, failed: [...numbers.failed, ...read.failed] }
  if (since === undefined)
    return { ...known, owned, notes: [...unknown, ...(onTrunk?.notes ?? [])] }
  if (!numbers.isAll)
    throw badSince('an account has more numbers than can be read: give account_id')
  const unread = new Set(numbers.failed.flatMap(({ accounts }) => accounts.map(({ id }) => id)))
  const inUse = answeringIds(numbers.owned)
  const silent = owned.filter(
    ({ item, account }) => !inUse.has(canonicalId(item.id)) && !(account && unread.has(account.id)),
  )
  const unused = await withoutConversations(silent, since, lists)
  const looked = `Unused agents answer none of ${counted(numbers.owned.length, 'number')}, and the platform lists no conversation of theirs that began since ${since}.`
  return { ...known, owned: unused, notes: [...unknown, ...(onTrunk?.notes ?? []), looked] }
}

const badSince = (message: string): Refused => badArgument('unused_since', message)

const answeringIds = (numbers: readonly Owned<PhoneNumber>[]): ReadonlySet<string> =>
  new Set(
    numbers.flatMap(({ item }) => (item.inbound_agent ? canonicalId(item.inbound_agent.id) : [])),
  )

/**
 * Maximum number of agents whose conversations one tool call looks up. Each agent costs a request.
 */
const maxLookups = 300
const concurrency = 8

/**
 * Keeps the agents without a listed conversation since `created_after`. Throws Refused and
 * ApiError.
 */
async function withoutConversations(
  agents: readonly Owned<Agent>[],
  created_after: string,
  { run: { request, restricted, signal } }: AccountLists,
): Promise<Owned<Agent>[]> {
  if (Date.parse(created_after) > Date.now()) throw badSince('is not in the past')
  if (!restricted.mayRead(routes.conversations.list))
    throw badSince('needs list_conversations, which this server does not offer')
  if (agents.length > maxLookups)
    throw badSince(
      `${agents.length} agents answer no number, and conversations of ${maxLookups} can be looked up: narrow by tags or account_id`,
    )
  const isUnused = await mapConcurrently(agents, concurrency, async ({ item, account }) => {
    const params = { account_id: account?.id ?? accountIn(request) }
    const query = { agent_id: item.id, created_after, limit: 1 }
    const list = routes.conversations.list
    const { items } = await restricted.client.call(list, { params, query }, signal)
    const id = canonicalId(item.id)
    if (items.every(({ agent_id }) => agent_id && canonicalId(agent_id) === id))
      return items.length === 0
    throw badSince('the platform lists conversations of other agents than the one asked for')
  })
  return agents.filter((_, i) => isUnused[i])
}
