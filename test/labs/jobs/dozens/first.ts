import {
  counts,
  countsNothingOf,
  mentions,
  says,
  saysOfNumber,
  telephonesExactly,
} from '../answers.ts'
import { Fits } from '../changes.ts'
import { companyOf, contactOf, period, usageByAgent, within } from '../company.ts'
import { accountNames } from '../furniture/accounts.ts'
import type { Job } from '../job.ts'
import { accountNamed, greetingThatSays, greets, placed, sameSet } from './expected.ts'

const dozen = 'first'
const lastWeek = period('2026-11-09', '2026-11-16')

const createAgent: Job = {
  name: 'create-agent',
  dozen,
  text: 'Set up a new agent for us called "Billing helpline". It speaks British English with a female ElevenLabs voice that suits a reception, thinks with OpenAI\'s GPT-4.1 and listens with Deepgram Nova 2 in British English. It may hang up by itself and talks for ten minutes at most. It opens with: "Hello {{ contact.first_name }}, this is the billing helpline of Northwind. How can I help?" Give it the tags billing and en.',
  changes: (before) => ({
    added: [
      {
        table: 'agents',
        about: 'Billing helpline',
        row: {
          account_id: companyOf(before).rootId,
          is_archived: 0,
          'config.name': 'Billing helpline',
          'config.tags': new Fits('billing and en', (tags) => sameSet(tags, ['billing', 'en'])),
          'config.model.provider': 'openai',
          'config.model.model': 'gpt-4.1',
          'config.transcriber.provider': 'deepgram',
          // "Nova 2" is either model.
          'config.transcriber.model': new Fits('a Nova 2', (model) =>
            ['nova-2:general', 'nova-2:phonecall'].includes(String(model)),
          ),
          'config.transcriber': new Fits('listens in en-gb alone', (transcriber) =>
            /"languages?":(\["en-gb"\]|"en-gb")/i.test(JSON.stringify(transcriber)),
          ),
          'config.voice.provider': 'elevenlabs',
          'config.voice.voice_id': 'sbx-en-gb-clara',
          'config.allow_auto_hangup': true,
          'config.max_duration_seconds': 600,
          'config.initial_message.mode': 'fixed_message',
          'config.initial_message.message':
            'Hello {{ contact.first_name }}, this is the billing helpline of Northwind. How can I help?',
        },
      },
    ],
  }),
}

const newGreeting = 'Welcome to Northwind Dental. What may I do for you today?'

const changeGreeting: Job = {
  name: 'change-greeting',
  dozen,
  text: `Our agent Reception should greet people with "${newGreeting}" from now on. Change nothing else about it.`,
  changes: (before) => ({
    changed: [
      {
        table: 'agents',
        id: companyOf(before).agent('Reception').id,
        set: { 'config.initial_message.message': newGreeting },
      },
    ],
  }),
}

const tagAndSpeed: Job = {
  name: 'tag-and-speed',
  dozen,
  text: 'All agents with the tag reminder should also get the tag priority, and speak a little faster: voice speed 1.1. Leave everything else about them as it is.',
  changes: (before) => ({
    changed: companyOf(before)
      .tagged('reminder')
      .map(({ id, config: { tags } }) => ({
        table: 'agents',
        id,
        set: {
          'config.tags': new Fits(`${tags} and priority`, (now) =>
            sameSet(now, [...tags, 'priority']),
          ),
          'config.voice.settings.speed': 1.1,
        },
      })),
  }),
}

const moveNumbers: Job = {
  name: 'move-numbers',
  dozen,
  text: 'We leave our old telephone carrier. Move all numbers of the trunk Old carrier to the trunk New carrier, then delete Old carrier. I agree to the deletion.',
  changes: (before) => {
    const { trunk } = companyOf(before)
    const old = trunk('Old carrier').id
    return {
      changed: before.phone_numbers
        .filter(({ sip_trunk_id }) => sip_trunk_id === old)
        .map(({ id }) => ({
          table: 'phone_numbers',
          id,
          set: { sip_trunk_id: trunk('New carrier').id },
        })),
      removed: [{ table: 'sip_trunks', id: old }],
    }
  },
}

