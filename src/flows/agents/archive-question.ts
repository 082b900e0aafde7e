import type { Agent } from '../../contract/agent.ts'
import type { Confirmable } from '../../mcp/call/confirmation-question.ts'
import {
  countedInDialog,
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../text/dialog-text.ts'
import { accountForPerson } from '../account-in-words.ts'
import { countInWords, foundInWords, numberInWords } from '../found-in-words.ts'
import { type AgentUse, isNone } from '../in-use.ts'
import type { FailedAccounts } from '../lists/several-accounts.ts'
import { unknownUse, useInWords } from './agent-use-in-words.ts'
import type { ArchiveRun } from './archiving.ts'
import { failedInWords } from './selection-notes.ts'
import { type OwnedAgent, type UseByAccount, useOf } from './use-by-account.ts'

export async function archiveQuestion(
  agent: Agent,
  { numbers, calls }: AgentUse,
  run: ArchiveRun,
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
    // A number that it answers only since then is another question; calls come and go.
    scope: { numbers: numbers.items.map(({ id }) => id).sort() },
  }
}

/** What a question about many agents says of them. */
interface ManyFacts {
  readonly use: UseByAccount
  /** Accounts whose agents could not be looked for. */
  readonly failed: readonly FailedAccounts[]
}

/** One question for many agents, which names those in use, and the account of each. */
export async function archiveManyQuestion(
  owned: readonly OwnedAgent[],
  { use, failed }: ManyFacts,
  run: ArchiveRun,
): Promise<Confirmable> {
  const used = owned.flatMap((one) => {
    const what = useInWords(one.agent.id, useOf(one, use))
    return what ? dialogText`${nameAmong(owned, one)} ${what}` : []
  })
  const unknown = unknownUses(owned, use)
  const account = await accountForPerson(run)
  const isOfTree = owned.some((one) => one.account)
  return {
    kind: 'hides',
    stopsNothing: used.length === 0 && unknown === undefined,
    question: dialogText`Archive ${countedInDialog(owned.length, dialogText`agent`)}?`,
    facts: {
      Agents: byAccount(owned),
      'In use': used.length > 0 ? joinDialogTexts(used, '; ') : dialogText`none that is known`,
      ...(used.length > 0 && {
        'Leave those out': dialogText`call again with unused_only true instead.`,
      }),
      ...(unknown && { 'Not known': unknown }),
      ...(failed.length > 0 && { 'Left out': quotedUpTo(failedInWords(failed), 500) }),
      Account: isOfTree ? dialogText`${account} and its subaccounts` : account,
      Undo: isOfTree
        ? dialogText`update_agent with agent_ids, include_subaccounts and is_archived false, if the platform takes it.`
        : dialogText`update_agent with agent_ids and is_archived false, if the platform takes it.`,
    },
    scope: {
      agents: owned.map(({ agent: { id }, account: of }) => (of ? `${of.id} ${id}` : id)).sort(),
      numbers: [...use.values()].flatMap(({ numbers }) => numbers.items.map(({ id }) => id)).sort(),
    },
  }
}

/** The agents; those of each account together, if they may be of several. */
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

/** Why it is not certain that the other agents are unused, of each account; `undefined`: it is. */
function unknownUses(owned: readonly OwnedAgent[], uses: UseByAccount): DialogText | undefined {
  const parts = [...uses].flatMap(([id, use]) => {
    const unknown = unknownUse(use)
    if (!unknown) return []
    const account = owned.find((one) => one.account?.id === id)?.account
    return account ? dialogText`${quotedNameWithId(account.name, account.id)}: ${unknown}` : unknown
  })
  return parts.length > 0 ? joinDialogTexts(parts, '; ') : undefined
}

/** By name alone where no other of them has it. */
function nameAmong(owned: readonly OwnedAgent[], { agent: { id, name } }: OwnedAgent): DialogText {
  const isOnly = !!name && owned.filter(({ agent }) => agent.name === name).length === 1
  return isOnly ? quotedUpTo(name) : quotedNameWithId(name, id)
}
