import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

const noVariables = { variables: [], unknown_variables: [] }

const agent = {
  id: 'agent-1',
  account_id: pictureAccount,
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

async function changedAgent() {
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
    { account: pictureAccount },
  )
  return Object.assign(platform, { call: { tool: 'update_agent', args } })
}

export const agentPictures: readonly Picture[] = [
  { name: 'agent', open: changedAgent, ready: '.changes' },
]
