import { voicesOf } from '../../../../src/sandbox/voices.ts'
import {
  counts,
  countsNothingOf,
  mentions,
  namesExactly,
  says,
  saysOfNumber,
  telephonesExactly,
} from '../answers.ts'
import { Fits } from '../changes.ts'
import { companyOf, contactOf, period, usageByAgent, within } from '../company.ts'
import type { Job } from '../job.ts'
import type { State } from '../state.ts'
import { accountNamed, greetingThatSays, placed, sameSet } from './expected.ts'

const dozen = 'second'
const lastWeek = period('2026-11-09', '2026-11-16')

const twoBranches: Job = {
  name: 'two-branches',
  dozen,
  text: 'We open two branches. Make the subaccounts "Cologne branch" and "Dresden branch". Each gets an agent that is set up exactly like our Reception: "Reception Cologne" in the one, "Reception Dresden" in the other.',
  changes: (before) => {
    const { agent, rootId } = companyOf(before)
    const { config } = agent('Reception')
    return {
      added: ['Cologne', 'Dresden'].flatMap((city) => [
        {
          table: 'accounts' as const,
          about: `${city} branch`,
          row: { name: `${city} branch`, parent_id: rootId, is_active: 1 },
        },
        {
          table: 'agents' as const,
          about: `Reception ${city}`,
          row: {
            account_id: accountNamed(`${city} branch`),
            is_archived: 0,
            config: { ...config, name: `Reception ${city}` },
          },
        },
      ]),
    }
  },
}

const voiceProviders = ['elevenlabs', 'azure', 'cartesia']

const voicesEverywhere: Job = {
  name: 'voices-everywhere',
  dozen,
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
}

const retagFifteen: Job = {
  name: 'retag-fifteen',
  dozen,
  text: 'A new quarter has begun: all agents with the tag q3 should have the tag q4 instead. They keep their other tags.',
  changes: (before) => ({
    changed: companyOf(before)
      .tagged('q3')
      .map(({ id, config: { tags } }) => {
        const wanted = [...tags.filter((tag) => tag !== 'q3'), 'q4']
        return {
          table: 'agents',
          id,
          set: { 'config.tags': new Fits(wanted.join(), (now) => sameSet(now, wanted)) },
        }
      }),
  }),
}

const failedByReason: Job = {
  name: 'failed-by-reason',
  dozen,
  text: 'How many calls of our main account, without the branches, failed last week (Monday 9 to Sunday 15 November, UTC), and why? One line for each reason: "nobody answered", "busy" and "declined", each with the number.',
  facts: (before) => {
    const { rootId } = companyOf(before)
    const failed = before.calls
      .filter(within(lastWeek))
      .filter(({ account_id, outcome }) => account_id === rootId && outcome === 'failed')
    const count = (status: string) => ({
      value: failed.filter(({ answer_status }) => answer_status === status).length,
    })
    return [
      counts('nobody answered', [count('user_unavailable')], []),
      counts('busy', [count('user_busy')], []),
      counts('declined', [count('user_rejected')], []),
    ]
  },
}

const lastWords: Job = {
  name: 'last-words',
  dozen,
  text: 'Have Customer survey call +1 202 555 0109 from our sales line +1 202 555 0111; I agree to the call. Wait until it is over, then tell me word for word the last thing that the person said.',
  changes: (before) => ({
    added: [placed(before, { agent: 'Customer survey', to: '+12025550109', from: '+12025550111' })],
  }),
  facts: () => [mentions(/sorry\W+wrong number/i)],
}

const readiness: Job = {
  name: 'readiness',
  dozen,
  text: 'Could Sales outreach call +49 30 23125555 from our "Inbound line" right now? Do not call. Tell me everything that is in the way or would go wrong.',
  facts: () => [
    mentions(/terminat|dial out|outgoing|outbound|inbound[- ]only/i),
    mentions('offer_name'),
    mentions(/\b(?:no|not|cannot|can.t|couldn.t)\b/i),
  ],
}

const usageCompared: Job = {
  name: 'usage-compared',
  dozen,
  text: 'Compare our completed conversations of the week from Monday 2 to Sunday 8 November with those of the week from Monday 9 to Sunday 15 November (UTC), branches included. One line for each agent: name, conversations in the earlier week, conversations in the later week. Then, in a last line that begins with "Grew most:", the agent that gained most.',
  facts: (before) => {
    const earlier = usageByAgent(before, period('2026-11-02', '2026-11-09'))
    const later = usageByAgent(before, lastWeek)
    const { agentNames } = companyOf(before)
    const change = (name: string) => (later.get(name)?.calls ?? 0) - (earlier.get(name)?.calls ?? 0)
    const used = [...new Set([...earlier.keys(), ...later.keys()])]
    const [max = ''] = used.toSorted((a, b) => change(b) - change(a))
    const first = (answer: string) => answer.replaceAll(/^.*grew most.*$/gim, '')
    const compared = used.map((name) =>
      counts(
        name,
        [{ value: earlier.get(name)?.calls ?? 0 }, { value: later.get(name)?.calls ?? 0 }],
        agentNames,
      ),
    )
    return [
      ...compared.map((fact) => (answer: string) => fact(first(answer))),
      ...countsNothingOf(
        agentNames.filter((name) => !used.includes(name)),
        agentNames,
      ),
      (answer: string) => {
        const [, named = ''] = /grew most\W*(.*)$/im.exec(answer) ?? []
        return namesExactly([max], used)(named)
      },
    ]
  },
}

