import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

const at = (seconds: number) =>
  new Date(Date.UTC(2026, 10, 20, 9, 12) + seconds * 1000).toISOString()

const call = {
  id: 'call-1',
  type: 'phone',
  status: 'completed',
  answer_status: 'human',
  direction: 'inbound',
  agent_id: 'agent-1',
  agent_name: 'Front desk',
  from_number: '+12025550123',
  to_number: '+12025550110',
  created: at(-3),
  started_at: at(0),
  ended_at: at(58),
  duration_seconds: 58,
  capture: { recording_url: 'https://recordings.example/call-1.mp3' },
  messages: [
    {
      role: 'agent',
      message: 'Good morning, Elm Street Dental. How can I help you?',
      timestamp: at(0),
    },
    {
      role: 'user',
      message: 'Hi, I have an appointment on Thursday and need to move it.',
      timestamp: at(7),
    },
    {
      role: 'tool',
      name: 'find_slots',
      result: { slots: ['2026-11-23T09:00', '2026-11-24T15:30'] },
      timestamp: at(15),
    },
    {
      role: 'agent',
      message: 'I can offer Monday at nine, or Tuesday at half past three.',
      timestamp: at(17),
    },
    {
      role: 'user',
      message: 'Monday at nine works. Could you text me the address too?',
      timestamp: at(29),
    },
    {
      role: 'agent',
      message: 'Done. You are booked for Monday at nine, and the address is on its way.',
      timestamp: at(38),
    },
    { role: 'user', message: 'Great, thanks. Bye!', timestamp: at(50) },
  ],
}

async function oneCall() {
  const platform = await startFakePlatform((_, response) => json(response, 200, call), {
    account: pictureAccount,
  })
  return Object.assign(platform, { call: { tool: 'get_call', args: { call_id: call.id } } })
}

export const callPictures: readonly Picture[] = [{ name: 'call', open: oneCall, ready: '.turn' }]
