import type { CallRow } from '../call-row.ts'
import { callDetailAt } from '../call-state.ts'
import type { Store } from '../store.ts'
import { callOf } from './conversation.ts'
import { talkOf, type WebCallRow } from './web-call-row.ts'

/** What a person can do on the page of a call. */
export type Phase =
  /** Join: the agent waits. */
  | 'waiting'
  /** Type: a person has joined. */
  | 'talking'
  /** Watch: nobody came, and the simulated caller talks. */
  | 'watching'
  /** Read. */
  | 'ended'

/** The same for a person. */
export const phaseInWords: Readonly<Record<Phase, string>> = {
  waiting: 'The agent waits for you. If you do not join, a simulated caller does.',
  talking: 'You are in the call.',
  watching: 'A simulated caller has joined in your place. You can watch.',
  ended: 'The call has ended.',
}

/** Longest text that a person can say at once, in characters. */
export const longestText = 1000

/** A web call as its page shows it. */
export interface WebCallState {
  readonly callId: string
  readonly agentName: string
  readonly phase: Phase
  readonly messages: readonly { readonly role: string; readonly message: string }[]
}

/** The same as get_call shows, as one reading. */
export const stateOf = (store: Store, web: WebCallRow, now: number): WebCallState =>
  store.snapshot(() => {
    const row = callOf(store, web)
    const call = callDetailAt(row, now)
    return {
      callId: row.id,
      agentName: talkOf(web).agent.name || 'the agent',
      phase: phaseOf(row, web, now),
      messages: (call.messages ?? []).map(({ role, message }) => ({
        role: role ?? '',
        message: message ?? '',
      })),
    }
  })

function phaseOf(
  { answered, created, ended }: CallRow,
  { joined }: WebCallRow,
  now: number,
): Phase {
  if (ended <= now) return 'ended'
  if (joined !== null) return 'talking'
  return (answered ?? created) > now ? 'waiting' : 'watching'
}
