import { voicesOf } from '../../../../src/sandbox/voices.ts'
import {
  counts,
  countsExactly,
  mentions,
  namesExactly,
  says,
  saysOfNumber,
  telephonesExactly,
} from '../answer-checks.ts'
import { type Company, contactOf, lastWeek, weekBefore, yesterday } from '../company-lookups.ts'
import type { JobSpec } from '../job.ts'
import {
  accountNamed,
  branch,
  changed,
  copyOf,
  edited,
  failureReasons,
  greetingThatSays,
  placed,
  without,
} from './expected.ts'

const voiceProviders = ['elevenlabs', 'azure', 'cartesia']

const lineOfGrowth = /^.*grew most.*$/gim

/** Contacts who did not answer an agent's call yesterday, and were not reached later. */
function notReached({ callsIn }: Company, agent: string): string[] {
  const calls = callsIn(yesterday).filter(({ agent_name }) => agent_name === agent)
  const contactsOf = (status: string) =>
    calls.filter(({ answer_status }) => answer_status === status).map(contactOf)
  const reached = contactsOf('human')
  return [...new Set(contactsOf('user_unavailable'))].filter((one) => !reached.includes(one))
}

/** Twelve larger jobs, or jobs of several steps. */
export const secondDozen = {
  'two-branches': {
    text: 'We open two branches. Make the subaccounts "Cologne branch" and "Dresden branch". Each gets an agent that is set up exactly like our Reception: "Reception Cologne" in the one, "Reception Dresden" in the other.',
    changes: (before) => ({
      added: ['Cologne', 'Dresden'].flatMap((city) => [
        branch(before, `${city} branch`),
        copyOf(before.agent('Reception'), accountNamed(`${city} branch`), {
          name: `Reception ${city}`,
        }),
      ]),
    }),
  },

  'voices-everywhere': {
    text: 'Which German (de-DE) female voices can our agents have, whoever provides them? One line for each: the name of the voice, its provider, and what it is good for.',
    facts: () => {
      const german = voiceProviders
        .flatMap((provider) => voicesOf(provider) ?? [])
        .filter(({ language }) => language === 'de-de')
      const female = german.filter(({ gender }) => gender === 'female')
      const name = (voice: { name?: unknown }) => String(voice.name)
      return [
        namesExactly(female.map(name), german.map(name), /\b(?:neutral|male|not)\b/i),
        ...female.map((voice) => says(name(voice), new RegExp(String(voice.provider), 'i'))),
      ]
    },
  },

  'retag-fifteen': {
    text: 'A new quarter has begun: all agents with the tag q3 should have the tag q4 instead. They keep their other tags.',
    changes: ({ tagged }) => ({
      changed: changed('agents', tagged('q3'), ({ config: { tags } }) => ({
        'config.tags': edited(tags, ['q4'], 'q3'),
      })),
    }),
  },

  'failed-by-reason': {
    text: 'How many calls of our main account, without the branches, failed last week (Monday 9 to Sunday 15 November, UTC), and why? One line for each reason: "nobody answered", "busy" and "declined", each with the number.',
    facts: ({ callsIn, rootId }) => {
      const failed = callsIn(lastWeek, 'failed').filter(({ account_id }) => account_id === rootId)
      return Object.entries(failureReasons).map(([status, reason]) => {
        const value = failed.filter(({ answer_status }) => answer_status === status).length
        return counts(reason, [{ value }], [])
      })
    },
  },

  'last-words': {
    text: 'Have Customer survey call +1 202 555 0109 from our sales line +1 202 555 0111; I agree to the call. Wait until it is over, then tell me word for word the last thing that the person said.',
    changes: (before) => ({
      added: [
        placed(before, { agent: 'Customer survey', to: '+12025550109', from: '+12025550111' }),
      ],
    }),
    facts: () => [mentions(/sorry\W+wrong number/i)],
  },

  readiness: {
    text: 'Could Sales outreach call +49 30 23125555 from our "Inbound line" right now? Do not call. Tell me everything that is in the way or would go wrong.',
    facts: () => [
      mentions(/terminat|dial out|outgoing|outbound|inbound[- ]only/i),
      mentions('offer_name'),
      mentions(/\b(?:no|not|cannot|can.t|couldn.t)\b/i),
    ],
  },

  'usage-compared': {
    text: 'Compare our completed conversations of the week from Monday 2 to Sunday 8 November with those of the week from Monday 9 to Sunday 15 November (UTC), branches included. One line for each agent: name, conversations in the earlier week, conversations in the later week. Then, in a last line that begins with "Grew most:", the agent that gained most.',
    facts: ({ usageIn, agentNames }) => {
      const [earlier, later] = [usageIn(weekBefore), usageIn(lastWeek)]
      const weeks = (name: string) =>
        [earlier, later].map((usage) => ({ value: usage.get(name)?.length ?? 0 }))
      const used = [...new Set([...earlier.keys(), ...later.keys()])]
      const change = (name: string) =>
        (later.get(name)?.length ?? 0) - (earlier.get(name)?.length ?? 0)
      const [max = ''] = used.toSorted((a, b) => change(b) - change(a))
      return [
        ...without(
          lineOfGrowth,
          countsExactly(new Map(used.map((name) => [name, weeks(name)])), agentNames),
        ),
        (answer) => {
          const [, named = ''] = /grew most\W*(.*)$/im.exec(answer) ?? []
          return namesExactly([max], used)(named)
        },
      ]
    },
  },

  'conditional-greeting': {
    text: 'Change the greeting of our agent Appointment reminders: where the first name of the contact is known it says "Hello Sam, your appointment is tomorrow." (with that name), otherwise "Hello, your appointment is tomorrow."',
    changes: ({ agent }) => {
      const message = greetingThatSays([
        ...['Sam', 'Ida'].map((first_name) => ({
          given: { contact: { first_name } },
          says: `Hello ${first_name}, your appointment is tomorrow.`,
        })),
        ...[{ first_name: '' }, { first_name: null }, {}].map((contact) => ({
          given: { contact },
          says: 'Hello, your appointment is tomorrow.',
        })),
      ])
      return {
        changed: changed('agents', [agent('Appointment reminders')], () => ({
          'config.initial_message.message': message,
        })),
      }
    },
  },

  'call-again': {
    text: 'Yesterday (17 November) Recall reminders called people from our main line +1 202 555 0110. Have it call again, from the same number, those where nobody picked up and who were not reached later that day; not those who were busy, declined, or had a machine. I agree to these calls. Tell me for each number whether somebody answered this time.',
    changes: (before) => ({
      added: notReached(before, 'Recall reminders').map((to) =>
        placed(before, { agent: 'Recall reminders', to }),
      ),
    }),
    facts: (before, after) => {
      const no = /nobody|no one|not answer|no answer|not pick|n't|unanswered|unavailable/i
      return notReached(before, 'Recall reminders').map((number) =>
        after.calls.findLast(({ to_number }) => to_number === number)?.answer_status === 'human'
          ? saysOfNumber(number, /answered|picked up|reached|yes|human|person/i, no)
          : saysOfNumber(number, no),
      )
    },
  },

  'unanswered-numbers': {
    text: 'Which of our phone numbers, those of the branches included, are answered by no agent? One line for each: the name of the number, the number itself, and whose it is: ours or which branch.',
    facts: ({ phone_numbers, rootId, accountName }) => {
      const nobody = phone_numbers.filter(({ inbound_agent_id }) => inbound_agent_id === null)
      return [
        telephonesExactly(nobody.map(({ number }) => number)),
        ...nobody
          .filter(({ account_id }) => account_id !== rootId)
          .map(({ friendly_name, account_id }) =>
            says(friendly_name ?? '', new RegExp(accountName(account_id).split(' ')[0] ?? '')),
          ),
      ]
    },
  },

  'recording-off': {
    text: 'Our agents with the tag de, those of the branches included, must not record calls any more. Switch recording off for all of them, and change nothing else.',
    changes: ({ tagged }) => ({
      changed: changed('agents', tagged('de'), () => ({
        'config.capture_settings.recording_enabled': false,
      })),
    }),
  },

  'fastest-model': {
    text: 'Customer survey answers too slowly. Of all language models that we can choose from, which has the best rating for latency? Switch the agent to it, and leave its temperature as it is. Tell me the model, and what it costs extra a minute.',
    changes: ({ agent }) => ({
      changed: changed('agents', [agent('Customer survey')], () => ({
        'config.model.provider': 'groq',
        'config.model.model': 'llama-3.3-70b-versatile',
      })),
    }),
    facts: () => [mentions(/llama[- ]?3\.3/i), mentions(/\b0\b|nothing|no extra|free|zero/i)],
  },
} satisfies Readonly<Record<string, JobSpec>>
