import { type CallPlan, unanswered, unansweredPlan } from '../../../../src/sandbox/call-plan.ts'
import { oneOf, pick, randomOf } from '../../random.ts'
import { startOfRun } from '../clock.ts'

const minute = 60_000
const day = 24 * 60 * minute

/** A past telephone or web call of the company. */
export interface CallSeed {
  /** Creation time, Unix ms. */
  readonly created: number
  readonly type: 'phone' | 'web'
  readonly direction: 'inbound' | 'outbound'
  readonly agent: string
  /** The company's phone number; null for a web call. */
  readonly line: string | null
  /** The other party's phone number; null for a web call. */
  readonly contact: string | null
  readonly plan: CallPlan
}

/** Number of days with calls, before the day of the run. */
const days = 56

/** Agents with their phone number and their share of calls, percent. */
const speakers = [
  { agent: 'Reception', line: '+12025550110', direction: 'inbound', weight: 22 },
  { agent: 'Support line', line: '+12025550112', direction: 'inbound', weight: 16 },
  { agent: 'Support line German', line: '+12025550117', direction: 'inbound', weight: 8 },
  { agent: 'Appointment reminders', line: '+12025550110', direction: 'outbound', weight: 14 },
  { agent: 'Recall reminders', line: '+12025550110', direction: 'outbound', weight: 8 },
  { agent: 'Payment reminders', line: '+12025550111', direction: 'outbound', weight: 7 },
  { agent: 'Sales outreach', line: '+12025550111', direction: 'outbound', weight: 6 },
  { agent: 'Customer survey', line: '+12025550111', direction: 'outbound', weight: 5 },
  { agent: 'Reception Berlin', line: '+12025550119', direction: 'inbound', weight: 7 },
  { agent: 'Reminders Berlin', line: '+12025550119', direction: 'outbound', weight: 4 },
  { agent: 'Reception Hamburg', line: '+12025550121', direction: 'inbound', weight: 3 },
] as const

const outcomes = {
  inbound: [
    { outcome: 'human', weight: 85 },
    { outcome: 'transferred', weight: 15 },
  ],
  outbound: [
    { outcome: 'human', weight: 52 },
    { outcome: 'machine', weight: 12 },
    { outcome: 'user_unavailable', weight: 16 },
    { outcome: 'user_busy', weight: 9 },
    { outcome: 'user_rejected', weight: 7 },
    { outcome: 'transferred', weight: 4 },
  ],
} as const
type Outcome = (typeof outcomes)['outbound'][number]['outcome']

const topics = [
  ['I would like to move my appointment.', 'Of course. Which day suits you?', 'Friday morning.'],
  ['What does a cleaning cost?', 'Eighty euros, and many insurers pay half.', 'Good to know.'],
  ['My tooth hurts since yesterday.', 'I am sorry. We have a time today at four.', 'I take it.'],
  ['Is the practice open on Saturday?', 'From nine to twelve.', 'Then I come on Saturday.'],
  ['I did not get my invoice.', 'I have it sent to you again today.', 'Thank you.'],
] as const

interface Line {
  readonly role: 'user' | 'agent' | 'event'
  readonly message: string
}
const said = (message: string): Line => ({ role: 'user', message })
const answered = (message: string): Line => ({ role: 'agent', message })

const reasons = [
  'I would rather talk to Petra.',
  'This is too complicated for me, give me somebody from the billing office.',
  'I want to complain to whoever is in charge.',
  'It is bleeding again and I need a doctor.',
  'My insurance wants to speak to you.',
] as const

const remarks: readonly { weight: number; lines: readonly Line[] }[] = [
  { weight: 20, lines: [] },
  {
    weight: 1,
    lines: [said('And I paid twice: I want a refund.'), answered('I note that for the office.')],
  },
  // Jobs search for callers who say "refund". Here, only the agent says it.
  {
    weight: 1,
    lines: [
      answered('Please note: for a missed visit there is no refund.'),
      said('I did not know that.'),
    ],
  },
]

const goodbyes = [
  'Thank you, goodbye.',
  'Until then.',
  'That was all.',
  'Have a nice day.',
] as const

/** The rest of a conversation after its topic, by outcome. */
function furtherWords(outcome: Outcome, random: () => number): readonly Line[] {
  if (outcome === 'transferred') {
    return [said(oneOf(reasons, random)), { role: 'event', message: 'Transferred to a person.' }]
  }
  const end = { role: 'event' as const, message: 'The agent hung up.' }
  if (outcome === 'machine') return [end]
  const { lines } = pick(remarks, random)
  const goodbye = said(oneOf(goodbyes, random))
  return [...lines, goodbye, random() < 0.5 ? end : { ...end, message: 'The caller hung up.' }]
}

