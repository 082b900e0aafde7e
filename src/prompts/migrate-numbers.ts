import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import type { SipTrunk } from '../contract/sip-trunk.ts'
import { definePrompt } from '../mcp/prompt.ts'
import { safeText } from '../text/safe-text.ts'
import { readOwnNumbers } from '../tool/checks/readiness.ts'
import { project } from '../tool/lists/list-view.ts'
import { trunkArgument } from './arguments.ts'
import { attachedFrom, attachedList, attachedTrunk } from './attachments.ts'

export const migrateNumbers = definePrompt({
  name: 'migrate_numbers',
  title: 'Migrate numbers to a new trunk',
  description: 'Moves phone numbers from one SIP trunk to another, one first, with a way back.',
  requires: routes.sipTrunks.get,
  arguments: {
    from_trunk_id: trunkArgument('Trunk id the numbers are on, from list_sip_trunks.'),
    to_trunk_id: trunkArgument('Trunk id they are to run over, from list_sip_trunks.'),
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
${to.termination_uri ? '' : ['', 'The new trunk has no termination_uri: numbers on it cannot dial out. Say so before anything else.', '']}
1. Show me the numbers with their inbound agents, and both trunks side by side: termination_uri, allowed_ips, credentials set or not. If not all numbers are attached, page through list_phone_numbers first. A number on a managed trunk belongs to the platform's own telephony: ask before you touch it.
2. Ask me: all of them or which; whether the provider behind the new trunk already routes these numbers (the API cannot tell); when, since calls may be lost while they move. Look with list_calls, status in_progress, and wait for calls under way.
3. After my yes move one number, the least important: update_phone_number with its phone_number_id, sip_trunk_id ${JSON.stringify(to.id)} and nothing else. The result shows the number afterwards: trunk is new, number, name and inbound agent are as before.
4. Have it tried before the rest: ask me to ring it, or ask whether to place one test call from it (place_call rings a real telephone and costs money; only after a clear yes, once, with an external_id).
5. If it works, move the others with one call: update_phone_number with phone_number_ids, a list of their ids, and sip_trunk_id ${JSON.stringify(to.id)}; first with dry_run true, and show me what would change. If some fail, report which are moved and which are not, and ask me before you go on. The way back, for one or all: the same call with sip_trunk_id ${JSON.stringify(from.id)}.
6. Check with list_phone_numbers: each number on the new trunk, each inbound agent as it was. Report a table: number, trunk before and after, inbound agent, tried or not.
7. Leave the old trunk alone. Only if I ask for it, and it has no numbers left, and I have confirmed: delete_sip_trunk. Never use delete_phone_number here: a purchased number may be lost for good.

Good: no number without a trunk at any time, no inbound agent lost, and I could undo every step from your report.`