const callThree: Job = {
  name: 'call-three',
  dozen,
  text: 'Please have Recall reminders call three people from our main line +1 202 555 0110: Anna at +1 202 555 0100, Ben at +1 202 555 0103 and Clara at +1 202 555 0104. It should greet each by first name. I agree to these calls. Then tell me how each went, one line for each person: a person answered, a machine answered, or nobody answered.',
  changes: (before) => {
    const agent = 'Recall reminders'
    const anna = placed(before, { agent, to: '+12025550100' })
    const clara = placed(before, { agent, to: '+12025550104' })
    return {
      added: [
        { ...anna, row: { ...anna.row, script: greets('Anna') } },
        placed(before, { agent, to: '+12025550103' }),
        { ...clara, row: { ...clara.row, script: greets('Clara') } },
      ],
    }
  },
  facts: () => [
    says('Anna', /person|human|in person|herself/i, /nobody|no one|machine|voicemail|not answer/i),
    says('Ben', /nobody|no one|not answer|no answer|did ?n[o']t|unanswered/i, /machine|voicemail/i),
    says('Clara', /machine|voicemail/i, /nobody|no one/i),
  ],
}

const usagePerAgent: Job = {
  name: 'usage-per-agent',
  dozen,
  text: 'How much did we use each of our agents in October 2026 (UTC), branches included? For each agent that had completed conversations one line: name, number of conversations, minutes rounded to whole ones.',
  facts: (before) => {
    const usage = usageByAgent(before, period('2026-10-01', '2026-11-01'))
    const { agentNames } = companyOf(before)
    return [
      ...[...usage].map(([name, { calls, minutes }]) =>
        counts(name, [{ value: calls }, { value: minutes, within: 1 }], agentNames),
      ),
      ...countsNothingOf(
        agentNames.filter((name) => !usage.has(name)),
        agentNames,
      ),
    ]
  },
}

const findTransferred: Job = {
  name: 'find-transferred',
  dozen,
  text: 'Which conversations of last week (Monday 9 to Sunday 15 November, UTC), branches included, were transferred to a person? For each one line with the day, the agent and the telephone number of the other side.',
  facts: (before) => {
    const transferred = before.calls
      .filter(within(lastWeek))
      .filter(({ outcome }) => outcome === 'transferred')
    const contacts = transferred.flatMap((call) => contactOf(call) ?? [])
    return [
      telephonesExactly(contacts),
      ...transferred.map((call) =>
        saysOfNumber(contactOf(call) ?? '', new RegExp(call.agent_name ?? '')),
      ),
    ]
  },
}

const copyToBranch: Job = {
  name: 'copy-to-branch',
  dozen,
  text: 'We open a branch in Leipzig. Make a subaccount "Leipzig branch", and in it a copy of our agent Support line with the name "Support line Leipzig"; all else about the copy is to be as in the original.',
  changes: (before) => {
    const { agent, rootId } = companyOf(before)
    const { config } = agent('Support line')
    return {
      added: [
        {
          table: 'accounts',
          about: 'Leipzig branch',
          row: { name: 'Leipzig branch', parent_id: rootId, is_active: 1 },
        },
        {
          table: 'agents',
          about: 'the copy',
          row: {
            account_id: accountNamed('Leipzig branch'),
            is_archived: 0,
            config: { ...config, name: 'Support line Leipzig' },
          },
        },
      ],
    }
  },
}

const archiveSome: Job = {
  name: 'archive-some',
  dozen,
  text: 'The spring campaign is over. Archive the agents with the tag campaign-spring, but leave any that still answers one of our numbers. I agree to the archiving. Tell me which you left, and which number it answers.',
  changes: (before) => {
    const answering = new Set(before.phone_numbers.map(({ inbound_agent_id }) => inbound_agent_id))
    return {
      changed: companyOf(before)
        .tagged('campaign-spring')
        .filter(({ id }) => !answering.has(id))
        .map(({ id }) => ({ table: 'agents', id, set: { is_archived: 1 } })),
    }
  },
  facts: () => [
    mentions('Spring campaign B'),
    telephonesExactly([], ['+12025550114']),
    mentions(/Campaign line|\+1[ -]?\(?202\)?[ -]?555[ -]?0114/i),
  ],
}

const repairTemplate: Job = {
  name: 'repair-template',
  dozen,
  text: 'The greeting of our agent Payment reminders is broken: the template has typing errors. Repair them without changing what it is meant to say, and save it.',
  changes: (before) => {
    const said = (overdue: string) =>
      `Hello Sam, this is Northwind about invoice 4711.${overdue} May I help you with it?`
    const given = { contact: { first_name: 'Sam' }, invoice_number: 4711 }
    return {
      changed: [
        {
          table: 'agents',
          id: companyOf(before).agent('Payment reminders').id,
          set: {
            'config.initial_message.message': greetingThatSays([
              { given: { ...given, overdue_days: 20 }, says: said(' It is 20 days overdue.') },
              { given: { ...given, overdue_days: 3 }, says: said('') },
            ]),
          },
        },
      ],
    }
  },
}

const whoAnswers: Job = {
  name: 'who-answers',
  dozen,
  text: 'From today our number "Hotline south" should be answered by the agent Support line Spanish.',
  changes: (before) => {
    const { agent, number } = companyOf(before)
    return {
      changed: [
        {
          table: 'phone_numbers',
          id: number('Hotline south').id,
          set: { inbound_agent_id: agent('Support line Spanish').id },
        },
      ],
    }
  },
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const weekByDay: Job = {
  name: 'week-by-day',
  dozen,
  text: `How many completed conversations did we have on each day of last week (Monday 9 to Sunday 15 November), by the time of Berlin, ${accountNames.berlin} and ${accountNames.hamburg} included? One line for each day: the weekday and the number.`,
  facts: (before) => {
    // Berlin is one hour ahead of UTC in that week.
    const berlin = { from: lastWeek.from - 3_600_000, to: lastWeek.to - 3_600_000 }
    const completed = before.calls
      .filter(within(berlin))
      .filter(({ outcome }) => outcome === 'completed')
    return weekdays.map((weekday, index) => {
      const start = berlin.from + index * 86_400_000
      const value = completed.filter(within({ from: start, to: start + 86_400_000 })).length
      const fact = counts(weekday, [{ value }], [])
      const short = new RegExp(`\\b${weekday.slice(0, 3)}\\b`, 'gi')
      return (answer) => fact(answer.replaceAll(short, weekday))
    })
  },
}

/** The twelve everyday jobs. */
export const firstDozen: readonly Job[] = [
  createAgent,
  changeGreeting,
  tagAndSpeed,
  moveNumbers,
  callThree,
  usagePerAgent,
  findTransferred,
  copyToBranch,
  archiveSome,
  repairTemplate,
  whoAnswers,
  weekByDay,
]
