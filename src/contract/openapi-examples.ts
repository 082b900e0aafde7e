import type { Account } from './account.ts'
import type { Agent, AgentCreate } from './agent.ts'
import type { CallCreate, CallDetail, PlacedCall } from './call.ts'
import type { Conversation } from './conversation.ts'
import { type ErrorEnvelope, type ErrorStatus, errorCodes, type FieldError } from './error.ts'
import type { PhoneNumber } from './phone-number.ts'
import type { ModelCatalog, TranscriberCatalog, Voice } from './provider.ts'
import type { SipTrunk } from './sip-trunk.ts'
import type { TemplateValidation } from './template.ts'
import type { Usage } from './usage.ts'

/*
 * The examples of the OpenAPI document: one small account, the same in every example. The ids are
 * those of a new sandbox, so an example can be sent to it as it stands; telephone numbers lie in
 * the range kept for fiction, addresses and hosts in those kept for documentation.
 */

const id = (kind: number, index: number) => `00000000-0000-4000-800${kind}-00000000000${index}`
const ids = {
  account: id(1, 1),
  subaccount: id(1, 2),
  agent: id(2, 1),
  trunk: id(3, 1),
  number: id(4, 1),
  call: id(5, 1),
}
const stamps = { created: '2026-11-02T08:30:00.000Z', modified: '2026-11-20T16:05:00.000Z' }

const account: Account = {
  id: ids.account,
  name: 'Sandbox account',
  is_active: true,
  parent_account_id: null,
  ...stamps,
}
const subaccount: Account = {
  ...account,
  id: ids.subaccount,
  name: 'Sandbox branch',
  parent_account_id: ids.account,
}

const newAgent: AgentCreate = {
  name: 'Support line',
  tags: ['support', 'en'],
  model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
  transcriber: { provider: 'deepgram', model: 'nova-2', languages: ['en-us'] },
  voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada', settings: { speed: 1 } },
  max_duration_seconds: 1200,
  initial_message: { message: 'Hello {{ contact.first_name }}, how can I help you?' },
}
const agent: Agent = {
  id: ids.agent,
  account_id: ids.account,
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
  ...stamps,
}

const line = { number: '+12025550110', name: 'Main line' }
const newLine = { number: '+12025550190', name: 'Second line' }
const phoneNumber: PhoneNumber = {
  id: ids.number,
  number: line.number,
  friendly_name: line.name,
  sip_trunk: { id: ids.trunk, name: 'Office trunk', is_managed: false },
  inbound_agent: { id: ids.agent, name: newAgent.name, avatar: null },
  spam_data: {},
  checker_data: {},
}

const newTrunk = {
  name: 'Office trunk',
  termination_uri: 'sip.example.com:5060',
  allowed_ips: ['192.0.2.10', '198.51.100.0/24'],
}
const trunk: SipTrunk = {
  id: ids.trunk,
  ...newTrunk,
  phone_numbers: [{ id: ids.number, number: line.number, friendly_name: line.name }],
  has_auth_password: false,
  auth_password_length: null,
  sip_auth_username: null,
}

