import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import type { Client } from '../../src/platform/client.ts'
import { type AccountInTree, readAllItems } from '../../src/platform/sessions/complete-lists.ts'
import { closestWord, nameWithId } from '../../src/text/closest-match.ts'
import { shownName } from '../../src/text/dialog-text.ts'
import type { FailedAccounts } from '../../src/tool/lists/several-accounts.ts'
import type { NamedOutcome } from '../../src/tool/many.ts'
import {
  eachOnce,
  forEach,
  manyIds,
  mostThings,
  type Outcome,
  type SelectedThing,
  withMissingHint,
} from '../../src/tool/many.ts'
import { badArguments, Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'

/** Arguments that say which agents are meant: exactly one of the first three is given. */
export const agentSelection = {
  agent_id: z.string().min(1).optional().describe('Agent id.'),
  agent_ids: manyIds.describe('Many, by id or name.'),
  with_tag: z.string().min(1).optional().describe('All active ones of the account with this tag.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: agent_ids and with_tag mean agents of all subaccounts too.'),
}

export type Selection = z.output<z.ZodObject<typeof agentSelection>>
export type SelectionRun = Pick<Run, 'request' | 'restricted' | 'session' | 'signal' | 'answerBy'>

/** Many agents; a list of one counts as many. */
export interface SelectedMany {
  readonly agents: readonly SelectedThing[]
  /** Names and ids of agents that were named before: they are not done twice. */
  readonly repeated: readonly string[]
  /** The argument that named them. */
  readonly argument: 'agent_id' | 'agent_ids' | 'with_tag'
  /** Accounts whose agents could not be looked for. */
  readonly failed?: readonly FailedAccounts[]
}

/** The agents of `agent_ids`, each once. */
export function agentsOnce(agents: readonly SelectedThing[]): SelectedMany {
  const { things, repeated } = eachOnce(agents)
  return { agents: things, repeated, argument: 'agent_ids' }
}

export const badTag = (message: string): Refused =>
  badArguments([{ argument: 'with_tag', message }])

export const tooManyTagged = (count: string): Refused =>
  badTag(
    `${count} agents have it, and one call takes ${mostThings}; take them from list_agents with tags, and give them in agent_ids, a part at a time`,
  )

/** Which of the agents' tags may be meant instead of one that none has. */
export function tagMeant(tag: string, agents: readonly Agent[]): string {
  const known = [...new Set(agents.flatMap(({ tags }) => tags ?? []))]
  const meant = closestWord(tag, known)
  if (meant) return `did you mean ${meant}?`
  const some = known.slice(0, 10).join(', ')
  return some ? `tags that agents have: ${some}` : 'no agent has any tag'
}

interface AgentsRead {
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

/** Accounts that were not looked into, for the result; nothing where all were. */
export const failedShown = (failed: readonly FailedAccounts[]) =>
  failed.length > 0 ? { failed_accounts: [...failed] } : {}

/** Which agents a tag stands for; nothing where they were named one by one. */
export function tagLines(
  argument: SelectedMany['argument'],
  isTree: boolean | undefined,
): string[] {
  if (argument !== 'with_tag') return []
  return [
    isTree
      ? 'Archived agents are not included.'
      : 'Archived agents and those of subaccounts are not included.',
  ]
}

/** Accounts that were not looked into, as lines. */
export const failedLines = (failed: readonly FailedAccounts[]): string[] =>
  failed.length > 0 ? [`NOT COMPLETE: ${failedInWords(failed)}. Call again for those.`] : []

/** `not read: Hamburg branch (1b9d…): HTTP 500` */
export const failedInWords = (failed: readonly FailedAccounts[]): string =>
  failed
    .map(
      ({ reason, accounts }) =>
        `not read: ${accounts.map(({ id, name }) => nameWithId(name && shownName(name), id)).join(', ')}: ${reason}`,
    )
    .join('; ')

/** What became of one of many agents. */
export interface AgentOutcome<T> extends NamedOutcome<T> {
  readonly id?: string | undefined
  /** Whose it is, where agents of several accounts can be meant. */
  readonly account?: AccountInTree | undefined
}

type EachRun = Pick<Run, 'request' | 'restricted' | 'signal' | 'answerBy' | 'progress'>

/**
 * Does the same with each of the agents, with a run on its account; one that does not exist fails with
 * what may be meant.
 */
export async function eachAgent<T, R extends EachRun>(
  agents: readonly SelectedThing[],
  work: (agentId: string, run: R) => Promise<T>,
  run: R,
): Promise<AgentOutcome<T>[]> {
  const outcomes = await forEach(
    agents,
    ({ id, account, problem = 'it is not known which agent is meant' }) => {
      if (id === undefined) throw new Refused('bad_arguments', problem)
      return work(id, runIn(account, run))
    },
    run,
  )
  return Promise.all(
    agents.map(async ({ given, id, account }, at) => {
      const outcome = outcomes[at] as Outcome<T>
      const named = { argument: 'agent_id', given } as const
      return {
        ...{ given, id, ...(account && { account }) },
        outcome: await withMissingHint(outcome, named, runIn(account, run)),
      }
    }),
  )
}

/** The run on the account of an agent, if that is known. */
export const runIn = <R extends Pick<Run, 'request'>>(
  account: AccountInTree | undefined,
  run: R,
): R => {
  if (!account) return run
  const params = { ...run.request.params, account_id: account.id }
  return { ...run, request: { ...run.request, params } }
}