const conditionalGreeting: Job = {
  name: 'conditional-greeting',
  dozen,
  text: 'Change the greeting of our agent Appointment reminders: where the first name of the contact is known it says "Hello Sam, your appointment is tomorrow." (with that name), otherwise "Hello, your appointment is tomorrow."',
  changes: (before) => {
    const named = (name: string) => ({
      given: { contact: { first_name: name } },
      says: `Hello ${name}, your appointment is tomorrow.`,
    })
    const says = 'Hello, your appointment is tomorrow.'
    const nameless = [
      { contact: { first_name: '' } },
      { contact: { first_name: null } },
      { contact: {} },
    ]
    return {
      changed: [
        {
          table: 'agents',
          id: companyOf(before).agent('Appointment reminders').id,
          set: {
            'config.initial_message.message': greetingThatSays([
              named('Sam'),
              named('Ida'),
              ...nameless.map((given) => ({ given, says })),
            ]),
          },
        },
      ],
    }
  },
}

/** Whom an agent called yesterday in vain, and did not reach later. */
function notReached(before: State, agent: string): string[] {
  const calls = before.calls
    .filter(within(period('2026-11-17', '2026-11-18')))
    .filter(({ agent_name }) => agent_name === agent)
  const reached = new Set(
    calls.filter(({ answer_status }) => answer_status === 'human').map(contactOf),
  )
  const missed = calls
    .filter(({ answer_status }) => answer_status === 'user_unavailable')
    .flatMap((call) => contactOf(call) ?? [])
  return [...new Set(missed)].filter((contact) => !reached.has(contact))
}

const callAgain: Job = {
  name: 'call-again',
  dozen,
  text: 'Yesterday (17 November) Recall reminders called people from our main line +1 202 555 0110. Have it call again, from the same number, those where nobody picked up and who were not reached later that day; not those who were busy, declined, or had a machine. I agree to these calls. Tell me for each number whether somebody answered this time.',
  changes: (before) => ({
    added: notReached(before, 'Recall reminders').map((to) =>
      placed(before, { agent: 'Recall reminders', to }),
    ),
  }),
  facts: (before, after) => {
    const numbers = notReached(before, 'Recall reminders')
    const statusOf = (to: string) =>
      after.calls.findLast(({ to_number }) => to_number === to)?.answer_status
    const no = /nobody|no one|not answer|no answer|not pick|n't|unanswered|unavailable/i
    return [
      ...numbers.map((number) =>
        statusOf(number) === 'human'
          ? saysOfNumber(number, /answered|picked up|reached|yes|human|person/i, no)
          : saysOfNumber(number, no),
      ),
    ]
  },
}

const unansweredNumbers: Job = {
  name: 'unanswered-numbers',
  dozen,
  text: 'Which of our phone numbers, those of the branches included, are answered by no agent? One line for each: the name of the number, the number itself, and whose it is: ours or which branch.',
  facts: (before) => {
    const nobody = before.phone_numbers.filter(({ inbound_agent_id }) => inbound_agent_id === null)
    const accountOf = (id: string) => before.accounts.find((account) => account.id === id)?.name
    return [
      telephonesExactly(nobody.map(({ number }) => number)),
      ...nobody
        .filter(({ account_id }) => account_id !== companyOf(before).rootId)
        .map(({ friendly_name, account_id }) =>
          says(friendly_name ?? '', new RegExp((accountOf(account_id) ?? '').split(' ')[0] ?? '')),
        ),
    ]
  },
}

const recordingOff: Job = {
  name: 'recording-off',
  dozen,
  text: 'Our agents with the tag de, those of the branches included, must not record calls any more. Switch recording off for all of them, and change nothing else.',
  changes: (before) => ({
    changed: companyOf(before)
      .tagged('de')
      .map(({ id }) => ({
        table: 'agents',
        id,
        set: { 'config.capture_settings.recording_enabled': false },
      })),
  }),
}

const fastestModel: Job = {
  name: 'fastest-model',
  dozen,
  text: 'Customer survey answers too slowly. Of all language models that we can choose from, which has the best rating for latency? Switch the agent to it, and leave its temperature as it is. Tell me the model, and what it costs extra a minute.',
  changes: (before) => ({
    changed: [
      {
        table: 'agents',
        id: companyOf(before).agent('Customer survey').id,
        set: { 'config.model.provider': 'groq', 'config.model.model': 'llama-3.3-70b-versatile' },
      },
    ],
  }),
  facts: () => [mentions(/llama[- ]?3\.3/i), mentions(/\b0\b|nothing|no extra|free|zero/i)],
}

/** Twelve more: larger ones, and those that take several steps. */
export const secondDozen: readonly Job[] = [
  twoBranches,
  voicesEverywhere,
  retagFifteen,
  failedByReason,
  lastWords,
  readiness,
  usageCompared,
  conditionalGreeting,
  callAgain,
  unansweredNumbers,
  recordingOff,
  fastestModel,
]