const phoneCall: CallCreate = {
  type: 'phone',
  agent_id: ids.agent,
  from_number: line.number,
  to_number: '+12025550100',
  external_id: 'order-1042',
  test_variables: { 'contact.first_name': 'Sam' },
}
const webCall: CallCreate = {
  type: 'web',
  agent_id: ids.agent,
  initial_text: 'Where is my order?',
  audio_input_enabled: true,
}
const placed: PlacedCall = {
  id: ids.call,
  type: 'phone',
  status: 'in_progress',
  answer_status: 'waiting',
  direction: 'outbound',
  agent_id: ids.agent,
  agent_name: newAgent.name,
  from_number: line.number,
  to_number: '+12025550100',
  external_id: 'order-1042',
  started_at: null,
  ended_at: null,
  duration_seconds: 0,
  created: stamps.modified,
  modified: stamps.modified,
  success: true,
}
const webPlaced: PlacedCall = {
  ...placed,
  type: 'web',
  direction: 'inbound',
  answer_status: 'human',
  from_number: null,
  to_number: null,
  external_id: null,
  started_at: stamps.modified,
  join: { token: `sandbox-${ids.call}`, room_sid: 'RM_1', media_url: 'wss://media.example.com' },
}
const { success: _, ...waiting } = placed
const call = {
  ...waiting,
  status: 'completed',
  answer_status: 'human',
  started_at: '2026-11-20T16:05:04.000Z',
  ended_at: '2026-11-20T16:05:31.000Z',
  duration_seconds: 27,
  modified: '2026-11-20T16:05:31.000Z',
}
const talk: Pick<CallDetail, 'messages' | 'capture'> = {
  messages: [
    { role: 'agent', message: 'Hello Sam, how can I help you?', timestamp: call.started_at },
    { role: 'user', message: 'Where is my order?', timestamp: '2026-11-20T16:05:08.000Z' },
  ],
  capture: { recording_url: `https://recordings.example.com/${ids.call}.wav` },
}
const conversation: Conversation = {
  conversation_id: ids.call,
  type: 'phone',
  status: call.status,
  direction: 'outbound',
  start_timestamp: stamps.modified,
  duration_seconds: call.duration_seconds,
  agent_id: ids.agent,
  agent_name: newAgent.name,
  phone_number_id: ids.number,
  phone_number: line.number,
  contact_number: phoneCall.to_number,
  ...talk,
}

const models: ModelCatalog = [
  {
    provider: { code: 'openai', name: 'OpenAI', eu_hosted: false },
    models: [{ id: 'gpt-4.1', name: 'GPT-4.1', recommended: true, intelligence_rating: 4 }],
  },
]
const transcribers: TranscriberCatalog = [
  {
    provider: { code: 'deepgram', name: 'Deepgram' },
    models: [
      { id: 'nova-2', name: 'Nova 2', supported_languages: [{ code: 'en-us', name: 'English' }] },
    ],
  },
]
const voice: Voice = {
  id: 'sbx-en-us-ada',
  name: 'Ada',
  provider: 'elevenlabs',
  language: 'en-us',
  gender: 'female',
  description: 'Warm and clear, for support.',
  preview_url: 'https://voices.example.com/elevenlabs/sbx-en-us-ada.mp3',
}

const unknownVariable = { type: 'unknown_variable', line: 1, variable: 'order.id' }
const templateResult: TemplateValidation = {
  valid: true,
  errors: [],
  warnings: [{ ...unknownVariable, message: 'The platform does not know order.id.' }],
  variables: ['contact.first_name', 'order.id'],
  unknown_variables: ['order.id'],
}

const month = { start: '2026-11-01T00:00:00+01:00', end: '2026-11-03T00:00:00+01:00' }
const usage: Usage = {
  meta: {
    account_id: ids.account,
    ...month,
    granularity: 'day',
    group_by: ['type'],
    tz: 'Europe/Berlin',
  },
  data: [
    {
      ts: month.start,
      values: [{ seconds: 270, conversations: 10, dimensions: { type: 'phone' } }],
    },
    { ts: '2026-11-02T00:00:00+01:00', values: [] },
  ],
}

function error(
  status: ErrorStatus,
  message: string,
  more: { detail?: string; errors?: FieldError[] } = {},
): ErrorEnvelope {
  return { code: errorCodes[status], message, detail: null, errors: null, ...more }
}
const page = <T>(item: T) => ({ count: 1, items: [item] })

/**
 * Every example by name: `<route>.body…` is what is sent, `<route>.reply…` or else `<noun>.page`
 * and `<noun>.one` what a success answers, `error.<status>…` what a failure does.
 */
