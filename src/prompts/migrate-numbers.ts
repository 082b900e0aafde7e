import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import { trunkIds } from '../mcp/completions.ts'
import { definePrompt } from '../mcp/prompt-definition.ts'
import { safeText } from '../text/safe-text.ts'
import { readOwnNumbers } from '../tool/checks/readiness.ts'
import { project } from '../tool/lists/list-result.ts'
import { reference } from './arguments.ts'
import { attachedFrom, attachedList, attachedTrunk } from './attachments.ts'

export const migrateNumbers = definePrompt({
  name: 'migrate_numbers',
  title: 'Migrate numbers to a new trunk',
  description: 'Moves phone numbers from one SIP trunk to another, one first, with a way back.',
  requires: routes.sipTrunks.get,
  arguments: {
    from_trunk_id: {
      schema: reference('Id of the trunk the numbers are on, from list_sip_trunks.'),
      completion: trunkIds,
    },
    to_trunk_id: {
      schema: reference('Id of the trunk to move them to, from list_sip_trunks.'),
      completion: trunkIds,
    },
  },
  async prepare({ from_trunk_id, to_trunk_id }, reader) {
    if (from_trunk_id === to_trunk_id) {
      throw reader.invalidArgument(
        'to_trunk_id',
        'the same trunk as from_trunk_id; give another one.',
      )
    }
    const trunk = (sip_trunk_id: string, argument: string) =>
      reader.require(routes.sipTrunks.get, { params: { sip_trunk_id } }, argument)
    const [from, to, found] = await Promise.all([
      trunk(from_trunk_id, 'from_trunk_id'),
      trunk(to_trunk_id, 'to_trunk_id'),
      reader.attempt(readOwnNumbers(reader)),
    ])
    return {
      text: task(from, to),
      attachments: [
        attachedTrunk('Trunk now', from),
        attachedTrunk('New trunk', to),
        attachedFrom(
          found,
          'Numbers to move',
          'use list_phone_numbers',
          ({ numbers, isComplete }) =>
            attachedList(
              'Numbers to move',
              `voice-agents://sip-trunks/${encodeURIComponent(from.id)}/phone-numbers`,
              numbers.filter(({ sip_trunk }) => sip_trunk?.id === from.id).map(inShort),
              { budget: 4500, tool: 'list_phone_numbers', isPart: !isComplete },
            ),
        ),
      ],
    }
  },
})

const inShort = (number: PhoneNumber) =>
  project(number, [
    'id',
    'number',
    'friendly_name',
    'inbound_agent.id',
    'inbound_agent.name',
    'sip_trunk.is_managed',
  ])

const task = (
  from: SipTrunk,
  to: SipTrunk,
) => safeText`Move phone numbers from the trunk ${from.id} to the trunk ${to.id}.
${to.termination_uri ? '' : ['', 'The new trunk has no termination_uri: numbers on it cannot dial out. Tell me this first.', '']}
1. If not all numbers are attached, page through list_phone_numbers. Show me the numbers with their inbound agents, and both trunks side by side: termination_uri, allowed_ips, whether credentials are set. A number on a managed trunk belongs to the platform's own telephony: ask before you change it.
2. Ask me which numbers to move; whether the provider of the new trunk already routes them (the API cannot tell); and when, because calls may be lost during the move. Before the move, use list_calls with status in_progress, and wait until those calls have ended.
3. After my yes, move the least important number: call update_phone_number with only its phone_number_id and sip_trunk_id ${JSON.stringify(to.id)}. Check the result: the trunk is new; number, name and inbound agent are unchanged.
4. Test it before you move the others: ask me to call it, or offer one test call from it. place_call rings a real telephone and costs money: call it only after a clear yes, once, with an external_id.
5. If it works, move the others with one call of update_phone_number: phone_number_ids, a list of their ids, and sip_trunk_id ${JSON.stringify(to.id)}. Call it with dry_run true first, and show me what would change. If some fail, report which moved and which did not, and ask me before you go on. To undo one or all, make the same call with sip_trunk_id ${JSON.stringify(from.id)}.
6. Check with list_phone_numbers: each number is on the new trunk, and each inbound agent is unchanged. Report a table: number, trunk before and after, inbound agent, tested or not.
7. Do not change the old trunk. Call delete_sip_trunk only if I ask for it, the trunk has no numbers left, and I have confirmed. Never use delete_phone_number here: a purchased number may be lost for good.

Good: every number always has a trunk, no inbound agent is lost, and your report lets me undo every step.`
