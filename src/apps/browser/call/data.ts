import * as z from 'zod/mini'
import { plainText } from '../../../text/safe-text.ts'
import { refuseUnless } from '../shared/lenient-schemas.ts'

const text = z.nullish(z.string())

const Turn = z.looseObject({
  turn: z.number(),
  role: z.string(),
  message: text,
  timestamp: text,
  name: text,
  result: z.optional(z.unknown()),
})
export type Turn = z.output<typeof Turn>

const Transcript = z.looseObject({
  turns: z.number(),
  spoken: z.array(Turn),
})

const ListedCall = z.looseObject({
  to_number: text,
  outcome: text,
  state: text,
  call_id: text,
  duration_seconds: z.nullish(z.number()),
  last_words: text,
  problem: text,
  /** 1-based position in the list of an earlier call with the same problem, which has its text. */
  problem_of: z.nullish(z.number()),
})
export type ListedCall = z.output<typeof ListedCall>

/** Results of the call and conversation tools as far as the view shows them: one call, or several. */
export const CallData = z
  .looseObject({
    account_id: text,
    id: text,
    conversation_id: text,
    type: text,
    status: text,
    answer_status: text,
    direction: text,
    agent_name: text,
    from_number: text,
    to_number: text,
    phone_number: text,
    contact_number: text,
    external_id: text,
    created: text,
    started_at: text,
    start_timestamp: text,
    ended_at: text,
    duration_seconds: z.nullish(z.number()),
    capture: z.nullish(z.looseObject({ recording_url: text })),
    transcript: z.optional(Transcript),
    batch_id: text,
    calls: z.optional(z.array(ListedCall)),
  })
  // Rejects results of other tools, which have none of these fields.
  .check(
    refuseUnless((call) => [call.id, call.conversation_id, call.calls].some((one) => one != null)),
  )
export type CallData = z.output<typeof CallData>

/** The text that the turns were searched for; empty if all of them were read. */
export const searchIn = ({ search }: Readonly<Record<string, unknown>>): string =>
  typeof search === 'string' ? plainText(search) : ''

const finalStates = ['completed', 'failed', 'transferred']

export const hasEnded = ({ status, ended_at }: CallData): boolean =>
  Boolean(ended_at) || finalStates.includes(status ?? '')

/** Start of the conversation, ms; `undefined` if unknown. */
export function startOf({ started_at, start_timestamp, transcript }: CallData): number | undefined {
  const { spoken = [] } = transcript ?? {}
  const first = spoken[0]?.turn === 1 ? spoken.find(({ timestamp }) => timestamp) : undefined
  const ms = Date.parse(started_at ?? start_timestamp ?? first?.timestamp ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

export const isEvent = (role: string): boolean => role === 'event' || role === 'system'

/**
 * Phone numbers of the caller and the callee. A conversation has the agent's number and the other
 * side's, in place of from and to.
 */
export function numbersOf(call: CallData) {
  const { direction, from_number, to_number, phone_number, contact_number } = call
  const numbers = [phone_number, contact_number]
  const [from, to] = direction === 'inbound' ? numbers.toReversed() : numbers
  return { from: plainText(from_number ?? from ?? ''), to: plainText(to_number ?? to ?? '') }
}

/** True for a phone number, which a message to the model may contain. */
export const isPhoneNumber = (text: string): boolean => /^\+\d{5,15}$/.test(text)

/** The external id that the client gave. Empty for an id that this server generated. */
export const givenId = ({ external_id }: CallData): string =>
  /^auto-[\da-f]{24}$/.test(external_id ?? '') ? '' : plainText(external_id ?? '')

/** Merges a newer result of a call with the turns that are shown. */
export function joinCalls(shown: CallData, more: CallData): CallData {
  if (!shown.transcript || !more.transcript) return more
  const turns = new Map(shown.transcript.spoken.map((turn) => [turn.turn, turn]))
  for (const turn of more.transcript.spoken) turns.set(turn.turn, turn)
  const spoken = [...turns.values()].sort((one, other) => one.turn - other.turn)
  return { ...more, transcript: { ...more.transcript, spoken } }
}
