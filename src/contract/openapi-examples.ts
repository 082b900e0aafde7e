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
 * Examples of the OpenAPI document. All show the same small account. The ids are those of a new
 * sandbox, so examples can be sent to it unchanged. Phone numbers are from the range reserved for
 * fiction, addresses and hosts from the ranges reserved for documentation.
 */

const id = (kind: number, index: number) => `00000000-0000-4000-800${kind}-00000000000${index}`

export const exampleIds = {
  account: id(1, 1),
  subaccount: id(1, 2),
  agent: id(2, 1),
  trunk: id(3, 1),
  number: id(4, 1),
  newNumber: id(4, 3),
  call: id(5, 1),
}

const exampleTimes = {
  created: '2026-11-02T08:30:00.000Z',
  modified: '2026-11-20T16:05:00.000Z',
}

/** The phone number of the example account, and its name. */
export const exampleLine = { number: '+12025550110', name: 'Main line' }

const exampleTrunkName = 'Office trunk'

const pageWith = <T>(item: T) => ({ count: 1, items: [item] })

const account: Account = {
  id: exampleIds.account,
  name: 'Sandbox account',
  is_active: true,
  parent_account_id: null,
  ...exampleTimes,
}
const subaccount: Account = {
  ...account,
  id: exampleIds.subaccount,
  name: 'Sandbox branch',
  parent_account_id: exampleIds.account,
}

const newAgent: AgentCreate & { name: string; tags: string[] } = {
  name: 'Support line',
  tags: ['support', 'en'],
  model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
  transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: ['en-us'] },
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

const exampleAgent = { name: newAgent.name, tags: newAgent.tags }

