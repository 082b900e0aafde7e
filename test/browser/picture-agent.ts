import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

const noVariables = { variables: [], unknown_variables: [] }

const agent = {
  id: '6f1c2d34-8a5b-4c6d-9e7f-0a1b2c3d4e5f',
  account_id: pictureAccount,
  name: 'Front desk',
  tags: ['dental', 'pilot'],
  note: 'Opening hours are in the knowledge base. Ask Marta before you change the greeting.',
  model: { provider: 'openai', model: 'gpt-4.1-mini', temperature: 0.4, max_tokens: null },
  transcriber: {
    provider: 'deepgram',
    model: 'nova-2',
    languages: ['en-us'],
    keywords: ['Elm Street'],
  },
  voice: {
    provider: 'elevenlabs',
    voice_id: 'pMsXgVXv3BLzUgSXRplE',
    settings: { stability: 0.5, similarity_boost: 0.75, speed: 1.1 },
  },
  allow_auto_hangup: true,
  max_duration_seconds: 1500,
  initial_message: {
    message: 'Good morning {{ contact.first_name }}, Elm Street Dental. How can I help you?',
    mode: 'fixed_message',
    delay_ms: 0,
    interruptible: true,
  },
  ambient_sound: { source: 'open_plan_office', volume: 0.5 },
  inactivity_settings: {
    reminder_timeout_ms: 10000,
    reminder_max_count: 2,
    end_call_timeout_ms: 90000,
    reset_on_activity: true,
  },
  response_timing: { min_endpointing_delay_seconds: 0.1 },
  interrupt_settings: { enabled: true, min_words: 2, min_speech_seconds: 0.2 },
  capture_settings: { recording_enabled: true },
  volume: { web: 0.5, telephony: 0.8, allow_adjustment: true },
  denoising: { web: true, telephony: true },
  metadata: { crm: 'hubspot', location: 'Elm Street' },
  created: '2026-09-02T08:00:00Z',
  modified: '2026-11-02T08:00:00Z',
}

type Fields = Readonly<Record<string, unknown>>

const number = (at: number, answers: string) => ({
  ...{ id: `number-${at}`, number: `+1202555011${at}`, friendly_name: null },
  inbound_agent: { id: answers, name: null },
})
const voice = {
  ...{ id: agent.voice.voice_id, name: 'Iris', language: 'en-us', gender: 'female' },
  preview_url: 'https://samples.example/iris.mp3',
}

/** A fake platform with these agents, and with the phone numbers and the voice of the first. */
async function platformOf(agents: readonly Fields[], call: { tool: string; args: Fields }) {
  const stored = new Map(agents.map((one) => [String(one.id), one]))
  const platform = await startFakePlatform(
    ({ method, url, body }, response) => {
      const path = new URL(url, 'http://platform').pathname
      const found = stored.get(path.split('/').at(-1) ?? '')
      if (path.endsWith('/validate-template'))
        json(response, 200, { ...{ valid: true, errors: [], warnings: [] }, ...noVariables })
      else if (path.endsWith('/phone-numbers'))
        json(response, 200, {
          count: 3,
          items: [number(0, agent.id), number(1, agent.id), number(2, 'another')],
        })
      else if (path.endsWith('/voices'))
        json(response, 200, { provider: 'elevenlabs', voices: [voice] })
      else if (path.endsWith('/agents'))
        json(response, 200, { count: agents.length, items: agents })
      else if (!found) json(response, 404, envelope('not_found', 'No such agent.'))
      else json(response, 200, method === 'PATCH' ? patched(found, JSON.parse(body)) : found)
    },
    { account: pictureAccount },
  )
  return Object.assign(platform, { call })
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Merges a PATCH as the platform does: objects one level deep. */
const patched = (before: Fields, patch: Fields): Fields => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(patch).map(([name, value]) => {
      const old = before[name]
      return [name, isFields(value) && isFields(old) ? { ...old, ...value } : value]
    }),
  ),
  modified: '2026-11-20T09:30:00Z',
})

const updateOf = (changes: Fields, stored: Fields = agent) =>
  platformOf([stored], { tool: 'update_agent', args: { agent_id: agent.id, ...changes } })

const changed = () =>
  updateOf({
    initial_message: {
      message:
        'Good morning {{ contact.first_name }}, this is Elm Street Dental on a recorded line. How can I help you?',
    },
    add_tags: ['live'],
    remove_tags: ['pilot'],
    max_duration_seconds: 600,
    voice: { settings: { speed: 1.2 } },
  })

const lines = [
  'The practice is open from eight to six on weekdays.',
  'On Saturdays it is open until noon.',
  'New patients bring their insurance card and a list of medicines.',
  'Parking is behind the building, and the entrance is on Elm Street.',
  'Children under twelve need an adult with them.',
  'Prescriptions are renewed within two days.',
  'Emergencies are put through to Dr. Ortega at any time.',
  'Complaints go to the office manager, who calls back on the same day.',
]

/** An update that changes one sentence of a long note, and replaces the greeting. */
const rewritten = () =>
  updateOf(
    {
      note: lines.join(' ').replace('two days', 'three working days'),
      initial_message: { message: 'Hi! You have reached the dental practice on Elm Street.' },
      dry_run: true,
    },
    { ...agent, note: lines.join(' ') },
  )

const many = (more: Fields) => {
  const names = ['Front desk', 'Reservations', 'Terminservice', 'Night line', 'Reminders']
  const agents = names.map((name, at) => ({
    ...agent,
    ...{ id: `agent-${at + 1}`, name, max_duration_seconds: at === 3 ? 900 : 1200 },
  }))
  return platformOf(agents, {
    tool: 'update_agent',
    args: {
      agent_ids: [...agents.map(({ id }) => id), 'Front office'],
      max_duration_seconds: 900,
      ...more,
    },
  })
}

/** An agent whose texts are hard to lay out: long words, right-to-left text, a template. */
const hard = {
  ...{ id: agent.id, name: 'Kraftfahrzeughaftpflichtversicherungsberatung' },
  ...{ tags: ['Rechtsschutzversicherungsgesellschaften', 'عربي'], is_archived: true },
  note: `${lines.join(' ')} ${lines.join(' ')}`,
  model: { provider: 'anthropic', model: 'claude-sonnet-4-5-20250929' },
  transcriber: { provider: 'deepgram', languages: ['de-de', 'ar-sa', 'en-gb'] },
  voice: { provider: 'azure', voice_id: 'de-DE-SeraphinaMultilingualNeural' },
  initial_message: {
    message: 'مرحبا {{ contact.first_name }}، كيف يمكنني مساعدتك اليوم؟',
    mode: 'dynamic_message',
  },
  ambient_sound: { source: null },
  metadata: { kundennummernverwaltungssystem: { vertragsart: 'Haftpflicht', aktiv: true } },
}

export const agentPictures: readonly Picture[] = [
  { name: 'agent', open: changed, ready: '.changes' },
  {
    name: 'agent-whole',
    open: () => platformOf([agent], { tool: 'get_agent', args: { agent_id: agent.id } }),
    ready: '#sample',
  },
  {
    name: 'agent-hard',
    open: () => platformOf([hard], { tool: 'get_agent', args: { agent_id: agent.id } }),
    ready: '.facts',
  },
  { name: 'agent-rewritten', open: rewritten, ready: '.changes' },
  { name: 'agent-many', open: () => many({}), ready: '.outcome' },
  { name: 'agent-many-dry-run', open: () => many({ dry_run: true }), ready: '#save' },
]
