import type { CallSettings, Greeting } from './agent-call-settings.ts'
import { Dialogue, type Phrases, phrasesOf, type ScriptLine, type Talk } from './dialogue.ts'

/*
 * The course of a simulated call is decided when the call is placed, and stored with it. The state
 * of the call at any time then follows from its row and the time (call-row.ts), without timers.
 */

/** The course of one call, in simulated seconds. */
export interface CallPlan {
  answerStatus: string
  outcome: 'completed' | 'failed' | 'transferred'
  /** Time from the start of the call to the answer or, if nobody answers, to its end. */
  ringSeconds: number
  isAnswered: boolean
  /** Time from the answer to the end of the call. */
  talkSeconds: number
  script: ScriptLine[]
}

/** Outcomes of calls that nobody answers. */
export const unanswered = {
  busy: { answerStatus: 'user_busy', ringSeconds: 2, event: 'The callee is busy.' },
  rejected: { answerStatus: 'user_rejected', ringSeconds: 6, event: 'The callee declined.' },
  no_answer: { answerStatus: 'user_unavailable', ringSeconds: 30, event: 'Nobody answered.' },
} as const

/** Ring time before the answer, simulated seconds. */
export const secondsToAnswer = 4

type Answered = 'answered' | 'voicemail' | 'transferred' | 'long' | 'silent' | 'interrupting'

/**
 * Destinations with a fixed outcome, like the test cards of payment providers. All are reserved for
 * fiction (555-0100 to 555-0199). Every other valid number is answered.
 */
export const magicDestinations: Readonly<
  Record<string, { scenario: Answered | keyof typeof unanswered | 'invalid'; about: string }>
> = {
  '+12025550100': { scenario: 'answered', about: 'answered' },
  '+12025550101': { scenario: 'busy', about: 'busy: `failed`, `user_busy`' },
  '+12025550102': { scenario: 'rejected', about: 'declined: `failed`, `user_rejected`' },
  '+12025550103': { scenario: 'no_answer', about: 'not answered: `failed`, `user_unavailable`' },
  '+12025550104': { scenario: 'voicemail', about: 'a voicemail: `completed`, `machine`' },
  '+12025550105': { scenario: 'transferred', about: 'transferred to a person' },
  '+12025550106': { scenario: 'long', about: 'a long talk, up to `max_duration_seconds`' },
  '+12025550107': { scenario: 'invalid', about: 'no number that can be called: 422' },
  '+12025550108': { scenario: 'silent', about: 'answered in silence: `inactivity_settings` apply' },
  '+12025550109': {
    scenario: 'interrupting',
    about: 'answered by somebody who interrupts: `interrupt_settings` apply',
  },
}

interface PlanRequest {
  /** Destination of a phone call; absent for a web call, which is always answered. */
  toNumber?: string
  greeting: Greeting
  settings: CallSettings
  /** Ring time before the answer; default: that of a phone, or none for a web call. */
  ringSeconds?: number
}

/** Decides the course of a call. */
export function planCall({ toNumber, greeting, settings, ringSeconds }: PlanRequest): CallPlan {
  const scenario = (toNumber && magicDestinations[toNumber]?.scenario) || 'answered'
  if (scenario === 'busy' || scenario === 'rejected' || scenario === 'no_answer') {
    return unansweredPlan(unanswered[scenario])
  }
  if (scenario === 'invalid') throw new Error('An invalid number passed the checks')
  const talk = talkOf(scenario, greeting, settings)
  return {
    answerStatus: scenario === 'voicemail' ? 'machine' : 'human',
    outcome: scenario === 'transferred' && !talk.wasCut ? 'transferred' : 'completed',
    ringSeconds: ringSeconds ?? (toNumber ? secondsToAnswer : 0),
    isAnswered: true,
    talkSeconds: talk.seconds,
    script: talk.script,
  }
}

/** The course of a call that nobody answers. */
export function unansweredPlan({
  event,
  ...rest
}: (typeof unanswered)[keyof typeof unanswered]): CallPlan {
  const script: ScriptLine[] = [{ at: 0, role: 'event', message: event }]
  return { ...rest, outcome: 'failed', isAnswered: false, talkSeconds: 0, script }
}

function talkOf(scenario: Answered, greeting: Greeting, settings: CallSettings): Talk {
  const dialogue = new Dialogue(settings)
  dialogue.event('Scripted conversation: no language model is configured for the sandbox.')
  const { smallTalk, voicemail, purpose, interruption } = phrasesOf(settings)
  if (scenario === 'voicemail') dialogue.say('user', voicemail)
  dialogue.open(greeting, scenario === 'interrupting')
  switch (scenario) {
    case 'voicemail':
      dialogue.hangUp()
      break
    case 'silent':
      dialogue.silence()
      break
    case 'interrupting':
      dialogue.talkedOver(purpose, interruption)
      dialogue.hangUp()
      break
    case 'transferred':
      chat(dialogue, smallTalk)
      dialogue.event('Transferred to a person.')
      break
    case 'long':
      for (let round = 0; round < 100; round++) chat(dialogue, smallTalk)
      dialogue.hangUp()
      break
    default:
      chat(dialogue, smallTalk)
      dialogue.hangUp()
  }
  return dialogue.end()
}

function chat(dialogue: Dialogue, smallTalk: Phrases['smallTalk']): void {
  for (const [caller, agent] of smallTalk) {
    dialogue.say('user', caller)
    dialogue.say('agent', agent)
  }
}
