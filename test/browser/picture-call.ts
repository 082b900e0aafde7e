import { DialPolicyConfig } from '../../src/policy/dial-policy-config.ts'
import { checkRequest, refusalOf } from '../../src/policy/dial-rules.ts'
import { policyRefusal, refusalText } from '../../tools/calls/place-call-errors.ts'
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

/** Opens the view of a call with these fields. */
const oneCall =
  (fields: object = {}) =>
  async () => {
    const platform = await startFakePlatform(
      (_, response) => json(response, 200, { ...call, ...fields }),
      { account: pictureAccount },
    )
    return Object.assign(platform, { call: { tool: 'get_call', args: { call_id: call.id } } })
  }

/** Fields of an outbound call that nobody answered. */
const unanswered = (answer_status: string, event: string) => ({
  ...{ direction: 'outbound', from_number: '+12025550110', to_number: '+12025550123' },
  ...{ status: 'failed', answer_status, started_at: null, duration_seconds: 0, capture: null },
  messages: [{ role: 'event', message: event, timestamp: at(0) }],
})

const voicemail = {
  ...unanswered('machine', ''),
  ...{ status: 'completed', started_at: at(0), ended_at: at(21), duration_seconds: 21 },
  messages: [
    { role: 'user', message: 'Please leave a message after the tone.', timestamp: at(2) },
    {
      role: 'agent',
      message: 'This is Elm Street Dental. Your appointment on Thursday is confirmed.',
      timestamp: at(8),
    },
  ],
}

const live = () => {
  const begun = Date.now() - 40_000
  const messages = call.messages.slice(0, 5).map((message, turn) => ({
    ...message,
    timestamp: new Date(begun + turn * 7000).toISOString(),
  }))
  return {
    ...{ status: 'in_progress', started_at: new Date(begun).toISOString(), ended_at: null },
    ...{ duration_seconds: null, capture: null, messages },
  }
}

/** Fields of a call with 500 turns, more than a result can hold. */
const long = {
  ...{ ended_at: at(3600), duration_seconds: 3600 },
  messages: Array.from({ length: 500 }, (_, turn) => ({
    ...(call.messages[turn % 7] ?? {}),
    timestamp: at(turn * 7),
  })),
}

/** Fields with right-to-left text, long words, markup and an unknown speaker. */
const unusual = {
  agent_name: 'مكتب الاستقبال',
  external_id: 'Terminverwaltungsbestätigungsnummer-2026-11-20-0042-Donaudampfschifffahrt',
  messages: [
    { role: 'agent', message: 'صباح الخير، كيف يمكنني مساعدتك؟', timestamp: at(0) },
    {
      role: 'user',
      message: `Rechtsschutzversicherungsgesellschaften ${'Donaudampfschifffahrts'.repeat(9)}`,
      timestamp: at(4),
    },
    { role: 'unknown', message: '<b>Hello?</b>', timestamp: at(9) },
    { role: 'event', message: 'The caller has hung up.', timestamp: at(40) },
  ],
}

const outcomes = ['answered', 'answered', 'machine', 'answered', 'busy', 'talking', 'not_answered']

/** The server's text for a number that is called in the quiet hours of its area. */
function refusedNow(toNumber: string): string {
  const config = DialPolicyConfig.parse({ quiet_hours: { from: '20:00', to: '09:00' } })
  const caller = { agentId: call.agent_id, agentName: call.agent_name, fromNumber: null }
  const found = checkRequest({ type: 'phone', toNumber, ...caller }, config, Date.parse(at(0)))
  if (!('rule' in found)) throw new Error(`${toNumber} is not refused.`)
  const source = '--dial-policy (VOICE_AGENT_DIAL_POLICY)'
  return refusalText(policyRefusal(refusalOf(found, config, source), { isInBatch: true }))
}

