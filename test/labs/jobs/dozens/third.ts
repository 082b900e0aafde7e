import {
  counts,
  countsNothingOf,
  type Fact,
  mentions,
  namesExactly,
  says,
  saysOfNumber,
  telephonesExactly,
} from '../answers.ts'
import { Fits } from '../changes.ts'
import { companyOf, contactOf, period, within } from '../company.ts'
import { accountNames, newGateway, oldGateway } from '../furniture/accounts.ts'
import type { Job } from '../job.ts'
import type { CallRow, State } from '../state.ts'
import { greets, placed, sameSet } from './expected.ts'

const dozen = 'third'
const lastWeek = period('2026-11-09', '2026-11-16')
const weekBefore = period('2026-11-02', '2026-11-09')

/** These words in this order, whatever stands between them but words. */
const wordForWord = (text: string) =>
  new RegExp((text.match(/[\p{L}\d]+/gu) ?? []).join('[^\\p{L}\\d]+'), 'iu')

const lastSaid = ({ script }: CallRow) =>
  script.findLast(({ role }) => role === 'user')?.message ?? ''

const transferredWords: Job = {
  name: 'transferred-words',
  dozen,
  text: 'Which people were passed on to a person last week (Monday 9 to Sunday 15 November, UTC), branches included, and what did each say last before that? One line for each: their telephone number, and their last words word for word.',
  facts: (before) => {
    const transferred = before.calls
      .filter(within(lastWeek))
      .filter(({ outcome }) => outcome === 'transferred')
    return [
      telephonesExactly(transferred.flatMap((call) => contactOf(call) ?? [])),
      ...transferred.map((call) =>
        saysOfNumber(contactOf(call) ?? '', wordForWord(lastSaid(call))),
      ),
    ]
  },
}

const wordOfMonth: Job = {
  name: 'word-of-month',
  dozen,
  text: 'Who asked us for a refund in October 2026 (UTC), branches included? Find the conversations in which the other side, not only our agent, says the word "refund". One line for each: the agent, and the telephone number of the other side.',
  facts: (before) => {
    const asked = before.calls
      .filter(within(period('2026-10-01', '2026-11-01')))
      .filter(({ script }) =>
        script.some(({ role, message }) => role === 'user' && message.includes('refund')),
      )
    return [
      telephonesExactly(asked.flatMap((call) => contactOf(call) ?? [])),
      ...asked.map((call) =>
        saysOfNumber(contactOf(call) ?? '', wordForWord(call.agent_name ?? '')),
      ),
    ]
  },
}

const failures = {
  user_unavailable: 'nobody answered',
  user_busy: 'busy',
  user_rejected: 'declined',
} as const
const failureOf = ({ answer_status }: CallRow) =>
  new RegExp(failures[answer_status as keyof typeof failures], 'i')

