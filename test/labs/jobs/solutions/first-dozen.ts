import { ok } from 'node:assert/strict'
import * as z from 'zod'
import type { firstDozen } from '../dozens/first-everyday-jobs.ts'
import { callsTo, lastWeek, outcomeOf, type Solution } from './assistant.ts'

export const firstSolutions: Readonly<Record<keyof typeof firstDozen, Solution>> = {
  'create-agent': async (assistant) => {
    const voices = await assistant.list('list_voices', {
      provider: 'elevenlabs',
      language: 'en-gb',
      gender: 'female',
    })
    const voice = voices.find(({ description }) => description?.includes('reception'))
    return assistant.text('create_agent', {
      name: 'Billing helpline',
      tags: ['billing', 'en'],
      model: { provider: 'openai', model: 'gpt-4.1' },
      transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: ['en-gb'] },
      voice: { provider: 'elevenlabs', voice_id: voice?.id, language: 'en-gb' },
      allow_auto_hangup: true,
      max_duration_seconds: 600,
      initial_message: {
        message:
          'Hello {{ contact.first_name }}, this is the billing helpline of Northwind. How can I help?',
      },
    })
  },

  'change-greeting': (assistant) =>
    assistant.text('update_agent', {
      agent_id: 'Reception',
      initial_message: { message: 'Welcome to Northwind Dental. What may I do for you today?' },
    }),

  'tag-and-speed': (assistant) =>
    assistant.text('update_agent', {
      with_tag: 'reminder',
      add_tags: ['priority'],
      voice: { settings: { speed: 1.1 } },
    }),

  'move-numbers': async (assistant) => {
    await assistant.text('update_phone_number', {
      where: { sip_trunk_id: 'Old carrier' },
      sip_trunk_id: 'New carrier',
    })
    return assistant.agreed('delete_sip_trunk', { sip_trunk_id: 'Old carrier' })
  },

  'call-three': async (assistant) => {
    const people = { Anna: '+12025550100', Ben: '+12025550103', Clara: '+12025550104' }
    const text = await assistant.agreed('place_calls', {
      agent_id: 'Recall reminders',
      from_number: '+12025550110',
      calls: callsTo(people),
      follow: true,
    })
    return Object.entries(people)
      .map(([name, number]) => `${name}: ${outcomeOf(number, text)}`)
      .join('\n')
  },

  'usage-per-agent': async (assistant) => {
    const text = await assistant.text('get_usage', {
      start: '2026-10-01T00:00:00Z',
      end: '2026-11-01T00:00:00Z',
      granularity: 'total',
      group_by: ['agent'],
    })
    // "- Reception (id): 209.0 min (12540 s), 60; 29.2 %"
    return [...text.matchAll(/^- (.+) \(.+?\): ([\d.]+) min \(\d+ s\), (\d+)/gm)]
      .map(
        ([, name, minutes, conversations]) =>
          `${name}: ${conversations}, ${Math.round(Number(minutes))}`,
      )
      .join('\n')
  },

  'find-transferred': async (assistant) => {
    const args = { ...lastWeek, status: 'transferred' }
    const items = await assistant.list('list_conversations', args)
    return items
      .map(
        (one) => `${one.start_timestamp?.slice(0, 10)}, ${one.agent_name}, ${one.contact_number}`,
      )
      .join('\n')
  },

  'copy-to-branch': async (assistant) => {
    await assistant.text('create_subaccount', { name: 'Leipzig branch' })
    return assistant.text('copy_agent', {
      agent_id: 'Support line',
      name: 'Support line Leipzig',
      to_account_id: 'Leipzig branch',
    })
  },

  'archive-some': async (assistant) => {
    const text = await assistant.agreed('archive_agent', {
      with_tag: 'campaign-spring',
      unused_only: true,
    })
    return text.split('\n').find((line) => line.startsWith('In use')) ?? ''
  },

  'repair-template': async (assistant) => {
    const agent_id = 'Payment reminders'
    const checked = await assistant.text('validate_agent_template', { agent_id })
    const [, repaired] = /to save: (".*")$/m.exec(checked) ?? []
    ok(repaired, checked)
    const message = z.string().parse(JSON.parse(repaired))
    return assistant.text('update_agent', { agent_id, initial_message: { message } })
  },

  'who-answers': (assistant) =>
    assistant.text('update_phone_number', {
      phone_number_id: 'Hotline south',
      inbound_agent_id: 'Support line Spanish',
    }),

  'week-by-day': async (assistant) => {
    const text = await assistant.text('get_usage', {
      start: '2026-11-09T00:00:00+01:00',
      end: '2026-11-16T00:00:00+01:00',
      tz: 'Europe/Berlin',
    })
    // "Mon 2026-11-09: 18.3 min (1098 s), 5" or "Sun 2026-11-15: none"
    return [...text.matchAll(/^(\w+) [\d-]+: (?:.*, (\d+)|none)$/gm)]
      .map(([, weekday, conversations = 'none']) => `${weekday}: ${conversations}`)
      .join('\n')
  },
}