/** Result of a running batch, in which two calls were refused. */
const batch = (count: number) => ({
  summary: { placed: count - 2, not_allowed: 2 },
  ended: false,
  batch_id: 'batch-1',
  calls: Array.from({ length: count }, (_, place) => {
    const to_number = `+120255501${String(place).padStart(2, '0')}`
    if (place === 2) return { to_number, outcome: 'not_allowed', problem: refusedNow(to_number) }
    if (place === 8) return { to_number, outcome: 'not_allowed', problem_of: 3 }
    const state = outcomes[place % outcomes.length] ?? 'answered'
    const hasTalked = state === 'answered'
    return {
      ...{ to_number, outcome: 'placed', state, call_id: `call-${place}` },
      ...(state !== 'talking' && { duration_seconds: 31 + place * 17 }),
      ...(hasTalked && { last_words: 'Yes, Thursday at nine is fine. Thank you!' }),
    }
  }),
})

/** Result of a batch whose time was up, and in which one call may have been placed. */
const unfinished = () => {
  const { calls, ...result } = batch(6)
  const failures = [
    { outcome: 'failed', problem: 'The agent has no voice. Choose one with update_agent.' },
    { outcome: 'unknown', problem: 'It is not known whether this call was placed.' },
    { outcome: 'not_dialled', problem: 'Time was up before this call.' },
    { outcome: 'not_dialled', problem_of: 9 },
  ].map((one, place) => ({ to_number: `+1202555012${place}`, ...one }))
  return { ...result, calls: [...calls, ...failures] }
}

/** The calls that have ended, all read to their ends. */
const ended = (result: ReturnType<typeof batch>) => ({
  ...result,
  ended: true,
  calls: result.calls.map((one) =>
    'state' in one && one.state === 'talking' ? { ...one, state: 'declined' } : one,
  ),
})

const outbound = { direction: 'outbound', from_number: '+12025550110', to_number: '+12025550100' }

const severalCalls = (result: object): Omit<Picture, 'name'> => ({
  open: async () =>
    Object.assign(await oneCall(outbound)(), {
      call: { tool: 'place_calls', args: { calls: [] } },
    }),
  ready: '#batch',
  act: async (view) => {
    await view.send({ content: [], structuredContent: result })
    // The agent's name is read in the background.
    await view.frame.waitForSelector('h1 bdi')
  },
})

/** The call, searched for a text that nobody said. */
const searched = async () =>
  Object.assign(await oneCall()(), {
    call: { tool: 'get_call', args: { call_id: call.id, search: 'invoice' } },
  })

const state = (name: string, fields?: () => object): Picture => ({
  name: `call-${name}`,
  open: () => oneCall(fields?.())(),
  ready: '.turn, .silence',
})

export const callPictures: readonly Picture[] = [
  { name: 'call', open: oneCall(), ready: '.turn' },
  state('busy', () => unanswered('user_busy', 'The line was busy.')),
  state('no-answer', () => unanswered('user_unavailable', 'Nobody answered within 45 seconds.')),
  state('not-in-service', () => unanswered('unknown', 'SIP 404: number not in service')),
  state('voicemail', () => voicemail),
  state('live', live),
  state('ringing', () => ({
    ...unanswered('waiting', ''),
    ...{ status: 'in_progress', ended_at: null, messages: [] },
    created: new Date(Date.now() - 6000).toISOString(),
  })),
  state('agent-only', () => ({ messages: call.messages.slice(0, 1) })),
  { name: 'call-no-match', open: searched, ready: '.transcript' },
  state('long', () => long),
  { ...state('bounded', () => long), context: { containerDimensions: { maxHeight: 640 } } },
  state('unusual', () => unusual),
  {
    ...state('opened'),
    act: async (view) => {
      await view.run()
      await view.frame.click('#result-3')
      await view.frame.focus('#timeline')
      await view.page.keyboard.press('ArrowRight')
    },
  },
  { name: 'call-batch', ...severalCalls(batch(12)) },
  { name: 'call-batch-ended', ...severalCalls(ended(batch(12))) },
  { name: 'call-batch-unfinished', ...severalCalls(unfinished()) },
  { name: 'call-batch-long', ...severalCalls(batch(100)) },
  {
    ...{ ...severalCalls(batch(12)), name: 'call-batch-filtered' },
    async act(view) {
      await severalCalls(batch(12)).act?.(view)
      await view.frame.click('#show-machine')
    },
  },
]
