import * as z from 'zod'
import type { PhoneNumber } from '../src/contract/phone-number.ts'
import { routes } from '../src/contract/routes.ts'
import {
  type DialogText,
  dialogText,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../src/text/dialog-text.ts'
import { accountForPerson } from '../src/tool/account-reader.ts'
import { confirmOption, refuseUnconfirmedName } from '../src/tool/confirmation.ts'
import { type Confirmable, confirmationShape } from '../src/tool/confirmation-question.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import { countInWords, type Found, numberInWords, runningCalls } from '../src/tool/in-use.ts'
import { listDefaults } from '../src/tool/lists/list-result.ts'
import { treeListSteps } from '../src/tool/lists/list-steps.ts'
import { findNumbers, numberFilters } from '../src/tool/phone-number-filters.ts'
import type { Run } from '../src/tool/tool.ts'

export const listPhoneNumbers = defineTool({
  name: 'list_phone_numbers',
  title: 'List phone numbers',
  description:
    'Lists the phone numbers of an account with their SIP trunk and the agent that answers.',
  route: routes.phoneNumbers.list,
  defaults: listDefaults,
  ...treeListSteps(routes.phoneNumbers.list, {
    order: 'by_account',
    filters: { options: numberFilters, find: findNumbers },
    shows: [
      'id',
      'number',
      'friendly_name',
      'sip_trunk.id',
      'sip_trunk.name',
      'inbound_agent.id',
      'inbound_agent.name',
    ],
  }),
})

export const createPhoneNumber = defineTool({
  name: 'create_phone_number',
  title: 'Add a phone number',
  description:
    'Adds your existing phone number to the account, on a SIP trunk. Without number the platform assigns one, which may cost money.',
  route: routes.phoneNumbers.create,
  line: addedNumber,
})

/** An added phone number as one line: number, name, id, trunk and answering agent. */
function addedNumber(number: PhoneNumber): string {
  const { id, sip_trunk: trunk, inbound_agent: agent } = number
  return `Added number ${numberInWords(number)}, id ${id}: on ${trunkInWords(trunk)}, answered by ${agentInWords(agent)}.`
}

const trunkInWords = (trunk: PhoneNumber['sip_trunk']): string =>
  trunk ? `the SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}` : 'no SIP trunk'

const agentInWords = (agent: PhoneNumber['inbound_agent']): string =>
  agent ? quotedNameWithId(agent.name, agent.id) : 'nobody'

export const getPhoneNumber = defineTool({
  name: 'get_phone_number',
  title: 'Show a phone number',
  description:
    'Returns one phone number with its SIP trunk, the agent that answers and its spam reputation.',
  route: routes.phoneNumbers.get,
})

type DeleteRun = Run<typeof routes.phoneNumbers.delete, typeof confirmOption>

/** Deletes a phone number. Needs a confirmation that names the number's uses. */
export const deletePhoneNumber = defineTool({
  name: 'delete_phone_number',
  title: 'Delete a phone number',
  description:
    'Removes a phone number from the account. A purchased number is released and may be lost for good. To only stop an agent answering it, clear inbound_agent_id with update_phone_number.',
  route: routes.phoneNumbers.delete,
  view: 'decision',
  options: confirmOption,
  schema: z
    .object({
      done: z.literal(true).describe('It was done.'),
      phone_number_id: z.string().describe('Phone number id.'),
      number: z.string().nullish().describe('The number, E.164.'),
      friendly_name: z.string().nullish().describe('Display name.'),
    })
    .partial()
    .extend(confirmationShape),
  async run(run) {
    const { client } = run.session
    const number = await client.call(routes.phoneNumbers.get, run.request, run.signal)
    const agreement = await run.confirm(() => questionFor(number, run))
    refuseUnconfirmedName(run, agreement, 'phone_number_id')
    await client.call(routes.phoneNumbers.delete, run.request, run.signal)
    const { id, number: e164, friendly_name } = number
    return {
      structured: { done: true, phone_number_id: id, number: e164, friendly_name },
      lines: [`Deleted number ${numberInWords(number)}.`],
    }
  },
})

async function questionFor(number: PhoneNumber, run: DeleteRun): Promise<Confirmable> {
  const { sip_trunk: trunk, inbound_agent: agent } = number
  const [account, calls] = await Promise.all([accountForPerson(run), callsOver(number, run)])
  return {
    kind: 'deletes',
    question: dialogText`Delete the number ${wordOrQuoted(number.number ?? number.id)}?`,
    facts: {
      Number: quotedNameWithId(number.number, number.id),
      ...(number.friendly_name && { Name: quotedUpTo(number.friendly_name) }),
      Trunk: trunk ? quotedNameWithId(trunk.name, trunk.id) : dialogText`none`,
      'Answered by': agent ? quotedNameWithId(agent.name, agent.id) : dialogText`nobody`,
      'Calls running now': countInWords(calls),
      Purchased: purchasedInWords(number),
      Account: account,
      Undo: dialogText`None: a purchased number is released, and may be lost for good.`,
    },
    scope: { answers: agent?.id ?? null },
  }
}

/** Running calls from or to the number. */
async function callsOver({ number }: PhoneNumber, run: DeleteRun): Promise<Found<unknown>> {
  const calls = await runningCalls(run)
  const items = calls.items.filter(
    ({ from_number: from, to_number: to }) => number && (from === number || to === number),
  )
  return { ...calls, items }
}

/**
 * Says whether a number was purchased. Replies do not show that, but the platform's own trunk has
 * only purchased numbers.
 */
function purchasedInWords({ sip_trunk: trunk }: PhoneNumber): DialogText {
  const isManaged = trunk?.is_managed
  if (isManaged === true) return dialogText`probably, because it is on the platform's own trunk`
  return isManaged === false
    ? dialogText`probably not, because it is on a trunk of your own`
    : dialogText`not known`
}
