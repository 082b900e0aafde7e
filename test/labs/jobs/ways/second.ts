import { ok } from 'node:assert/strict'
import { Agents, CallCounts, Calls, Models, Numbers, Voices, type Way } from './assistant.ts'
import { outcomeOf } from './first.ts'

const twoBranches: Way = async (assistant) => {
  for (const city of ['Cologne', 'Dresden']) {
    await assistant.text('create_subaccount', { name: `${city} branch` })
    await assistant.text('copy_agent', {
      agent_id: 'Reception',
      name: `Reception ${city}`,
      to_account_id: `${city} branch`,
    })
  }
  return 'Done.'
}

const voicesEverywhere: Way = async (assistant) => {
  const args = { language: 'de-de', gender: 'female' }
  const { voices } = await assistant.read(Voices, 'list_voices', args)
  return voices
    .map(({ name, provider, description }) => `${name}, ${provider}: ${description}`)
    .join('\n')
}

const retagFifteen: Way = (assistant) =>
  assistant.text('update_agent', { with_tag: 'q3', add_tags: ['q4'], remove_tags: ['q3'] })

const failedByReason: Way = async (assistant) => {
  const { by_answer_status: count } = await assistant.read(CallCounts, 'list_calls', {
    status: 'failed',
    created_after: '2026-11-09T00:00:00Z',
    created_before: '2026-11-16T00:00:00Z',
    limit: 1,
  })
  return [
    `nobody answered: ${count.user_unavailable}`,
    `busy: ${count.user_busy}`,
    `declined: ${count.user_rejected}`,
  ].join('\n')
}

const lastWords: Way = async (assistant) => {
  const text = await assistant.agreed('place_call', {
    type: 'phone',
    agent_id: 'Customer survey',
    from_number: '+12025550111',
    to_number: '+12025550109',
    follow: true,
  })
  const said = [...text.matchAll(/^\d+ user: (.*)$/gm)].at(-1)?.[1]
  ok(said)
  return said
}

const readiness: Way = (assistant) =>
  assistant.text('check_call_readiness', {
    agent_id: 'Sales outreach',
    from_number: '+12025550118',
    to_number: '+493023125555',
  })

const usageCompared: Way = async (assistant) => {
  const text = await assistant.text('get_usage', {
    start: '2026-11-09T00:00:00Z',
    end: '2026-11-16T00:00:00Z',
    compare_start: '2026-11-02T00:00:00Z',
    group_by: ['agent'],
  })
  // "- Reception (id): 46.8 min (2810 s), 12; before 25.9 min (1556 s), 9; +20.9 min (+80.6 %), +3"
  const row = /^- (.+) \(.+?\): .*?s\), (\d+); before .*?s\), (\d+); .*, ([+-]?\d+)$/gm
  const rows = [...text.matchAll(row)].map(([, name, later, earlier, change]) => ({
    name,
    line: `${name}: ${earlier}, ${later}`,
    change: Number(change),
  }))
  const [fastest] = rows.toSorted((a, b) => b.change - a.change)
  return [...rows.map(({ line }) => line), `Grew most: ${fastest?.name}`].join('\n')
}

const conditionalGreeting: Way = (assistant) =>
  assistant.text('update_agent', {
    agent_id: 'Appointment reminders',
    initial_message: {
      message:
        'Hello{% if contact.first_name %} {{ contact.first_name }}{% endif %}, your appointment is tomorrow.',
    },
  })

const callAgain: Way = async (assistant) => {
  const agent_id = 'Recall reminders'
  const { items } = await assistant.read(Calls, 'list_calls', {
    agent_id,
    created_after: '2026-11-17T00:00:00Z',
    created_before: '2026-11-18T00:00:00Z',
  })
  const numbersOf = (status: string) =>
    items.filter(({ answer_status }) => answer_status === status).map((call) => call.to_number)
  const reached = numbersOf('human')
  const missed = numbersOf('user_unavailable').filter((number) => !reached.includes(number))
  const text = await assistant.agreed('place_calls', {
    agent_id,
    from_number: '+12025550110',
    calls: missed.map((to_number) => ({ to_number })),
    follow: true,
  })
  return missed.map((number) => `${number}: ${outcomeOf(number, text)}`).join('\n')
}

const unansweredNumbers: Way = async (assistant) => {
  const args = { include_subaccounts: true, unanswered: true, limit: 100 }
  const { items } = await assistant.read(Numbers, 'list_phone_numbers', args)
  return items
    .map(({ friendly_name, number, account }) => `${friendly_name}, ${number}, ${account?.name}`)
    .join('\n')
}

const recordingOff: Way = async (assistant) => {
  const tag = 'de'
  const args = { include_subaccounts: true, tags: [tag], limit: 100 }
  const { items } = await assistant.read(Agents, 'list_agents', args)
  for (const account_id of new Set(items.map(({ account }) => account?.id))) {
    await assistant.text('update_agent', {
      with_tag: tag,
      capture_settings: { recording_enabled: false },
      account_id,
    })
  }
  return 'Done.'
}

const fastestModel: Way = async (assistant) => {
  const { models } = await assistant.read(Models, 'list_models', { sort_by: 'latency' })
  const [fastest] = models
  await assistant.text('update_agent', {
    agent_id: 'Customer survey',
    model: { provider: fastest?.provider, model: fastest?.id },
  })
  return `${fastest?.name}, ${fastest?.pricing?.additional_cost_per_minute} a minute extra`
}

export const secondWays: Readonly<Record<string, Way>> = {
  'two-branches': twoBranches,
  'voices-everywhere': voicesEverywhere,
  'retag-fifteen': retagFifteen,
  'failed-by-reason': failedByReason,
  'last-words': lastWords,
  readiness,
  'usage-compared': usageCompared,
  'conditional-greeting': conditionalGreeting,
  'call-again': callAgain,
  'unanswered-numbers': unansweredNumbers,
  'recording-off': recordingOff,
  'fastest-model': fastestModel,
}
