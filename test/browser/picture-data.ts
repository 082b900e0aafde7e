import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Counted, startUsagePlatform } from '../harness/usage-platform.ts'
import { changedAgent, voiceCatalogue } from './picture-agents.ts'

/** A platform with made-up data, and the call of the tool whose view is pictured. */
interface PicturedPlatform extends AsyncDisposable {
  readonly url: string
  readonly call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
}

export interface Picture {
  readonly name: string
  readonly open: () => Promise<PicturedPlatform>
  /** What is there when the view is drawn. */
  readonly ready: string
}

const account = '00000000-0000-4000-8001-000000000001'
const day = 86_400_000

const agents = [
  { id: 'agent-1', name: 'Front desk' },
  { id: 'agent-2', name: 'Terminservice' },
  { id: 'agent-3', name: 'Reminders' },
]

/** Calls by day of the week, from Sunday; the third week of the month is a quiet one. */
const perDay = [2, 14, 11, 12, 9, 16, 4]

function novemberCalls(): Counted[] {
  const start = Date.UTC(2026, 10, 1)
  return Array.from({ length: 28 }, (_, at) => {
    const usual = perDay[at % 7] ?? 0
    const calls = at >= 14 && at < 21 ? Math.ceil(usual / 3) : usual
    return Array.from({ length: calls }, (_, call) => ({
      at: new Date(start + at * day + 8 * 3_600_000 + call * 1_700_000).toISOString(),
      seconds: 70 + ((at * 37 + call * 53) % 190),
      agent: `agent-${1 + ((call * 7 + at) % 6 > 3 ? 2 : (call + at) % 2)}`,
    }))
  }).flat()
}

async function usage(): Promise<PicturedPlatform> {
  const platform = await startUsagePlatform(
    novemberCalls(),
    {},
    {
      '/agents': { count: agents.length, items: agents },
    },
  )
  const args = {
    start: '2026-11-01T00:00:00Z',
    end: '2026-11-29T00:00:00Z',
    granularity: 'day',
    group_by: ['agent'],
  }
  return Object.assign(platform, { call: { tool: 'get_usage', args } })
}

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

async function oneCall(): Promise<PicturedPlatform> {
  const platform = await startFakePlatform((_, response) => json(response, 200, call), { account })
  return Object.assign(platform, { call: { tool: 'get_call', args: { call_id: call.id } } })
}

/** The views that are pictured in the documents. */
export const pictures: readonly Picture[] = [
  { name: 'usage', open: usage, ready: 'canvas' },
  { name: 'call', open: oneCall, ready: '.turn' },
  { name: 'voices', open: voiceCatalogue, ready: '#voices' },
  { name: 'agent', open: changedAgent, ready: '.changes' },
]
