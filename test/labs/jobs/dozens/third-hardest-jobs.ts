import {
  counts,
  countsExactly,
  mentions,
  namesExactly,
  says,
  saysOfNumber,
  telephonesExactly,
} from '../answer-checks.ts'
import { Fits } from '../changes.ts'
import {
  type Company,
  contactOf,
  lastWeek,
  october,
  period,
  weekBefore,
} from '../company-lookups.ts'
import type { CallRow } from '../company-rows.ts'
import type { JobSpec } from '../job.ts'
import { accountNames, newGateway, oldGateway } from '../seed/accounts.ts'
import {
  changed,
  copyOf,
  edited,
  failureReasons,
  lineForEach,
  placed,
  without,
  wordForWord,
} from './expected.ts'

const lastSaid = ({ script }: CallRow) =>
  script.findLast(({ role }) => role === 'user')?.message ?? ''

const failureOf = ({ answer_status }: CallRow) =>
  new RegExp(failureReasons[answer_status as keyof typeof failureReasons], 'i')

const id = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

const clearOutTags = ['front-desk', 'survey', 'trial', 'es', 'campaign-spring']

/** Agents with one of the tags, without a phone number and without conversations. */
function unusedAgents({ phone_numbers, calls, agents }: Company) {
  const used = new Set([
    ...phone_numbers.map(({ inbound_agent_id }) => inbound_agent_id),
    ...calls.map(({ agent_id }) => agent_id),
  ])
  return agents.filter(
    (agent) => !used.has(agent.id) && agent.config.tags.some((tag) => clearOutTags.includes(tag)),
  )
}

const branchCopies = [
  { account: accountNames.berlin, name: 'Support line Berlin', max_duration_seconds: 600 },
  { account: accountNames.hamburg, name: 'Support line Hamburg', max_duration_seconds: 450 },
] as const

/** The contacts that the job `cure-and-call` calls. */
export const people = {
  Dora: '+12025550100',
  Emil: '+12025550104',
  Fay: '+12025550105',
  Gus: '+13035550150',
  Ida: '+13035550151',
}

const drillGreeting = 'We are closed because of a storm. Please call again tomorrow.'

