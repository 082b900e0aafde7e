import { ok } from 'node:assert/strict'
import * as z from 'zod'
import type { Assistant, Way } from './assistant.ts'
import { Agents, Conversations, Numbers, Usage, Voices } from './results.ts'

const createAgent: Way = async (assistant) => {
  const { voices } = await assistant.read(Voices, 'list_voices', {
    provider: 'elevenlabs',
    language: 'en-gb',
    gender: 'female',
  })
  const voice = voices.find(({ description }) => description.includes('reception'))
  return assistant.text('create_agent', {
    name: 'Billing helpline',
    tags: ['billing', 'en'],
    model: { provider: 'openai', model: 'gpt-4.1' },
    transcriber: { provider: 'deepgram', model: 'nova-2', languages: ['en-gb'] },
    voice: { provider: 'elevenlabs', voice_id: voice?.id, language: 'en-gb' },
    allow_auto_hangup: true,
    max_duration_seconds: 600,
    initial_message: {
      message:
        'Hello {{ contact.first_name }}, this is the billing helpline of Northwind. How can I help?',
    },
  })
}

const changeGreeting: Way = (assistant) =>
  assistant.text('update_agent', {
    agent_id: 'Reception',
    initial_message: { message: 'Welcome to Northwind Dental. What may I do for you today?' },
  })

const tagAndSpeed: Way = (assistant) =>
  assistant.text('update_agent', {
    with_tag: 'reminder',
    add_tags: ['priority'],
    voice: { settings: { speed: 1.1 } },
  })

const moveNumbers: Way = async (assistant) => {
  const { items } = await assistant.read(Numbers, 'list_phone_numbers')
  for (const { number, sip_trunk } of items) {
    if (sip_trunk?.name !== 'Old carrier') continue
    await assistant.text('update_phone_number', {
      phone_number_id: number,
      sip_trunk_id: 'New carrier',
    })
  }
  return assistant.agreed('delete_sip_trunk', { sip_trunk_id: 'Old carrier' })
}

const Placed = z.looseObject({ call_id: z.string() })

const callThree: Way = async (assistant) => {
  const people = { Anna: '+12025550100', Ben: '+12025550103', Clara: '+12025550104' }
  const placed = await assistant.agreed('place_calls', {
    agent_id: 'Recall reminders',
    from_number: '+12025550110',
    calls: Object.entries(people).map(([first_name, to_number]) => ({
      to_number,
      test_variables: { contact: { first_name } },
    })),
  })
  const ids = placed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => Placed.parse(JSON.parse(line)).call_id)
  const lines: string[] = []
  for (const [index, name] of Object.keys(people).entries()) {
    const text = await assistant.text('wait_for_call', { call_id: ids[index] })
    lines.push(`${name}: ${howItWent(text)}`)
  }
  return lines.join('\n')
}

/** How a call went, in the words of a person. */
export function howItWent(text: string): string {
  if (text.includes('(human)')) return 'a person answered'
  return text.includes('(machine)') ? 'a machine answered' : 'nobody answered'
}

/** The names of all agents by their ids. */
export async function agentNames(assistant: Assistant): Promise<Map<string, string>> {
  const args = { include_subaccounts: true, fields: ['name'], limit: 100 }
  const { items } = await assistant.read(Agents, 'list_agents', args)
  return new Map(items.map(({ id, name }) => [id, name]))
}

const usagePerAgent: Way = async (assistant) => {
  const { data } = await assistant.read(Usage, 'get_usage', {
    start: '2026-10-01T00:00:00Z',
    end: '2026-11-01T00:00:00Z',
    granularity: 'month',
    group_by: ['agent'],
  })
  const names = await agentNames(assistant)
  return data
    .flatMap(({ values }) => values)
    .map(({ conversations, seconds, dimensions }) => {
      const name = names.get(dimensions?.agent ?? '')
      return `${name}: ${conversations}, ${Math.round(seconds / 60)}`
    })
    .join('\n')
}

const findTransferred: Way = async (assistant) => {
  const { items } = await assistant.read(Conversations, 'list_conversations', {
    status: 'transferred',
    created_after: '2026-11-09T00:00:00Z',
    created_before: '2026-11-16T00:00:00Z',
  })
  return items
    .map((one) => `${one.start_timestamp.slice(0, 10)}, ${one.agent_name}, ${one.contact_number}`)
    .join('\n')
}

const Agent = z.looseObject({ id: z.string() })

const copyToBranch: Way = async (assistant) => {
  await assistant.text('create_subaccount', { name: 'Leipzig branch' })
  const { account_id, id, created, modified, is_archived, ...agent } = await assistant.read(
    Agent,
    'get_agent',
    { agent_id: 'Support line' },
  )
  return assistant.text('create_agent', {
    ...agent,
    name: 'Support line Leipzig',
    account_id: 'Leipzig branch',
  })
}

const archiveSome: Way = async (assistant) => {
  const tags = ['campaign-spring']
  const { items } = await assistant.read(Agents, 'list_agents', { tags })
  const numbers = await assistant.read(Numbers, 'list_phone_numbers')
  const left = items.flatMap(({ id, name }) => {
    const number = numbers.items.find(({ inbound_agent }) => inbound_agent?.id === id)
    return number ? [{ id, name, number }] : []
  })
  for (const { id } of items) {
    if (left.every((agent) => agent.id !== id))
      await assistant.text('archive_agent', { agent_id: id })
  }
  return left.map(({ name, number }) => `${name} answers ${number.friendly_name}.`).join('\n')
}

const Greeting = z.looseObject({ initial_message: z.looseObject({ message: z.string() }) })

const repairTemplate: Way = async (assistant) => {
  const agent_id = 'Payment reminders'
  const { initial_message } = await assistant.read(Greeting, 'get_agent', { agent_id })
  const repaired = initial_message.message
    .replace('contact.first_name }', 'contact.first_name }}')
    .replace('endfi', 'endif')
  return assistant.text('update_agent', { agent_id, initial_message: { message: repaired } })
}

const whoAnswers: Way = (assistant) =>
  assistant.text('update_phone_number', {
    phone_number_id: 'Hotline south',
    inbound_agent_id: 'Support line Spanish',
  })

const weekByDay: Way = async (assistant) => {
  const { data } = await assistant.read(Usage, 'get_usage', {
    start: '2026-11-09T00:00:00+01:00',
    end: '2026-11-16T00:00:00+01:00',
    tz: 'Europe/Berlin',
  })
  const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'Europe/Berlin' })
  ok(data.length === 7)
  return data
    .map(({ ts, values }) => `${weekday.format(new Date(ts))}: ${values[0]?.conversations}`)
    .join('\n')
}

export const firstWays: Readonly<Record<string, Way>> = {
  'create-agent': createAgent,
  'change-greeting': changeGreeting,
  'tag-and-speed': tagAndSpeed,
  'move-numbers': moveNumbers,
  'call-three': callThree,
  'usage-per-agent': usagePerAgent,
  'find-transferred': findTransferred,
  'copy-to-branch': copyToBranch,
  'archive-some': archiveSome,
  'repair-template': repairTemplate,
  'who-answers': whoAnswers,
  'week-by-day': weekByDay,
}
