import type { Agent } from '../../src/contract/agent.ts'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { accountConcurrency } from '../../src/platform/sessions/account-tree.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import {
  countedInDialog,
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../src/text/dialog-text.ts'
import { accountForPerson } from '../../src/tool/account-reader.ts'
import { runIn } from '../../src/tool/bulk.ts'
import type { Confirmable } from '../../src/tool/confirmation-question.ts'
import {
  type AgentUse,
  agentUse,
  countInWords,
  foundInWords,
  isNone,
  numberInWords,
} from '../../src/tool/in-use.ts'
import { failedInWords, type Owned } from '../../src/tool/lists/complete-account-lists.ts'
import type { FailedAccounts } from '../../src/tool/lists/several-accounts.ts'
import type { Run } from '../../src/tool/tool.ts'

/** An agent, and its account if there may be several accounts. */
export type OwnedAgent = Owned<Agent>

type QuestionRun = Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>

export async function archiveQuestion(
  agent: Agent,
  { numbers, calls }: AgentUse,
  run: QuestionRun,
): Promise<Confirmable> {
  return {
    kind: 'hides',
    stopsNothing: agent.is_archived === true || (isNone(numbers) && isNone(calls)),
    question: dialogText`Archive the agent ${quotedNameWithId(agent.name, agent.id)}?`,
    facts: {
      Agent: quotedNameWithId(agent.name, agent.id),
      'Answers numbers': foundInWords(numbers, numberInWords),
      'Calls running now': countInWords(calls),
      Account: await accountForPerson(run),
      Undo: dialogText`update_agent with agent_id ${wordOrQuoted(agent.id)} and is_archived false, if the platform takes it.`,
    },
    // The confirmation is void once the agent answers another number. Running calls change all the
    // time, so they are not part of it.
    scope: { numbers: numbers.items.map(({ id }) => id).sort() },
  }
}

/** The facts of a question about several agents. */
interface ManyFacts {
  readonly use: UseByAccount
  /** With `unused_only`: agents that are not archived because they are in use. */
  readonly kept: readonly OwnedAgent[]
  /** Accounts whose agents could not be read. */
  readonly failed: readonly FailedAccounts[]
  /**
   * Sentences about the lists that a filter searched; absent if no filter selected the agents. A
   * selection by filter always needs confirmation.
   */
  readonly selectedBy?: readonly string[]
}

/** One question for several agents. Names the agents in use and their accounts. */
export async function archiveManyQuestion(
  owned: readonly OwnedAgent[],
  { use, kept, failed, selectedBy }: ManyFacts,
  run: QuestionRun,
): Promise<Confirmable> {
  const usesOf = (those: readonly OwnedAgent[]) =>
    those.flatMap((one) => {
      const what = useInWords(one.item.id, useOf(one, use))
      return what ? dialogText`${nameAmong(those, one)} ${what}` : []
    })
  const used = usesOf(owned)
  const unknown = unknownUses(owned, use)
  const account = await accountForPerson(run)
  const isOfTree = owned.some((one) => one.account)
  return {
    kind: 'hides',
    stopsNothing: used.length === 0 && unknown === undefined && selectedBy === undefined,
    question: dialogText`Archive ${countedInDialog(owned.length, dialogText`agent`)}?`,
    facts: {
      Agents: byAccount(owned),
      'In use': used.length > 0 ? joinDialogTexts(used, '; ') : dialogText`none that is known`,
      ...(used.length > 0 && {
        'Leave those out': dialogText`call again with unused_only true instead.`,
      }),
      ...(kept.length > 0 && { 'Not archived': joinDialogTexts(usesOf(kept), '; ') }),
      ...(selectedBy?.length && { Selected: quotedUpTo(selectedBy.join(' '), 500) }),
      ...(unknown && { 'Not known': unknown }),
      ...(failed.length > 0 && { 'Left out': quotedUpTo(failedInWords(failed), 500) }),
      Account: isOfTree ? dialogText`${account} and its subaccounts` : account,
      Undo: isOfTree
        ? dialogText`update_agent with agent_ids, include_subaccounts and is_archived false, if the platform takes it.`
        : dialogText`update_agent with agent_ids and is_archived false, if the platform takes it.`,
    },
    scope: {
      agents: owned.map(({ item: { id }, account: of }) => (of ? `${of.id} ${id}` : id)).sort(),
      numbers: [...use.values()].flatMap(({ numbers }) => numbers.items.map(({ id }) => id)).sort(),
    },
  }
}

