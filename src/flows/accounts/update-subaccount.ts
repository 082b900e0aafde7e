import type { Account } from '../../contract/account.ts'
import { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import { type Confirmable, valuesOf } from '../../mcp/call/confirmation-question.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import { dialogText, quotedNameWithId } from '../../text/dialog-text.ts'
import { accountForPerson } from '../account-in-words.ts'
import { countInWords } from '../found-in-words.ts'
import { countOf, runningCalls } from '../in-use.ts'
import { updatedSubaccount } from './account-result.ts'

type UpdateRun = Run<typeof routes.accounts.updateSubaccount, typeof confirmOption>

/** Asks only before an active subaccount is deactivated, because that stops everything in it. */
export const updateSubaccountSteps: Steps<
  typeof routes.accounts.updateSubaccount,
  typeof confirmOption
> = {
  options: confirmOption,
  schema: routes.accounts.updateSubaccount.reply.partial().extend(confirmationShape),
  async run(run) {
    const { request, body, session, signal } = run
    if (body.is_active === false) {
      const account = await session.client.call(routes.accounts.getSubaccount, request, signal)
      await run.confirm(() => questionFor(account, run))
    }
    const updated = await session.client.call(routes.accounts.updateSubaccount, request, signal)
    return { structured: updated, lines: [updatedSubaccount(updated)] }
  },
}

async function questionFor(account: Account, run: UpdateRun): Promise<Confirmable> {
  const isInactive = account.is_active === false
  return {
    kind: 'hides',
    stopsNothing: isInactive,
    question: dialogText`Deactivate the subaccount ${quotedNameWithId(account.name, account.id)}?`,
    facts: {
      Subaccount: quotedNameWithId(account.name, account.id),
      ...(isInactive ? { Note: dialogText`It is not active.` } : await contentsOf(account, run)),
      Parent: await accountForPerson(run),
      Undo: dialogText`update_subaccount with is_active true.`,
    },
    values: Object.entries(run.body).flatMap(([name, value]) =>
      name === 'is_active' ? [] : valuesOf(name, value),
    ),
  }
}

/** What is in the subaccount and stops with it. */
async function contentsOf({ id }: Account, { restricted, signal }: UpdateRun) {
  const inside = { request: { params: { account_id: id }, query: {} }, restricted, signal }
  const [agents, numbers, calls, subaccounts] = await Promise.all([
    countOf(inside, routes.agents.list),
    countOf(inside, routes.phoneNumbers.list),
    runningCalls(inside),
    countOf(inside, routes.accounts.listSubaccounts, { is_active: true }),
  ])
  return {
    Agents: countInWords(agents),
    Numbers: countInWords(numbers),
    'Calls running now': countInWords(calls),
    'Active subaccounts of it': countInWords(subaccounts),
  }
}
