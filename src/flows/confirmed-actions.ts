import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { confirmOption } from '../mcp/call/confirmation.ts'
import { type Confirmable, valuesOf } from '../mcp/call/confirmation-question.ts'
import { confirmationShape } from '../mcp/call/confirmation-results.ts'
import type { Run, Steps } from '../mcp/call/tool.ts'
import { dialogText, quotedNameWithId, quotedUpTo, wordOrQuoted } from '../text/dialog-text.ts'
import { accountForPerson } from './account-in-words.ts'

type ConfirmedRun<R extends Route> = Run<R, typeof confirmOption>

const idsOf = ({ params: { account_id: _, ...ids } }: ConfirmedRun<Route>['request']) => ids

/** The schema of the result: done, and the ids of the request. */
const doneSchema = (route: Route) => {
  const { account_id: _, ...ids } = route.params.shape
  return z
    .object({ done: z.literal(true).describe('It was done.'), ...ids })
    .partial()
    .extend(confirmationShape)
}

/** Steps that send the route's request after a person has agreed to the question. */
function confirmedSteps<R extends Route>(
  route: R,
  questionFor: (run: ConfirmedRun<R>) => Promise<Confirmable>,
): Steps<R, typeof confirmOption> {
  return {
    options: confirmOption,
    schema: doneSchema(route),
    async run(run) {
      await run.confirm(() => questionFor(run))
      await run.session.client.call(route, run.request, run.signal)
      return { structured: { done: true, ...idsOf(run.request) } }
    },
  }
}

export const deletePhoneNumberSteps = confirmedSteps(routes.phoneNumbers.delete, async (run) => {
  const number = await run.session.client.call(routes.phoneNumbers.get, run.request, run.signal)
  const { sip_trunk: trunk, inbound_agent: agent } = number
  return {
    kind: 'deletes',
    question: dialogText`Delete the number ${wordOrQuoted(number.number ?? number.id)}?`,
    facts: {
      Number: quotedNameWithId(number.number, number.id),
      ...(number.friendly_name && { Name: quotedUpTo(number.friendly_name) }),
      ...(trunk && { Trunk: quotedNameWithId(trunk.name, trunk.id) }),
      ...(agent && { 'Answered by': quotedNameWithId(agent.name, agent.id) }),
      Account: await accountForPerson(run),
      Undo: dialogText`None: a purchased number is released, and may be lost for good.`,
    },
  }
})

export const deleteSipTrunkSteps = confirmedSteps(routes.sipTrunks.delete, async (run) => {
  const trunk = await run.session.client.call(routes.sipTrunks.get, run.request, run.signal)
  return {
    kind: 'deletes',
    question: dialogText`Delete the SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}?`,
    facts: {
      Trunk: quotedNameWithId(trunk.name, trunk.id),
      ...(trunk.termination_uri && { 'Termination URI': quotedUpTo(trunk.termination_uri) }),
      Numbers: dialogText`${trunk.phone_numbers?.length ?? 0}`,
      Account: await accountForPerson(run),
      Undo: dialogText`None.`,
    },
  }
})

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
      await run.confirm({
        kind: 'hides',
        stopsNothing: account.is_active === false,
        question: dialogText`Deactivate the subaccount ${quotedNameWithId(account.name, account.id)}?`,
        facts: {
          Subaccount: quotedNameWithId(account.name, account.id),
          Parent: await accountForPerson(run),
          Undo: dialogText`update_subaccount with is_active true.`,
        },
        values: Object.entries(body).flatMap(([name, value]) =>
          name === 'is_active' ? [] : valuesOf(name, value),
        ),
      })
    }
    const updated = await session.client.call(routes.accounts.updateSubaccount, request, signal)
    return { structured: updated }
  },
}
