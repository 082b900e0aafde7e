/*
 * How a simulated call goes is decided when it is placed, and stored with it: from then on its
 * state is a function of that row and the time (call-state.ts), with no timers to lose.
 */

import type { Greeting } from './greeting.ts'

/** One line of a transcript, `at` simulated seconds after the call was answered. */
export interface ScriptLine {
  at: number
  role: 'user' | 'agent' | 'system' | 'tool' | 'event'
  message: string
}

/** The course of one call, in simulated seconds. */
export interface CallPlan {
  answerStatus: string
  outcome: 'completed' | 'failed' | 'transferred'
  /** From placing to being answered, or to giving up. */
  ringSeconds: number
  isAnswered: boolean
  /** From being answered to the end. */
  talkSeconds: number
  script: ScriptLine[]
}

type Scenario =
  | 'answered'
  | 'busy'
  | 'rejected'
  | 'no_answer'
  | 'voicemail'
  | 'transferred'
  | 'long'

/**
 * Destinations that always go one way, in the manner of payment test cards. They lie in the range
 * kept free for fiction (555-0100 to 555-0199), so no real telephone is meant. Every other valid
 * number is answered.
 */
export const magicDestinations: Readonly<Record<string, Scenario | 'invalid'>> = {
  '+12025550100': 'answered',
  '+12025550101': 'busy',
  '+12025550102': 'rejected',
  '+12025550103': 'no_answer',
  '+12025550104': 'voicemail',
  '+12025550105': 'transferred',
  '+12025550106': 'long',
  '+12025550107': 'invalid',
}

const unanswered = {
  busy: { answerStatus: 'user_busy', ringSeconds: 2, event: 'The callee is busy.' },
  rejected: { answerStatus: 'user_rejected', ringSeconds: 6, event: 'The callee declined.' },
  no_answer: { answerStatus: 'user_unavailable', ringSeconds: 30, event: 'Nobody answered.' },
} as const

const smallTalk: [caller: string, agent: string][] = [
  ['Hello, who is this?', 'I am calling from the sandbox: this conversation is simulated.'],
  ['All right. What is it about?', 'I only wanted to check that everything works.'],
  ['And does it?', 'It does. Thank you for your time.'],
  ['Good. Goodbye.', 'Goodbye.'],
]

/** Seconds of speech for a line: about 15 characters a second, at least one second. */
const spoken = (text: string) => Math.max(1, Math.round(text.length / 15))

export interface PlanRequest {
  /** Where a phone call goes; absent on the web, where somebody is always there. */
  toNumber?: string
  greeting: Greeting
  maxDurationSeconds: number
}

/** Decides how a call goes. */
export function planCall({ toNumber, greeting, maxDurationSeconds }: PlanRequest): CallPlan {
  const scenario = (toNumber && magicDestinations[toNumber]) || 'answered'
  if (scenario === 'busy' || scenario === 'rejected' || scenario === 'no_answer') {
    const { event, ...rest } = unanswered[scenario]
    const script: ScriptLine[] = [{ at: 0, role: 'event', message: event }]
    return { ...rest, outcome: 'failed', isAnswered: false, talkSeconds: 0, script }
  }
  const talk = cutAt(maxDurationSeconds, conversation(scenario, greeting))
  return {
    answerStatus: scenario === 'voicemail' ? 'machine' : 'human',
    outcome: scenario === 'transferred' && !talk.wasCut ? 'transferred' : 'completed',
    ringSeconds: toNumber ? 4 : 0,
    isAnswered: true,
    talkSeconds: talk.seconds,
    script: talk.script,
  }
}

function conversation(
  scenario: string,
  { text, error }: Greeting,
): { script: ScriptLine[]; seconds: number } {
  const script: ScriptLine[] = []
  let at = 0
  const say = (role: ScriptLine['role'], message: string) => {
    script.push({ at, role, message })
    at += role === 'event' ? 0 : spoken(message) + 1
  }
  say('event', 'Scripted conversation: no language model is configured for the sandbox.')
  if (error !== null) say('event', `The greeting could not be rendered: ${error}`)
  if (scenario === 'voicemail') {
    say('user', 'You have reached my voicemail. Please leave a message after the tone.')
    if (text) say('agent', text)
    return { script, seconds: at }
  }
  if (text) say('agent', text)
  const rounds = scenario === 'long' ? 100 : 1
  for (let round = 0; round < rounds; round++) {
    for (const [caller, agent] of smallTalk) {
      say('user', caller)
      say('agent', agent)
    }
  }
  if (scenario === 'transferred') say('event', 'Transferred to a person.')
  return { script, seconds: at }
}

/** Ends a conversation at the agent's longest duration. */
function cutAt(longest: number, { script, seconds }: { script: ScriptLine[]; seconds: number }) {
  if (seconds <= longest) return { script, seconds, wasCut: false }
  const kept = script.filter(({ at }) => at < longest)
  const end: ScriptLine = { at: longest, role: 'event', message: 'The longest duration is over.' }
  return { script: [...kept, end], seconds: longest, wasCut: true }
}