const endsOfDay: Job = {
  name: 'ends-of-day',
  dozen,
  text: 'How did our conversations of Monday, 16 November (UTC) end, branches included? One line for each: the telephone number of the other side; whether "caller hung up" or "agent hung up" (the caller is the other side, whoever called); and word for word the last thing that the other side said. Where nobody was reached, say "nobody answered", "busy" or "declined" instead.',
  facts: (before) => {
    const calls = before.calls.filter(within(period('2026-11-16', '2026-11-17')))
    return [
      telephonesExactly(calls.flatMap((call) => contactOf(call) ?? [])),
      ...calls.flatMap((call) => {
        const contact = contactOf(call) ?? ''
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
}

const id = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

const reviewOfWeek: Job = {
  name: 'review-of-week',
  dozen,
  text: 'Review our calls of last week (Monday 9 to Sunday 15 November, UTC) against those of the week before (Monday 2 to Sunday 8 November), branches included. First one line for each agent that had any: name, completed, transferred and failed ones of last week, then completed, transferred and failed ones of the week before. Then as evidence one line for each failed call of last week: its id at the platform, and "nobody answered", "busy" or "declined".',
  facts: (before) => {
    const { agentNames } = companyOf(before)
    const [later, earlier] = [lastWeek, weekBefore].map((week) => before.calls.filter(within(week)))
    const used = new Set([...(later ?? []), ...(earlier ?? [])].map((call) => call.agent_name))
    const values = (name: string) =>
      [later, earlier].flatMap((calls = []) =>
        ['completed', 'transferred', 'failed'].map((wanted) => ({
          value: calls.filter((call) => call.agent_name === name && call.outcome === wanted).length,
        })),
      )
    const summary = [
      ...agentNames
        .filter((name) => used.has(name))
        .map((name) => counts(name, values(name), agentNames)),
      ...countsNothingOf(
        agentNames.filter((name) => !used.has(name)),
        agentNames,
      ),
    ]
    const failed = later?.filter(({ outcome }) => outcome === 'failed') ?? []
    return [
      ...summary.map(
        (fact): Fact =>
          (answer) =>
            fact(answer.replaceAll(id, ' ')),
      ),
      ...failed.map((call) => says(call.id, failureOf(call))),
      (answer) => {
        const wanted = failed.map((call) => call.id)
        return answer.match(id)?.every((one) => wanted.includes(one)) ? undefined : 'has other ids'
      },
    ]
  },
}

const clearOutTags = ['front-desk', 'survey', 'trial', 'es', 'campaign-spring']

/** Agents with one of the tags that answer no number and had no conversation. */
function unusedAgents(before: State) {
  const used = new Set([
    ...before.phone_numbers.map(({ inbound_agent_id }) => inbound_agent_id),
    ...before.calls.map(({ agent_id }) => agent_id),
  ])
  return before.agents.filter(
    ({ id: agent, config }) =>
      !used.has(agent) && config.tags.some((tag) => clearOutTags.includes(tag)),
  )
}

const clearOut: Job = {
  name: 'clear-out',
  dozen,
  text: `We tidy up. Of our agents that have at least one of the tags ${clearOutTags.join(', ')}, those of the branches included, archive each one that nothing uses: it answers none of our numbers and has had no conversation since 23 September. I agree to the archiving. Tell me the names of those that you archived, and no others.`,
  changes: (before) => ({
    changed: unusedAgents(before).map((agent) => ({
      table: 'agents',
      id: agent.id,
      set: { is_archived: 1 },
    })),
  }),
  facts: (before) => [
    namesExactly(
      unusedAgents(before).map(({ config }) => config.name),
      companyOf(before).agentNames,
    ),
  ],
}

const everyNumberAnswered: Job = {
  name: 'every-number-answered',
  dozen,
  text: 'All numbers on the trunk Old carrier are to be answered by the agent Support line, whoever answers them now. Every other number that nobody answers, those of the branches included, gets the reception of the account it belongs to: Reception, Reception Berlin or Reception Hamburg. Numbers that somebody answers stay as they are.',
  changes: (before) => {
    const { agent, trunk, rootId } = companyOf(before)
    const nameOf = (account: string) => before.accounts.find((one) => one.id === account)?.name
    const receptionOf = (account: string) =>
      account === rootId ? 'Reception' : `Reception ${nameOf(account)?.split(' ')[0]}`
    const isOld = (trunkId: string | null) => trunkId === trunk('Old carrier').id
    return {
      changed: before.phone_numbers
        .filter((one) => isOld(one.sip_trunk_id) || one.inbound_agent_id === null)
        .map((one) => {
          const name = isOld(one.sip_trunk_id) ? 'Support line' : receptionOf(one.account_id)
          const set = { inbound_agent_id: agent(name).id }
          return { table: 'phone_numbers', id: one.id, set }
        }),
    }
  },
}

const listOf = (wanted: readonly string[]) =>
  new Fits(wanted.join(', '), (value) => sameSet(value, wanted))

/** A list with things added and one taken out; what is there already is not there twice. */
const edited = (list: readonly string[], add: readonly string[], without?: string) => [
  ...new Set([...list.filter((one) => one !== without), ...add]),
]

const newGatewayEverywhere: Job = {
  name: 'new-gateway',
  dozen,
  text: `Our provider replaces its gateway. All our SIP trunks, those of the branches included, are to take calls from ${newGateway} too, and none from ${oldGateway} any more. What else is allowed stays allowed.`,
  changes: (before) => ({
    changed: before.sip_trunks.map(({ id: trunk, allowed_ips }) => ({
      table: 'sip_trunks',
      id: trunk,
      set: { allowed_ips: listOf(edited(allowed_ips, [newGateway], oldGateway)) },
    })),
  }),
}

const newKeywords: Job = {
  name: 'new-keywords',
  dozen,
  text: `Our agents that have both the tag q3 and the tag north, and all agents of the ${accountNames.berlin}, are to listen for the words "Northwind Plus" and "implant" too, and for "Northwind Card" no more. They are to understand Spanish (es-es) beside the languages that they understand now. The other words and languages of each stay.`,
  changes: (before) => {
    const branch = before.accounts.find(({ name }) => name === accountNames.berlin)
    return {
      changed: before.agents
        .filter(
          ({ account_id, config: { tags } }) =>
            account_id === branch?.id || (tags.includes('q3') && tags.includes('north')),
        )
        .map(({ id: agent, config: { transcriber } }) => {
          const { keywords = [], languages = [] } = transcriber
          const words = edited(keywords, ['Northwind Plus', 'implant'], 'Northwind Card')
          return {
            table: 'agents',
            id: agent,
            set: {
              'config.transcriber.keywords': listOf(words),
              'config.transcriber.languages': listOf(edited(languages, ['es-es'])),
            },
          }
        }),
    }
  },
}

const branchCopies = [
  { account: accountNames.berlin, name: 'Support line Berlin', seconds: 600 },
  { account: accountNames.hamburg, name: 'Support line Hamburg', seconds: 450 },
] as const

const copiesAsSaved: Job = {
  name: 'copies-as-saved',
  dozen,
  text: `Copy our agent Support line to both branches: as "Support line Berlin" to the ${accountNames.berlin}, where a conversation takes 600 seconds at most, and as "Support line Hamburg" to the ${accountNames.hamburg}, where it takes 450 seconds at most. All else is to be as in the original. Then tell me how each copy was really saved, one line for each: name, longest conversation in seconds, fewest words that interrupt it, and its background sound.`,
  changes: (before) => {
    const { config } = companyOf(before).agent('Support line')
    return {
      added: branchCopies.map(({ account, name, seconds }) => ({
        table: 'agents',
        about: name,
        row: {
          account_id: before.accounts.find((one) => one.name === account)?.id,
          is_archived: 0,
          config: { ...config, name, max_duration_seconds: seconds },
        },
      })),
    }
  },
  facts: () =>
    branchCopies.flatMap(({ name, seconds }) => [
      counts(name, [{ value: seconds }, { value: 2 }], []),
      says(name, /customer[ _-]service/i),
    ]),
}

const everyBranch: Job = {
  name: 'every-branch',
  dozen,
  text: 'The greeting of our agent Outreach lead depends on what is known of the person and the visit. Show me everything that it can say, word for word as it is spoken: for somebody whose first name is given as "sam" and for somebody without a name, each with a visit today, tomorrow and in 5 days. One line for each of the six.',
  facts: () =>
    ['Hello Sam', 'Good day'].flatMap((hello) =>
      ['today', 'tomorrow', 'in 5 days'].map((day) =>
        mentions(wordForWord(`${hello}, we see you ${day}`)),
      ),
    ),
}

const people = {
  Dora: '+12025550100',
  Emil: '+12025550104',
  Fay: '+12025550105',
  Gus: '+13035550150',
  Ida: '+13035550151',
}

const cureAndCall: Job = {
  name: 'cure-and-call',
  dozen,
  text: 'Have Recall reminders call five people from our "Inbound line": Dora at +1 202 555 0100, Emil at +1 202 555 0104, Fay at +1 202 555 0105, Gus at +1 303 555 0150 and Ida at +1 303 555 0151. It should greet each by first name. If that number cannot dial out, move it to the trunk of our "Main line" first; it may stay there. I agree to these calls. Then tell me two things of each, one line for each person: word for word how it opened, and how it went: a person answered, a machine answered, or nobody answered.',
  changes: (before) => {
    const { number } = companyOf(before)
    const [agent, from] = ['Recall reminders', number('Inbound line').number]
    return {
      changed: [
        {
          table: 'phone_numbers',
          id: number('Inbound line').id,
          set: { sip_trunk_id: number('Main line').sip_trunk_id },
        },
      ],
      added: Object.entries(people).map(([name, to]) => {
        const call = placed(before, { agent, to, from })
        return { ...call, row: { ...call.row, script: greets(name) } }
      }),
    }
  },
  facts: () => [
    ...Object.keys(people).flatMap((name) => [
      says(name, wordForWord(`Hello ${name}, it is time for your half-yearly check-up`)),
      name === 'Emil'
        ? says(name, /machine|voicemail/i, /nobody|no one/i)
        : says(name, /person|human/i, /nobody|no one|machine|voicemail/i),
    ]),
  ],
}

const drillGreeting = 'We are closed because of a storm. Please call again tomorrow.'

const drill: Job = {
  name: 'drill',
  dozen,
  text: `We practise for an emergency, and the auditor wants to see both steps in the history of every agent. First step: all agents with the tag outreach open with "${drillGreeting}" and talk 60 seconds at most, and our Reception opens with the same words. Save that. Second step: take it all back, so that each of these agents is exactly as it was before. Change no other agent. Then tell me how many agents took part.`,
  changes: (before) => {
    const { agent, tagged } = companyOf(before)
    return {
      changed: [...tagged('outreach'), agent('Reception')].map(({ id: one, modified }) => ({
        table: 'agents',
        id: one,
        set: { modified: new Fits('saved again', (now) => Number(now) > modified) },
      })),
    }
  },
  facts: (before) => {
    const { tagged } = companyOf(before)
    return [mentions(new RegExp(`\\b${tagged('outreach').length + 1}\\b`))]
  },
}

/** Twelve harder ones: over many transcripts, agents, numbers and trunks at once. */
export const thirdDozen: readonly Job[] = [
  transferredWords,
  wordOfMonth,
  endsOfDay,
  reviewOfWeek,
  clearOut,
  everyNumberAnswered,
  newGatewayEverywhere,
  newKeywords,
  copiesAsSaved,
  everyBranch,
  cureAndCall,
  drill,
]