export const examples: Readonly<Record<string, unknown>> = {
  'accounts.one': account,
  'subaccounts.one': subaccount,
  'subaccounts.page': page(subaccount),
  'subaccounts.create.body': { name: 'Sandbox branch' },
  'subaccounts.update.body': { is_active: true },
  'agents.one': agent,
  'agents.page': page(agent),
  'agents.create.body': newAgent,
  'agents.update.body': { note: null, voice: { settings: { speed: 1 } }, denoising: { web: true } },
  'templates.validate.body': {
    template: 'Hello {{ contact.first_name }}, your order {{ order.id }} is on its way.',
    allowed_variables: ['shop.*'],
  },
  'templates.one': templateResult,
  'providers.models.reply': models,
  'providers.transcribers.reply': transcribers,
  'providers.voices.reply': { provider: 'elevenlabs', count: 1, voices: [voice] },
  'phone_numbers.one': phoneNumber,
  'phone_numbers.page': page(phoneNumber),
  'phone_numbers.create.body': {
    ...newLine,
    sip_trunk_id: ids.trunk,
    inbound_agent_id: ids.agent,
  },
  'phone_numbers.create.reply': {
    ...phoneNumber,
    id: id(4, 3),
    number: newLine.number,
    friendly_name: newLine.name,
  },
  'phone_numbers.update.body': { name: 'Main line', inbound_agent_id: null },
  'sip_trunks.one': trunk,
  'sip_trunks.page': page(trunk),
  'sip_trunks.create.body': newTrunk,
  'sip_trunks.update.body': { allowed_ips: newTrunk.allowed_ips },
  'usage.one': usage,
  'conversations.page': page(conversation),
  'calls.place.body.phone': phoneCall,
  'calls.place.body.web': webCall,
  'calls.place.reply.phone': placed,
  'calls.place.reply.web': webPlaced,
  'calls.place.repeated': { ...call, success: true },
  'calls.page': page(call),
  'calls.one': { ...call, ...talk },
  'error.400': error(400, 'The body is not valid JSON.'),
  'error.401': error(401, 'The X-API-Key header is missing.'),
  'error.403.no_access': error(403, 'The API key has no access to this account.'),
  'error.403.disabled': error(403, 'The account is disabled and takes no changes.'),
  'error.404.in_path': error(404, 'Agent not found.', { detail: 'No agent with id none.' }),
  'error.404.in_body': error(404, 'SIP trunk not found.', {
    detail: 'body.sip_trunk_id: no SIP trunk with id none in this account.',
  }),
  'error.409.number_taken': error(409, `The number ${line.number} is in this account already.`, {
    detail: `It has the id ${ids.number}.`,
  }),
  'error.409.trunk_in_use': error(409, 'The SIP trunk still has phone numbers.', {
    detail: `Unlink or delete them first: ${line.number}.`,
  }),
  'error.422': error(422, 'The request is not valid.', {
    errors: [
      { field: 'body.transcriber', message: 'Field required.', type: 'missing' },
      { field: 'query.limit', message: 'Expected 1 or more.', type: 'value_error' },
    ],
  }),
  'error.429': error(429, 'Too many requests.'),
  'error.500': error(500, 'The platform failed.'),
}

/** An example of each parameter that needs one to be understood; a name means one thing only. */
export const parameterExamples: Readonly<Record<string, unknown>> = {
  account_id: 'me',
  subaccount_id: ids.subaccount,
  agent_id: ids.agent,
  phone_number_id: ids.number,
  sip_trunk_id: ids.trunk,
  call_id: ids.call,
  conversation_id: ids.call,
  external_id: phoneCall.external_id,
  limit: 20,
  offset: 40,
  name: 'support',
  status: 'completed',
  tags: newAgent.tags,
  created_ge: month.start,
  created_lt: month.end,
  modified_ge: month.start,
  modified_lt: month.end,
  created_after: month.start,
  created_before: month.end,
  updated_after: month.start,
  updated_before: month.end,
  ...month,
  group_by: ['agent', 'type'],
  tz: 'Europe/Berlin',
  provider: 'elevenlabs',
  language: 'en-us',
  search: 'warm',
}