/** Names of agents, grouped by account if there may be several accounts. */
function byAccount(owned: readonly OwnedAgent[]): DialogText {
  const ids = [...new Set(owned.map(({ account }) => account?.id))]
  const groups = ids.map((id) => {
    const those = owned.filter(({ account }) => account?.id === id)
    const names = joinDialogTexts(
      those.map((one) => nameAmong(owned, one)),
      ', ',
    )
    const account = those[0]?.account
    return account ? dialogText`${names} in ${quotedNameWithId(account.name, account.id)}` : names
  })
  return joinDialogTexts(groups, '; ')
}

/**
 * Reason why the agents without a known use may still be in use, by account; `undefined`: they are
 * certainly unused.
 */
function unknownUses(owned: readonly OwnedAgent[], uses: UseByAccount): DialogText | undefined {
  const parts = [...uses].flatMap(([id, use]) => {
    const unknown = unknownUse(use)
    if (!unknown) return []
    const account = owned.find((one) => one.account?.id === id)?.account
    return account ? dialogText`${quotedNameWithId(account.name, account.id)}: ${unknown}` : unknown
  })
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}

/** Name of an agent, with the id only if another agent in the list has the same name. */
function nameAmong(owned: readonly OwnedAgent[], { item: { id, name } }: OwnedAgent): DialogText {
  const isOnly = !!name && owned.filter(({ item }) => item.name === name).length === 1
  return isOnly ? quotedUpTo(name) : quotedNameWithId(name, id)
}

/** Uses of agents, by account id. */
export type UseByAccount = ReadonlyMap<string, AgentUse>

const accountKey = ({ account }: OwnedAgent) => account?.id ?? ''

/** Finds the uses of agents, with one pass per account. */
export async function useByAccount(
  agents: readonly OwnedAgent[],
  run: QuestionRun,
): Promise<UseByAccount> {
  const accounts = [...new Set(agents.map(accountKey))]
  const uses = await mapConcurrently(accounts, accountConcurrency, async (key) => {
    const own = agents.filter((one) => accountKey(one) === key)
    const ids = own.map(({ item }) => item.id)
    return [key, await agentUse(runIn(own[0]?.account, run), ids)] as const
  })
  return new Map(uses)
}

/**
 * The uses that `useByAccount` found in the agent's account. Throws an Error, because of a bug, if
 * it did not read that account.
 */
export function useOf(one: OwnedAgent, uses: UseByAccount): AgentUse {
  const use = uses.get(accountKey(one))
  if (!use) throw new Error(`the use of agents of ${accountKey(one)} was not read`)
  return use
}

/**
 * Describes how an agent is used: `answers +12025550110 ("Main line")`; `undefined`: no use is
 * known.
 */
export function useInWords(agentId: string, { numbers, calls }: AgentUse): DialogText | undefined {
  const id = canonicalId(agentId)
  const isMeant = (other: string | null | undefined) => !!other && canonicalId(other) === id
  const answered = numbers.items.filter(({ inbound_agent }) => isMeant(inbound_agent?.id))
  const running = calls.items.filter(({ agent_id }) => isMeant(agent_id)).length
  const parts = [
    answered.length > 0 &&
      dialogText`answers ${joinDialogTexts(answered.map(numberInWords), ', ')}`,
    running === 1 && dialogText`has a call running`,
    running > 1 && dialogText`has ${running} calls running`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? joinDialogTexts(parts, ', ') : undefined
}

/**
 * Reason why an agent without a known use may still be in use; `undefined`: it is certainly unused.
 */
export function unknownUse({ numbers, calls }: AgentUse): DialogText | undefined {
  const parts = [
    numbers.unknown && dialogText`numbers: ${numbers.unknown}`,
    calls.unknown && dialogText`calls: ${calls.unknown}`,
  ].filter((part) => part !== undefined)
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}
