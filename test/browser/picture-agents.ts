import { json, startFakePlatform } from '../harness/fake-platform.ts'

/* Platforms with made-up voices and agents, for the pictures of their views. */

const account = '00000000-0000-4000-8001-000000000001'

const voice = (name: string, language: string, gender: string, description: string) => ({
  ...{ id: `${language}-${name.toLowerCase()}`, name, language, gender, description },
  preview_url: `https://samples.example/${name.toLowerCase()}.mp3`,
})

const voices: Readonly<Record<string, readonly object[]>> = {
  elevenlabs: [
    voice('Ada', 'en-us', 'female', 'Warm and clear, for support.'),
    voice('Oliver', 'en-gb', 'male', 'Measured, for banking.'),
  ],
  cartesia: [
    voice('Lena', 'de-de', 'female', 'Natural, for support.'),
    voice('Sage', 'en-us', 'neutral', 'Composed, for assistants.'),
  ],
  azure: [
    voice('Denise', 'fr-fr', 'female', 'Bright, for reservations.'),
    voice('Ryan', 'en-gb', 'male', 'Clear, for support.'),
  ],
}

export async function voiceCatalogue() {
  const platform = await startFakePlatform(
    ({ url }, response) => {
      const provider = new URL(url, 'http://platform').searchParams.get('provider') ?? ''
      json(response, 200, { provider, voices: voices[provider] ?? [] })
    },
    { account },
  )
  return Object.assign(platform, { call: { tool: 'list_voices', args: {} } })
}

const noVariables = { variables: [], unknown_variables: [] }

const agent = {
  id: 'agent-1',
  account_id: account,
  name: 'Front desk',
  tags: ['dental', 'pilot'],
  model: { provider: 'openai', model: 'gpt-4.1' },
  transcriber: { provider: 'deepgram', model: 'nova-2', languages: ['en-us'] },
  voice: { provider: 'elevenlabs', voice_id: 'en-us-ada' },
  max_duration_seconds: 1200,
  initial_message: {
    message: 'Good morning, Elm Street Dental. How can I help you?',
    mode: 'fixed_message',
  },
  capture_settings: { recording_enabled: true },
  created: '2026-09-02T08:00:00Z',
  modified: '2026-11-02T08:00:00Z',
}

export async function changedAgent() {
  const args = {
    agent_id: agent.id,
    initial_message: {
      message: 'Good morning, this is Elm Street Dental on a recorded line. How can I help you?',
    },
    add_tags: ['live'],
    remove_tags: ['pilot'],
    max_duration_seconds: 600,
  }
  const after = {
    ...agent,
    initial_message: { ...agent.initial_message, ...args.initial_message },
    tags: ['dental', 'live'],
    max_duration_seconds: 600,
    modified: '2026-11-20T09:30:00Z',
  }
  const platform = await startFakePlatform(
    ({ method, url }, response) => {
      if (url.endsWith('/validate-template'))
        json(response, 200, { ...{ valid: true, errors: [], warnings: [] }, ...noVariables })
      else if (!url.endsWith(agent.id)) json(response, 200, { count: 1, items: [agent] })
      else json(response, 200, method === 'PATCH' ? after : agent)
    },
    { account },
  )
  return Object.assign(platform, { call: { tool: 'update_agent', args } })
}
