import * as z from 'zod/mini'

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
  returned: z.number(),
  next_turn: z.nullable(z.number()),
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
    agent_id: text,
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
    note: text,
    transcript: z.optional(Transcript),
    calls: z.optional(z.array(ListedCall)),
  })
  // A result of another tool has none of these fields, so it is no call to follow.
  .check(z.refine((call) => [call.id, call.conversation_id, call.calls].some((one) => one != null)))
export type CallData = z.output<typeof CallData>

const finalStates = ['completed', 'failed', 'transferred']

export const hasEnded = ({ status, ended_at }: CallData): boolean =>
  Boolean(ended_at) || finalStates.includes(status ?? '')

/** Start of the conversation, ms; `undefined` if unknown. */
export function startOf({ started_at, start_timestamp, transcript }: CallData): number | undefined {
  const first = transcript?.spoken[0]
  const start = started_at ?? start_timestamp ?? (first?.turn === 1 ? first.timestamp : undefined)
  const ms = Date.parse(start ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** Merges a later reading of a call with the turns shown before. */
export function joinCalls(shown: CallData, more: CallData): CallData {
  if (!shown.transcript || !more.transcript) return more
  const turns = new Map(shown.transcript.spoken.map((turn) => [turn.turn, turn]))
  for (const turn of more.transcript.spoken) turns.set(turn.turn, turn)
  const spoken = [...turns.values()].sort((one, other) => one.turn - other.turn)
  return { ...more, transcript: { ...more.transcript, returned: spoken.length, spoken } }
}
