import type { Agent, AgentCreate } from '../agent.ts'
import { type Examples, exampleIds, exampleTimes, pageWith } from './ids.ts'

const newAgent: AgentCreate & { name: string; tags: string[] } = {
  name: 'Support line',
  tags: ['support', 'en'],
  model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
  transcriber: { provider: 'deepgram', model: 'nova-2', languages: ['en-us'] },
  voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada', settings: { speed: 1 } },
  max_duration_seconds: 1200,
  initial_message: { message: 'Hello {{ contact.first_name }}, how can I help you?' },
}
const agent: Agent = {
  id: exampleIds.agent,
  account_id: exampleIds.account,
  note: null,
  metadata: {},
  allow_auto_hangup: false,
  allow_caller_recording_opt_out: false,
  ...newAgent,
  initial_message: {
    ...newAgent.initial_message,
    mode: 'fixed_message',
    delay_ms: 0,
    interruptible: false,
  },
  volume: { web: 0.5, telephony: 0.5, allow_adjustment: true },
  denoising: { web: true, telephony: true },
  is_archived: false,
  ...exampleTimes,
}

export const exampleAgent = { name: newAgent.name, tags: newAgent.tags }

export const agentExamples: Examples = {
  'agents.one': agent,
  'agents.page': pageWith(agent),
  'agents.create.body': newAgent,
  'agents.update.body': { note: null, voice: { settings: { speed: 1 } }, denoising: { web: true } },
}
