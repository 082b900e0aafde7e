import { counts, countsExactly, mentions, says, telephonesExactly } from '../answer-checks.ts'
import { Fits } from '../changes.ts'
import { lastWeek, october } from '../company-lookups.ts'
import type { JobSpec } from '../job.ts'
import { accountNames } from '../seed/accounts.ts'
import {
  accountNamed,
  branch,
  changed,
  copyOf,
  greetingThatSays,
  lineForEach,
  listOf,
  placed,
} from './expected.ts'

const newGreeting = 'Welcome to Northwind Dental. What may I do for you today?'

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** The twelve everyday jobs. */
export const firstDozen = {
  'create-agent': {
    text: 'Set up a new agent for us called "Billing helpline". It speaks British English with a female ElevenLabs voice that suits a reception, thinks with OpenAI\'s GPT-4.1 and listens with Deepgram Nova 2 in British English. It may hang up by itself and talks for ten minutes at most. It opens with: "Hello {{ contact.first_name }}, this is the billing helpline of Northwind. How can I help?" Give it the tags billing and en.',
    changes: ({ rootId }) => ({
      added: [
        {
          table: 'agents',
          about: 'Billing helpline',
          row: {
            account_id: rootId,
            is_archived: 0,
            'config.name': 'Billing helpline',
            'config.tags': listOf(['billing', 'en']),
            'config.model.provider': 'openai',
            'config.model.model': 'gpt-4.1',
            'config.transcriber.provider': 'deepgram',
            // "Nova 2" may mean either model.
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
  },

  'change-greeting': {
    text: `Our agent Reception should greet people with "${newGreeting}" from now on. Change nothing else about it.`,
    changes: ({ agent }) => ({
      changed: changed('agents', [agent('Reception')], () => ({
        'config.initial_message.message': newGreeting,
      })),
    }),
  },

  'tag-and-speed': {
    text: 'All agents with the tag reminder should also get the tag priority, and speak a little faster: voice speed 1.1. Leave everything else about them as it is.',
    changes: ({ tagged }) => ({
      changed: changed('agents', tagged('reminder'), ({ config: { tags } }) => ({
        'config.tags': listOf([...tags, 'priority']),
        'config.voice.settings.speed': 1.1,
      })),
    }),
  },

  'move-numbers': {
    text: 'We leave our old telephone carrier. Move all numbers of the trunk Old carrier to the trunk New carrier, then delete Old carrier. I agree to the deletion.',
    changes: ({ trunk, phone_numbers }) => {
      const old = trunk('Old carrier').id
      const moved = phone_numbers.filter(({ sip_trunk_id }) => sip_trunk_id === old)
      return {
        changed: changed('phone_numbers', moved, () => ({ sip_trunk_id: trunk('New carrier').id })),
        removed: [{ table: 'sip_trunks', id: old }],
      }
    },
  },

  'call-three': {
    text: 'Please have Recall reminders call three people from our main line +1 202 555 0110: Anna at +1 202 555 0100, Ben at +1 202 555 0103 and Clara at +1 202 555 0104. It should greet each by first name. I agree to these calls. Then tell me how each went, one line for each person: a person answered, a machine answered, or nobody answered.',
    changes: (before) => {
      const agent = 'Recall reminders'
      return {
        added: [
          placed(before, { agent, to: '+12025550100', greeted: 'Anna' }),
          placed(before, { agent, to: '+12025550103' }),
          placed(before, { agent, to: '+12025550104', greeted: 'Clara' }),
        ],
      }
    },
    facts: () => [
      says(
        'Anna',
        /person|human|in person|herself/i,
        /nobody|no one|machine|voicemail|not answer/i,
      ),
      says(
        'Ben',
        /nobody|no one|not answer|no answer|did ?n[o']t|unanswered/i,
        /machine|voicemail/i,
      ),
      says('Clara', /machine|voicemail/i, /nobody|no one/i),
    ],
  },

  'usage-per-agent': {
    text: 'How much did we use each of our agents in October 2026 (UTC), branches included? For each agent that had completed conversations one line: name, number of conversations, minutes rounded to whole ones.',
    facts: ({ usageIn, agentNames }) => {
      const usage = [...usageIn(october)].map(([name, calls]) => {
        const seconds = calls.reduce((sum, call) => sum + call.duration_seconds, 0)
        return [name, [{ value: calls.length }, { value: seconds / 60, within: 1 }]] as const
      })
      return countsExactly(new Map(usage), agentNames)
    },
  },

  'find-transferred': {
    text: 'Which conversations of last week (Monday 9 to Sunday 15 November, UTC), branches included, were transferred to a person? For each one line with the day, the agent and the telephone number of the other side.',
    facts: ({ callsIn }) =>
      lineForEach(callsIn(lastWeek, 'transferred'), (call) => new RegExp(call.agent_name ?? '')),
  },

  'copy-to-branch': {
    text: 'We open a branch in Leipzig. Make a subaccount "Leipzig branch", and in it a copy of our agent Support line with the name "Support line Leipzig"; all else about the copy is to be as in the original.',
    changes: (before) => ({
      added: [
        branch(before, 'Leipzig branch'),
        copyOf(before.agent('Support line'), accountNamed('Leipzig branch'), {
          name: 'Support line Leipzig',
        }),
      ],
    }),
  },

  'archive-some': {
    text: 'The spring campaign is over. Archive the agents with the tag campaign-spring, but leave any that still answers one of our numbers. I agree to the archiving. Tell me which you left, and which number it answers.',
    changes: ({ phone_numbers, tagged }) => {
      const answering = new Set(phone_numbers.map(({ inbound_agent_id }) => inbound_agent_id))
      const unused = tagged('campaign-spring').filter(({ id }) => !answering.has(id))
      return { changed: changed('agents', unused, () => ({ is_archived: 1 })) }
    },
    facts: () => [
      mentions('Spring campaign B'),
      telephonesExactly([], ['+12025550114']),
      mentions(/Campaign line|\+1[ -]?\(?202\)?[ -]?555[ -]?0114/i),
    ],
  },

  'repair-template': {
    text: 'The greeting of our agent Payment reminders is broken: the template has typing errors. Repair them without changing what it is meant to say, and save it.',
    changes: ({ agent }) => {
      const said = (overdue: string) =>
        `Hello Sam, this is Northwind about invoice 4711.${overdue} May I help you with it?`
      const given = { contact: { first_name: 'Sam' }, invoice_number: 4711 }
      const message = greetingThatSays([
        { given: { ...given, overdue_days: 20 }, says: said(' It is 20 days overdue.') },
        { given: { ...given, overdue_days: 3 }, says: said('') },
      ])
      return {
        changed: changed('agents', [agent('Payment reminders')], () => ({
          'config.initial_message.message': message,
        })),
      }
    },
  },

  'who-answers': {
    text: 'From today our number "Hotline south" should be answered by the agent Support line Spanish.',
    changes: ({ agent, number }) => ({
      changed: changed('phone_numbers', [number('Hotline south')], () => ({
        inbound_agent_id: agent('Support line Spanish').id,
      })),
    }),
  },

  'week-by-day': {
    text: `How many completed conversations did we have on each day of last week (Monday 9 to Sunday 15 November), by the time of Berlin, ${accountNames.berlin} and ${accountNames.hamburg} included? One line for each day: the weekday and the number.`,
    facts: ({ callsIn }) =>
      weekdays.map((weekday, index) => {
        // Berlin is one hour ahead of UTC in that week.
        const from = lastWeek.from - 3_600_000 + index * 86_400_000
        const value = callsIn({ from, to: from + 86_400_000 }, 'completed').length
        const fact = counts(weekday, [{ value }], [])
        const short = new RegExp(`\\b${weekday.slice(0, 3)}\\b`, 'gi')
        return (answer) => fact(answer.replaceAll(short, weekday))
      }),
  },
} satisfies Readonly<Record<string, JobSpec>>
