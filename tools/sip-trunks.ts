import * as z from 'zod'
import { routes } from '../src/contract/routes.ts'
import { SipTrunk } from '../src/contract/sip-trunk.ts'
import { dialogText, quotedNameWithId, quotedUpTo } from '../src/text/dialog-text.ts'
import { counted } from '../src/text/labels.ts'
import { accountForPerson } from '../src/tool/account-reader.ts'
import { confirmOption, refuseUnconfirmedName } from '../src/tool/confirmation.ts'
import { type Confirmable, confirmationShape } from '../src/tool/confirmation-question.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import { foundInWords, numberInWords } from '../src/tool/in-use.ts'
import { listDefaults } from '../src/tool/lists/list-result.ts'
import { treeListSteps } from '../src/tool/lists/list-steps.ts'
import { Refused } from '../src/tool/refused.ts'
import type { Run } from '../src/tool/tool.ts'
import { emptyIps, emptyIpsNote, isShownEmpty } from './sip-trunks/allowed-ips.ts'
import { trunkInWords } from './sip-trunks/update-sip-trunk.ts'

export const listSipTrunks = defineTool({
  name: 'list_sip_trunks',
  title: 'List SIP trunks',
  description: 'Lists the SIP trunks of an account with their numbers.',
  route: routes.sipTrunks.list,
  defaults: listDefaults,
  ...treeListSteps(routes.sipTrunks.list, {
    order: 'by_account',
    shows: ['id', 'name', 'termination_uri', 'phone_numbers'],
    noteOf: emptyIpsNote,
  }),
})

export const createSipTrunk = defineTool({
  name: 'create_sip_trunk',
  title: 'Create a SIP trunk',
  description: 'Creates a SIP trunk, which connects your telephony provider.',
  route: routes.sipTrunks.create,
  line: (trunk) => trunkInWords('Created', trunk),
})

export const getSipTrunk = defineTool({
  name: 'get_sip_trunk',
  title: 'Show a SIP trunk',
  description: 'Returns one SIP trunk with its numbers. The password is never shown.',
  route: routes.sipTrunks.get,
  result: {
    schema: SipTrunk.extend({ note: z.string().optional().describe('What an empty field means.') }),
    from: (trunk) => ({ ...trunk, ...(isShownEmpty(trunk) && { note: `${emptyIps}.` }) }),
  },
})

type DeleteRun = Run<typeof routes.sipTrunks.delete, typeof confirmOption>

/**
 * Deletes a trunk. The platform deletes only trunks without phone numbers [B], so a trunk with
 * numbers is refused before the question.
 */
export const deleteSipTrunk = defineTool({
  name: 'delete_sip_trunk',
  title: 'Delete a SIP trunk',
  description:
    'Deletes a SIP trunk that has no numbers. Move its numbers first, with update_phone_number.',
  route: routes.sipTrunks.delete,
  view: 'decision',
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
})

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