function planOf(outcome: Outcome, talkSeconds: number, topic: (typeof topics)[number]): CallPlan {
  const failure = Object.values(unanswered).find(({ answerStatus }) => answerStatus === outcome)
  if (failure) return unansweredPlan(failure)
  const [question, answer, agreement] = topic
  const spoken =
    outcome === 'machine'
      ? [said('Please leave a message after the tone.')]
      : [said(question), answered(answer), said(agreement)]
  const lines = [
    answered('Northwind Dental, good day.'),
    ...spoken,
    ...furtherWords(outcome, randomOf('words', talkSeconds)),
  ]
  const script = lines.map((line, index) => ({
    at: Math.floor((index * talkSeconds) / lines.length),
    ...line,
  }))
  return {
    answerStatus: outcome === 'machine' ? 'machine' : 'human',
    outcome: outcome === 'transferred' ? 'transferred' : 'completed',
    ringSeconds: 4,
    isAnswered: true,
    talkSeconds,
    script,
  }
}

const areaCodes = ['212', '303', '312', '415', '503', '617', '713'] as const

/** A random phone number in the range reserved for fiction. */
const contactOf = (random: () => number) =>
  `+1${oneOf(areaCodes, random)}55501${String(Math.floor(random() * 100)).padStart(2, '0')}`

/** Number of calls on a weekday. Fewer on Saturdays, none on Sundays. */
const callsOn = (weekday: number, random: () => number) =>
  weekday === 0 ? 0 : weekday === 6 ? 3 : 9 + Math.floor(random() * 6)

function callsOfDay(start: number): CallSeed[] {
  const random = randomOf('calls', start)
  const isYesterday = start + day > startOfRun - day
  return Array.from({ length: callsOn(new Date(start).getUTCDay(), random) }, () => {
    const speaker = pick(speakers, random)
    const { outcome } = pick<{ outcome: Outcome; weight: number }>(
      outcomes[speaker.direction],
      random,
    )
    const topic = oneOf(topics, random)
    return {
      created: start + 7 * 60 * minute + Math.floor(random() * 600) * minute,
      type: 'phone' as const,
      direction: speaker.direction,
      agent: speaker.agent,
      line: speaker.line,
      contact: contactOf(random),
      plan: planOf(outcome, 20 + Math.floor(random() * 400), topic),
    }
    // Yesterday's calls of this agent come from `yesterdaysRecalls` instead.
  }).filter(({ agent }) => !(isYesterday && agent === 'Recall reminders'))
}

/** A web call shortly before midnight UTC. In Europe it is already the next day. */
const lateCall = (start: number): CallSeed => ({
  created: start + (23 * 60 + 30) * minute,
  type: 'web',
  direction: 'inbound',
  agent: 'Reception',
  line: null,
  contact: null,
  plan: { ...planOf('human', 75, topics[3]), ringSeconds: 0 },
})

/**
 * Yesterday's calls of the agent Recall reminders. One contact who did not answer was reached
 * later.
 */
const yesterdaysRecalls: readonly { to: string; outcome: Outcome }[] = [
  { to: '+13035550141', outcome: 'user_unavailable' },
  { to: '+13035550142', outcome: 'user_busy' },
  { to: '+13035550143', outcome: 'human' },
  { to: '+13035550144', outcome: 'user_unavailable' },
  { to: '+13035550145', outcome: 'machine' },
  { to: '+13035550146', outcome: 'user_unavailable' },
  { to: '+13035550147', outcome: 'user_rejected' },
  // A sandbox destination that never answers.
  { to: '+12025550103', outcome: 'user_unavailable' },
  { to: '+13035550144', outcome: 'human' },
]

const recallsOf = (start: number): CallSeed[] =>
  yesterdaysRecalls.map(({ to, outcome }, index) => ({
    created: start + (9 * 60 + index * 20) * minute,
    type: 'phone',
    direction: 'outbound',
    agent: 'Recall reminders',
    line: '+12025550110',
    contact: to,
    plan: planOf(outcome, 62 + index, topics[0]),
  }))

const midnight = Math.floor(startOfRun / day) * day

/** All past calls, oldest first. */
export const callSeeds: readonly CallSeed[] = Array.from({ length: days }, (_, index) => {
  const start = midnight - (days - index) * day
  const late = [0, 3].includes(new Date(start).getUTCDay()) ? [lateCall(start)] : []
  const recalls = index === days - 1 ? recallsOf(start) : []
  return [...callsOfDay(start), ...recalls, ...late]
})
  .flat()
  .sort((a, b) => a.created - b.created)