/** Twelve harder jobs, over many transcripts, agents, numbers and trunks. */
export const thirdDozen = {
  'transferred-words': {
    text: 'Which people were passed on to a person last week (Monday 9 to Sunday 15 November, UTC), branches included, and what did each say last before that? One line for each: their telephone number, and their last words word for word.',
    facts: ({ callsIn }) =>
      lineForEach(callsIn(lastWeek, 'transferred'), (call) => wordForWord(lastSaid(call))),
  },

  'word-of-month': {
    text: 'Who asked us for a refund in October 2026 (UTC), branches included? Find the conversations in which the other side, not only our agent, says the word "refund". One line for each: the agent, and the telephone number of the other side.',
    facts: ({ callsIn }) =>
      lineForEach(
        callsIn(october).filter(({ script }) =>
          script.some(({ role, message }) => role === 'user' && message.includes('refund')),
        ),
        (call) => wordForWord(call.agent_name ?? ''),
      ),
  },

  'ends-of-day': {
    text: 'How did our conversations of Monday, 16 November (UTC) end, branches included? One line for each: the telephone number of the other side; whether "caller hung up" or "agent hung up" (the caller is the other side, whoever called); and word for word the last thing that the other side said. Where nobody was reached, say "nobody answered", "busy" or "declined" instead.',
    facts: ({ callsIn }) => {
      const calls = callsIn(period('2026-11-16', '2026-11-17'))
      return [
        telephonesExactly(calls.map(contactOf).filter(Boolean)),
        ...calls.flatMap((call) => {
          const contact = contactOf(call)
          if (call.outcome === 'failed') return [saysOfNumber(contact, failureOf(call), /hung up/i)]
          const isByCaller = call.script.at(-1)?.message === 'The caller hung up.'
          const [right, wrong] = [/caller hung up/i, /agent hung up/i]
          return [
            isByCaller ? saysOfNumber(contact, right, wrong) : saysOfNumber(contact, wrong, right),
            saysOfNumber(contact, wordForWord(lastSaid(call))),
          ]
        }),
      ]
    },
  },

  'review-of-week': {
    text: 'Review our calls of last week (Monday 9 to Sunday 15 November, UTC) against those of the week before (Monday 2 to Sunday 8 November), branches included. First one line for each agent that had any: name, completed, transferred and failed ones of last week, then completed, transferred and failed ones of the week before. Then as evidence one line for each failed call of last week: its id at the platform, and "nobody answered", "busy" or "declined".',
    facts: ({ callsIn, agentNames }) => {
      const weeks = [lastWeek, weekBefore].map((week) =>
        Map.groupBy(callsIn(week), ({ agent_name }) => agent_name ?? ''),
      )
      const values = (name: string) =>
        weeks.flatMap((week) =>
          ['completed', 'transferred', 'failed'].map((wanted) => ({
            value: week.get(name)?.filter(({ outcome }) => outcome === wanted).length ?? 0,
          })),
        )
      const used = new Set(weeks.flatMap((week) => [...week.keys()]))
      const failed = callsIn(lastWeek, 'failed')
      return [
        ...without(
          id,
          countsExactly(new Map([...used].map((name) => [name, values(name)])), agentNames),
        ),
        ...failed.map((call) => says(call.id, failureOf(call))),
        (answer) => {
          const wanted = failed.map((call) => call.id)
          return answer.match(id)?.every((one) => wanted.includes(one))
            ? undefined
            : 'has other ids'
        },
      ]
    },
  },

  'clear-out': {
    text: `We tidy up. Of our agents that have at least one of the tags ${clearOutTags.join(', ')}, those of the branches included, archive each one that nothing uses: it answers none of our numbers and has had no conversation since 23 September. I agree to the archiving. Tell me the names of those that you archived, and no others.`,
    changes: (before) => ({
      changed: changed('agents', unusedAgents(before), () => ({ is_archived: 1 })),
    }),
    facts: (before) => [
      namesExactly(
        unusedAgents(before).map(({ config }) => config.name),
        before.agentNames,
      ),
    ],
  },

  'every-number-answered': {
    text: 'All numbers on the trunk Old carrier are to be answered by the agent Support line, whoever answers them now. Every other number that nobody answers, those of the branches included, gets the reception of the account it belongs to: Reception, Reception Berlin or Reception Hamburg. Numbers that somebody answers stay as they are.',
    changes: ({ agent, trunk, rootId, accountName, phone_numbers }) => {
      const isOld = (trunkId: string | null) => trunkId === trunk('Old carrier').id
      const receptionOf = (account: string) =>
        account === rootId ? 'Reception' : `Reception ${accountName(account).split(' ')[0]}`
      const given = phone_numbers.filter(
        (one) => isOld(one.sip_trunk_id) || one.inbound_agent_id === null,
      )
      return {
        changed: changed('phone_numbers', given, ({ sip_trunk_id, account_id }) => ({
          inbound_agent_id: agent(isOld(sip_trunk_id) ? 'Support line' : receptionOf(account_id))
            .id,
        })),
      }
    },
  },

  'new-gateway': {
    text: `Our provider replaces its gateway. All our SIP trunks, those of the branches included, are to take calls from ${newGateway} too, and none from ${oldGateway} any more. What else is allowed stays allowed.`,
    changes: ({ sip_trunks }) => ({
      changed: changed('sip_trunks', sip_trunks, ({ allowed_ips }) => ({
        allowed_ips: edited(allowed_ips, [newGateway], oldGateway),
      })),
    }),
  },

  'new-keywords': {
    text: `Our agents that have both the tag q3 and the tag north, and all agents of the ${accountNames.berlin}, are to listen for the words "Northwind Plus" and "implant" too, and for "Northwind Card" no more. They are to understand Spanish (es-es) beside the languages that they understand now. The other words and languages of each stay.`,
    changes: ({ agents, accountId }) => {
      const meant = agents.filter(
        ({ account_id, config: { tags } }) =>
          account_id === accountId(accountNames.berlin) ||
          (tags.includes('q3') && tags.includes('north')),
      )
      return {
        changed: changed('agents', meant, ({ config: { transcriber } }) => {
          const { keywords = [], languages = [] } = transcriber
          const words = ['Northwind Plus', 'implant']
          return {
            'config.transcriber.keywords': edited(keywords, words, 'Northwind Card'),
            'config.transcriber.languages': edited(languages, ['es-es']),
          }
        }),
      }
    },
  },

  'copies-as-saved': {
    text: `Copy our agent Support line to both branches: as "Support line Berlin" to the ${accountNames.berlin}, where a conversation takes 600 seconds at most, and as "Support line Hamburg" to the ${accountNames.hamburg}, where it takes 450 seconds at most. All else is to be as in the original. Then tell me how each copy was really saved, one line for each: name, longest conversation in seconds, fewest words that interrupt it, and its background sound.`,
    changes: ({ agent, accountId }) => ({
      added: branchCopies.map(({ account, ...changes }) =>
        copyOf(agent('Support line'), accountId(account), changes),
      ),
    }),
    facts: () =>
      branchCopies.flatMap(({ name, max_duration_seconds }) => [
        counts(name, [{ value: max_duration_seconds }, { value: 2 }], []),
        says(name, /customer[ _-]service/i),
      ]),
  },

  'every-branch': {
    text: 'The greeting of our agent Outreach lead depends on what is known of the person and the visit. Show me everything that it can say, word for word as it is spoken: for somebody whose first name is given as "sam" and for somebody without a name, each with a visit today, tomorrow and in 5 days. One line for each of the six.',
    facts: () =>
      ['Hello Sam', 'Good day'].flatMap((hello) =>
        ['today', 'tomorrow', 'in 5 days'].map((day) =>
          mentions(wordForWord(`${hello}, we see you ${day}`)),
        ),
      ),
  },

  'cure-and-call': {
    text: 'Have Recall reminders call five people from our "Inbound line": Dora at +1 202 555 0100, Emil at +1 202 555 0104, Fay at +1 202 555 0105, Gus at +1 303 555 0150 and Ida at +1 303 555 0151. It should greet each by first name. If that number cannot dial out, move it to the trunk of our "Main line" first; it may stay there. I agree to these calls. Then tell me two things of each, one line for each person: word for word how it opened, and how it went: a person answered, a machine answered, or nobody answered.',
    changes: (before) => {
      const line = before.number('Inbound line')
      const { sip_trunk_id } = before.number('Main line')
      return {
        changed: changed('phone_numbers', [line], () => ({ sip_trunk_id })),
        added: Object.entries(people).map(([greeted, to]) =>
          placed(before, { agent: 'Recall reminders', to, from: line.number, greeted }),
        ),
      }
    },
    facts: () =>
      Object.keys(people).flatMap((name) => [
        says(name, wordForWord(`Hello ${name}, it is time for your half-yearly check-up`)),
        name === 'Emil'
          ? says(name, /machine|voicemail/i, /nobody|no one/i)
          : says(name, /person|human/i, /nobody|no one|machine|voicemail/i),
      ]),
  },

  drill: {
    text: `We practise for an emergency, and the auditor wants to see both steps in the history of every agent. First step: all agents with the tag outreach open with "${drillGreeting}" and talk 60 seconds at most, and our Reception opens with the same words. Save that. Second step: take it all back, so that each of these agents is exactly as it was before. Change no other agent. Then tell me how many agents took part.`,
    changes: ({ agent, tagged }) => ({
      changed: changed('agents', [...tagged('outreach'), agent('Reception')], ({ modified }) => ({
        modified: new Fits('saved again', (now) => Number(now) > modified),
      })),
    }),
    facts: ({ tagged }) => [mentions(new RegExp(`\\b${tagged('outreach').length + 1}\\b`))],
  },
} satisfies Readonly<Record<string, JobSpec>>
