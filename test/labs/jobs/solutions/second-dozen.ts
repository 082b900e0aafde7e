import { ok } from 'node:assert/strict'
import * as z from 'zod'
import type { secondDozen } from '../dozens/second-larger-jobs.ts'
import { days, lastWeek, outcomeOf, type Solution } from './assistant.ts'

const CallCounts = z.looseObject({ by_answer_status: z.record(z.string(), z.int()) })

export const secondSolutions: Readonly<Record<keyof typeof secondDozen, Solution>> = {
  'two-branches': async (assistant) => {
    for (const city of ['Cologne', 'Dresden']) {
      await assistant.text('create_subaccount', { name: `${city} branch` })
      await assistant.text('copy_agent', {
        agent_id: 'Reception',
        name: `Reception ${city}`,
        to_account_id: `${city} branch`,
      })
    }
    return 'Done.'
  },

  'voices-everywhere': async (assistant) => {
    const args = { language: 'de-de', gender: 'female' }
    const voices = await assistant.list('list_voices', args)
    return voices
      .map(({ name, provider, description }) => `${name}, ${provider}: ${description}`)
      .join('\n')
  },

  'retag-fifteen': (assistant) =>
    assistant.text('update_agent', { with_tag: 'q3', add_tags: ['q4'], remove_tags: ['q3'] }),

  'failed-by-reason': async (assistant) => {
    const text = await assistant.text('list_calls', { ...lastWeek, status: 'failed', limit: 1 })
    const { by_answer_status: count } = CallCounts.parse(JSON.parse(text))
    return [
      `nobody answered: ${count.user_unavailable}`,
      `busy: ${count.user_busy}`,
      `declined: ${count.user_rejected}`,
    ].join('\n')
  },

  'last-words': async (assistant) => {
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
  },

  readiness: (assistant) =>
    assistant.text('check_call_readiness', {
      agent_id: 'Sales outreach',
      from_number: '+12025550118',
      to_number: '+493023125555',
    }),

  'usage-compared': async (assistant) => {
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
  },

  'conditional-greeting': (assistant) =>
    assistant.text('update_agent', {
      agent_id: 'Appointment reminders',
      initial_message: {
        message:
          'Hello{% if contact.first_name %} {{ contact.first_name }}{% endif %}, your appointment is tomorrow.',
      },
    }),

  'call-again': async (assistant) => {
    const agent_id = 'Recall reminders'
    const yesterday = { agent_id, ...days('2026-11-17', '2026-11-18') }
    const items = await assistant.list('list_calls', yesterday)
    const numbersOf = (status: string) =>
      items.flatMap((call) => (call.answer_status === status ? (call.to_number ?? []) : []))
    const reached = numbersOf('human')
    const missed = numbersOf('user_unavailable').filter((number) => !reached.includes(number))
    const text = await assistant.agreed('place_calls', {
      agent_id,
      from_number: '+12025550110',
      calls: missed.map((to_number) => ({ to_number })),
      follow: true,
    })
    return missed.map((number) => `${number}: ${outcomeOf(number, text)}`).join('\n')
  },

  'unanswered-numbers': async (assistant) => {
    const args = { include_subaccounts: true, unanswered: true, limit: 100 }
    const items = await assistant.list('list_phone_numbers', args)
    return items
      .map(({ friendly_name, number, account }) => `${friendly_name}, ${number}, ${account?.name}`)
      .join('\n')
  },

  'recording-off': async (assistant) => {
    const tag = 'de'
    const args = { include_subaccounts: true, tags: [tag], limit: 100 }
    const items = await assistant.list('list_agents', args)
    for (const account_id of new Set(items.map(({ account }) => account?.id))) {
      await assistant.text('update_agent', {
        with_tag: tag,
        capture_settings: { recording_enabled: false },
        account_id,
      })
    }
    return 'Done.'
  },

  'fastest-model': async (assistant) => {
    const [fastest] = await assistant.list('list_models', { sort_by: 'latency' })
    await assistant.text('update_agent', {
      agent_id: 'Customer survey',
      model: { provider: fastest?.provider, model: fastest?.id },
    })
    return `${fastest?.name}, ${fastest?.pricing?.additional_cost_per_minute} a minute extra`
  },
}
