import * as z from 'zod'
import { routes } from '../../contract/routes.ts'
import type { SipTrunk } from '../../contract/sip-trunk.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import type { Confirmable } from '../../mcp/call/confirmation-question.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import { counted } from '../../text/counted.ts'
import { dialogText, quotedNameWithId, quotedUpTo } from '../../text/dialog-text.ts'
import { accountForPerson } from '../account-in-words.ts'
import { foundInWords, numberInWords } from '../found-in-words.ts'
import { refuseUnconfirmedName } from '../unconfirmed-name.ts'

type DeleteRun = Run<typeof routes.sipTrunks.delete, typeof confirmOption>

/**
 * Deletes a trunk. The platform deletes only a trunk that has no numbers [B], so nobody is asked about
 * one that has some.
 */
export const deleteSipTrunkSteps: Steps<typeof routes.sipTrunks.delete, typeof confirmOption> = {
  options: confirmOption,
  schema: z
    .object({
      done: z.literal(true).describe('It was done.'),
      sip_trunk_id: z.string().describe('Trunk id.'),
      name: z.string().nullish().describe('Display name.'),
    })
    .partial()
    .extend(confirmationShape),
  async run(run) {
    const { client } = run.session
    const trunk = await client.call(routes.sipTrunks.get, run.request, run.signal)
    refuseWithNumbers(trunk)
    const agreement = await run.confirm(() => questionFor(trunk, run))
    refuseUnconfirmedName(run, agreement, 'sip_trunk_id')
    await client.call(routes.sipTrunks.delete, run.request, run.signal)
    const { id, name } = trunk
    return {
      structured: { done: true, sip_trunk_id: id, name },
      lines: [`Deleted SIP trunk ${quotedNameWithId(name, id)}.`],
    }
  },
}

function refuseWithNumbers({ id, name, phone_numbers: numbers }: SipTrunk): void {
  if (!numbers?.length) return
  const all = foundInWords({ items: numbers }, numberInWords)
  throw new Refused(
    'conflict',
    `the SIP trunk ${quotedNameWithId(name, id)} has ${counted(numbers.length, 'number')}, and only a trunk without any can be deleted: ${all}. Nothing was sent`,
    {
      next: 'Ask the user where the numbers are to go; move them with one call of update_phone_number (phone_number_ids, and sip_trunk_id of the other trunk), then delete this trunk.',
    },
  )
}

const questionFor = async (trunk: SipTrunk, run: DeleteRun): Promise<Confirmable> => ({
  kind: 'deletes',
  question: dialogText`Delete the SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}?`,
  facts: {
    Trunk: quotedNameWithId(trunk.name, trunk.id),
    ...(trunk.termination_uri && { 'Termination URI': quotedUpTo(trunk.termination_uri) }),
    Numbers: trunk.phone_numbers ? dialogText`none` : dialogText`not known`,
    ...(trunk.has_auth_password && { Password: dialogText`set, and lost: nobody can read it` }),
    Account: await accountForPerson(run),
    Undo: dialogText`None.`,
  },
})
