import type { CallCreate, CallDetail, PlacedCall } from '../call.ts'
import type { Conversation } from '../conversation.ts'
import { exampleAgent } from './agents.ts'
import { type Examples, exampleIds, exampleLine, exampleTimes, pageWith } from './ids.ts'

export const exampleExternalId = 'order-1042'

const callee = '+12025550100'

const phoneCall: CallCreate = {
  type: 'phone',
  agent_id: exampleIds.agent,
  from_number: exampleLine.number,
  to_number: callee,
  external_id: exampleExternalId,
  test_variables: { 'contact.first_name': 'Sam' },
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

export const callExamples: Examples = {
  'conversations.page': pageWith(conversation),
  'calls.place.body.phone': phoneCall,
  'calls.place.body.web': webCall,
  'calls.place.reply.phone': placedPhoneCall,
  'calls.place.reply.web': placedWebCall,
  'calls.place.repeated': { ...endedCall, success: true },
  'calls.page': pageWith(endedCall),
  'calls.one': { ...endedCall, ...transcript },
}