const unknownVariable = { type: 'unknown_variable', line: 1, variable: 'order.id' }
const validation: TemplateValidation = {
  valid: true,
  errors: [],
  warnings: [{ ...unknownVariable, message: 'The platform does not know order.id.' }],
  variables: ['contact.first_name', 'order.id'],
  unknown_variables: ['order.id'],
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
      {
        id: 'nova-2:general',
        name: 'Nova 2 General',
        supported_languages: [{ code: 'en-us', name: 'English' }],
      },
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

const newLine = { number: '+12025550190', name: 'Second line' }
const phoneNumber: PhoneNumber = {
  id: exampleIds.number,
  number: exampleLine.number,
  friendly_name: exampleLine.name,
  sip_trunk: { id: exampleIds.trunk, name: exampleTrunkName, is_managed: false },
  inbound_agent: { id: exampleIds.agent, name: exampleAgent.name, avatar: null },
  spam_data: {},
  checker_data: {},
}

const newTrunk = {
  name: exampleTrunkName,
  termination_uri: 'sip.example.com:5060',
  allowed_ips: ['192.0.2.10', '198.51.100.0/24'],
}
const trunk: SipTrunk = {
  id: exampleIds.trunk,
  ...newTrunk,
  phone_numbers: [
    { id: exampleIds.number, number: exampleLine.number, friendly_name: exampleLine.name },
  ],
  has_auth_password: false,
  auth_password_length: null,
  sip_auth_username: null,
}

export const examplePeriod = {
  start: '2026-11-01T00:00:00+01:00',
  end: '2026-11-03T00:00:00+01:00',
}
const usage: Usage = {
  meta: {
    account_id: exampleIds.account,
    ...examplePeriod,
    granularity: 'day',
    group_by: ['type'],
    tz: 'Europe/Berlin',
  },
  data: [
    {
      ts: examplePeriod.start,
      values: [{ seconds: 270, conversations: 10, dimensions: { type: 'phone' } }],
    },
    { ts: '2026-11-02T00:00:00+01:00', values: [] },
  ],
}

const exampleExternalId = 'order-1042'

const callee = '+12025550100'

const phoneCall: CallCreate = {
  type: 'phone',
  agent_id: exampleIds.agent,
  from_number: exampleLine.number,
  to_number: callee,
  external_id: exampleExternalId,
  test_variables: { contact: { first_name: 'Sam' } },
}
const webCall: CallCreate = {
  type: 'web',
  agent_id: exampleIds.agent,
  initial_text: 'Where is my order?',
  audio_input_enabled: true,
}
const placedPhoneCall: PlacedCall = {
  id: exampleIds.call,
  type: 'phone',
  status: 'in_progress',
  answer_status: 'waiting',
  direction: 'outbound',
  agent_id: exampleIds.agent,
  agent_name: exampleAgent.name,
  from_number: exampleLine.number,
  to_number: callee,
  external_id: exampleExternalId,
  started_at: null,
  ended_at: null,
  duration_seconds: 0,
  created: exampleTimes.modified,
  modified: exampleTimes.modified,
  success: true,
}
const placedWebCall: PlacedCall = {
  ...placedPhoneCall,
  type: 'web',
  direction: 'inbound',
  answer_status: 'human',
  from_number: null,
  to_number: null,
  external_id: null,
  started_at: exampleTimes.modified,
  join: {
    token: `sandbox-${exampleIds.call}`,
    room_sid: 'RM_1',
    media_url: 'wss://media.example.com',
  },
}
const { success: _, ...waitingCall } = placedPhoneCall
const endedCall = {
  ...waitingCall,
  status: 'completed',
  answer_status: 'human',
  started_at: '2026-11-20T16:05:04.000Z',
  ended_at: '2026-11-20T16:05:31.000Z',
  duration_seconds: 27,
  modified: '2026-11-20T16:05:31.000Z',
}
const transcript: Pick<CallDetail, 'messages' | 'capture'> = {
  messages: [
    { role: 'agent', message: 'Hello Sam, how can I help you?', timestamp: endedCall.started_at },
    { role: 'user', message: 'Where is my order?', timestamp: '2026-11-20T16:05:08.000Z' },
  ],
  capture: { recording_url: `https://recordings.example.com/${exampleIds.call}.wav` },
}
const conversation: Conversation = {
  conversation_id: exampleIds.call,
  type: 'phone',
  status: endedCall.status,
  direction: 'outbound',
  start_timestamp: exampleTimes.modified,
  duration_seconds: endedCall.duration_seconds,
  agent_id: exampleIds.agent,
  agent_name: exampleAgent.name,
  phone_number_id: exampleIds.number,
  phone_number: exampleLine.number,
  contact_number: callee,
  ...transcript,
}

function error(
  status: ErrorStatus,
  message: string,
  more: { detail?: string; errors?: FieldError[] } = {},
): ErrorEnvelope {
  return { code: errorCodes[status], message, detail: null, errors: null, ...more }
}

/**
 * Every example of the OpenAPI document, by name. `<route>.body…` is a request. `<route>.reply…` is
 * a success; without one, `<noun>.page` or `<noun>.one` is used. `error.<status>…` is a failure.
 */
export const examples: Readonly<Record<string, unknown>> = {
  'accounts.one': account,
  'subaccounts.one': subaccount,
  'subaccounts.page': pageWith(subaccount),
  'subaccounts.create.body': { name: 'Sandbox branch' },
  'subaccounts.update.body': { is_active: true },
  'agents.one': agent,
  'agents.page': pageWith(agent),
  'agents.create.body': newAgent,
  'agents.update.body': { note: null, voice: { settings: { speed: 1 } }, denoising: { web: true } },
  'templates.validate.body': {
    template: 'Hello {{ contact.first_name }}, your order {{ order.id }} is on its way.',
    allowed_variables: ['shop.*'],
  },
  'templates.one': validation,
  'providers.models.reply': models,
  'providers.transcribers.reply': transcribers,
  'providers.voices.reply': { provider: 'elevenlabs', count: 1, voices: [voice] },
  'phone_numbers.one': phoneNumber,
  'phone_numbers.page': pageWith(phoneNumber),
  'phone_numbers.create.body': {
    ...newLine,
    sip_trunk_id: exampleIds.trunk,
    inbound_agent_id: exampleIds.agent,
  },
  'phone_numbers.create.reply': {
    ...phoneNumber,
    id: exampleIds.newNumber,
    number: newLine.number,
    friendly_name: newLine.name,
  },
  'phone_numbers.update.body': { name: exampleLine.name, inbound_agent_id: null },
  'sip_trunks.one': trunk,
  'sip_trunks.page': pageWith(trunk),
  'sip_trunks.create.body': newTrunk,
  'sip_trunks.update.body': { allowed_ips: newTrunk.allowed_ips },
  'usage.one': usage,
  'conversations.page': pageWith(conversation),
  'calls.place.body.phone': phoneCall,
  'calls.place.body.web': webCall,
  'calls.place.reply.phone': placedPhoneCall,
  'calls.place.reply.web': placedWebCall,
  'calls.place.repeated': { ...endedCall, success: true },
  'calls.page': pageWith(endedCall),
  'calls.one': { ...endedCall, ...transcript },
  'error.400': error(400, 'The body is not valid JSON.'),
  'error.401': error(401, 'The X-API-Key header is missing.'),
  'error.403.no_access': error(403, 'The API key has no access to this account.'),
  'error.403.disabled': error(403, 'The account is disabled and takes no changes.'),
  'error.404.in_path': error(404, 'Agent not found.', { detail: 'No agent with id none.' }),
  'error.404.in_body': error(404, 'SIP trunk not found.', {
    detail: 'body.sip_trunk_id: no SIP trunk with id none in this account.',
  }),
  'error.409.number_taken': error(
    409,
    `The number ${exampleLine.number} is in this account already.`,
    { detail: `It has the id ${exampleIds.number}.` },
  ),
  'error.409.trunk_in_use': error(409, 'The SIP trunk still has phone numbers.', {
    detail: `Unlink or delete them first: ${exampleLine.number}.`,
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

/**
 * An example of each parameter that needs one, by parameter name. A name means the same in every
 * operation.
 */
export const parameterExamples: Readonly<Record<string, unknown>> = {
  account_id: 'me',
  subaccount_id: exampleIds.subaccount,
  agent_id: exampleIds.agent,
  phone_number_id: exampleIds.number,
  sip_trunk_id: exampleIds.trunk,
  call_id: exampleIds.call,
  conversation_id: exampleIds.call,
  external_id: exampleExternalId,
  limit: 20,
  offset: 40,
  name: 'support',
  status: 'completed',
  tags: exampleAgent.tags,
  created_ge: examplePeriod.start,
  created_lt: examplePeriod.end,
  modified_ge: examplePeriod.start,
  modified_lt: examplePeriod.end,
  created_after: examplePeriod.start,
  created_before: examplePeriod.end,
  updated_after: examplePeriod.start,
  updated_before: examplePeriod.end,
  ...examplePeriod,
  group_by: ['agent', 'type'],
  tz: 'Europe/Berlin',
  provider: 'elevenlabs',
  language: 'en-us',
  search: 'warm',
}
