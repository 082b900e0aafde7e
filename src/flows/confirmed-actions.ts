import * as z from 'zod'
import type { Route } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { confirmOption } from '../mcp/call/confirmation.ts'
import { type Confirmable, valuesOf } from '../mcp/call/confirmation-question.ts'
import { confirmationShape } from '../mcp/call/confirmation-results.ts'
import type { Run, Steps } from '../mcp/call/tool.ts'
import { bare, described, namedShown, say } from '../text/quoted.ts'
import { accountForPerson } from './account-in-words.ts'

type Asking<R extends Route> = Run<R, typeof confirmOption>

const idsOf = ({ params: { account_id: _, ...ids } }: Asking<Route>['request']) => ids

/** What is acknowledged, and the schema of it. */
const acknowledgement = (route: Route) => {
  const { account_id: _, ...ids } = route.params.shape
  return z
    .object({ done: z.literal(true).describe('It was done.'), ...ids })
    .partial()
    .extend(confirmationShape)
}

/** Deletes or archives one thing, after a person agreed to it. */
function confirmed<R extends Route>(
  route: R,
  ask: (run: Asking<R>) => Promise<Confirmable>,
): Steps<R, typeof confirmOption> {
  return {
    options: confirmOption,
    schema: acknowledgement(route),
    async run(run) {
      await run.confirm(await ask(run))
      await run.session.client.call(route, run.request, run.signal)
      return { structured: { done: true, ...idsOf(run.request) } }
    },
  }
}

export const archiveAgentSteps = confirmed(routes.agents.archive, async (run) => {
  const agent = await run.session.client.call(routes.agents.get, run.request, run.signal)
  return {
    kind: 'hides',
    question: say`Archive the agent ${namedShown(agent.name, agent.id)}?`,
    facts: {
      Agent: namedShown(agent.name, agent.id),
      Account: await accountForPerson(run),
      Undo: say`update_agent with agent_id ${bare(agent.id)} and is_archived false, if the platform takes it.`,
    },
  }
})

export const deletePhoneNumberSteps = confirmed(routes.phoneNumbers.delete, async (run) => {
  const number = await run.session.client.call(routes.phoneNumbers.get, run.request, run.signal)
  const { sip_trunk: trunk, inbound_agent: agent } = number
  return {
    kind: 'deletes',
    question: say`Delete the number ${bare(number.number ?? number.id)}?`,
    facts: {
      Number: namedShown(number.number, number.id),
      ...(number.friendly_name && { Name: described(number.friendly_name) }),
      ...(trunk && { Trunk: namedShown(trunk.name, trunk.id) }),
      ...(agent && { 'Answered by': namedShown(agent.name, agent.id) }),
      Account: await accountForPerson(run),
      Undo: say`None: a purchased number is released, and may be lost for good.`,
    },
  }
})

export const deleteSipTrunkSteps = confirmed(routes.sipTrunks.delete, async (run) => {
  const trunk = await run.session.client.call(routes.sipTrunks.get, run.request, run.signal)
  return {
    kind: 'deletes',
    question: say`Delete the SIP trunk ${namedShown(trunk.name, trunk.id)}?`,
    facts: {
      Trunk: namedShown(trunk.name, trunk.id),
      ...(trunk.termination_uri && { 'Termination URI': described(trunk.termination_uri) }),
      Numbers: say`${trunk.phone_numbers?.length ?? 0}`,
      Account: await accountForPerson(run),
      Undo: say`None.`,
    },
  }
})

/** Deactivating stops everything of a subaccount; all else about it is changed without asking. */
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
        question: say`Deactivate the subaccount ${namedShown(account.name, account.id)}?`,
        facts: {
          Subaccount: namedShown(account.name, account.id),
          Parent: await accountForPerson(run),
          Undo: say`update_subaccount with is_active true.`,
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
