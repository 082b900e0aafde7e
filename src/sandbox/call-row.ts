import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Call, CallDetail } from '../contract/call.ts'
import type { Conversation, Message } from '../contract/conversation.ts'
import type { CallPlan } from './call-plan.ts'
import { ScriptLine } from './dialogue.ts'

/** The account, agent and numbers of a call. */
const CallParties = z.object({
  account_id: z.string(),
  type: z.string(),
  direction: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  phone_number_id: z.string().nullable(),
  from_number: z.string().nullable(),
  to_number: z.string().nullable(),
  external_id: z.string().nullable(),
  is_recorded: z.int(),
})

/**
 * A stored call with its course from start to end, part of which may be in the future
 * (call-plan.ts, llm-dialogue.ts). Instants are Unix ms.
 */
export const CallRow = CallParties.extend({
  id: z.string(),
  created: z.int(),
  answered: z.int().nullable(),
  ended: z.int(),
  answer_status: z.string(),
  outcome: z.string(),
  duration_seconds: z.number(),
  speed: z.number(),
  script: z.string(),
})
export type CallRow = z.output<typeof CallRow>

/** Builds the row of a planned call. `speed` simulated seconds take one real second. */
export function rowOfPlan(
  who: z.output<typeof CallParties>,
  plan: CallPlan,
  { created, speed, id = randomUUID() }: { created: number; speed: number; id?: string },
): CallRow {
  const ms = (seconds: number) => Math.round((seconds * 1000) / speed)
  const pickedUp = created + ms(plan.ringSeconds)
  return {
    ...who,
    id,
    created,
    answered: plan.isAnswered ? pickedUp : null,
    ended: pickedUp + ms(plan.talkSeconds),
    answer_status: plan.answerStatus,
    outcome: plan.outcome,
    duration_seconds: plan.talkSeconds,
    speed,
    script: JSON.stringify(plan.script),
  }
}

const Script = z.array(ScriptLine)

/** The transcript of the whole course. */
export const scriptOf = ({ script }: CallRow): ScriptLine[] => Script.parse(JSON.parse(script))

/** SQL: the status of a call at `:now`. */
export const statusAtNow = "CASE WHEN ended > :now THEN 'in_progress' ELSE outcome END"

/** SQL: time of a call's last change, at most `:now`. */
export const modifiedAtNow =
  'CASE WHEN ended <= :now THEN ended WHEN answered <= :now THEN answered ELSE created END'

const iso = (ms: number) => new Date(ms).toISOString()

/** A call at the time `now`, as lists show it. */
export function callAt(row: CallRow, now: number): Call {
  const hasEnded = row.ended <= now
  const answered = row.answered !== null && row.answered <= now ? row.answered : null
  const talked = answered === null ? 0 : Math.floor(((now - answered) / 1000) * row.speed)
  return {
    id: row.id,
    type: row.type,
    status: hasEnded ? row.outcome : 'in_progress',
    answer_status: hasEnded || answered !== null ? row.answer_status : 'waiting',
    direction: row.direction,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    from_number: row.from_number,
    to_number: row.to_number,
    external_id: row.external_id,
    started_at: answered === null ? null : iso(answered),
    ended_at: hasEnded ? iso(row.ended) : null,
    duration_seconds: hasEnded ? row.duration_seconds : talked,
    created: iso(row.created),
    modified: iso(hasEnded ? row.ended : (answered ?? row.created)),
  }
}

/** A call with its transcript up to the time `now`. */
export function callDetailAt(row: CallRow, now: number): CallDetail {
  return { ...callAt(row, now), messages: messagesAt(row, now), capture: captureAt(row, now) }
}

/**
 * The conversation of a call at the time `now`. In the sandbox, conversation and call share one id.
 */
export function conversationAt(row: CallRow, now: number): Conversation {
  const call = callAt(row, now)
  const isInbound = row.direction === 'inbound'
  return {
    conversation_id: row.id,
    type: row.type,
    status: call.status,
    direction: row.direction,
    start_timestamp: iso(row.created),
    duration_seconds: call.duration_seconds,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    phone_number_id: row.phone_number_id,
    phone_number: isInbound ? row.to_number : row.from_number,
    contact_number: isInbound ? row.from_number : row.to_number,
    messages: messagesAt(row, now),
    capture: captureAt(row, now),
  }
}

function messagesAt(row: CallRow, now: number): Message[] {
  // A call that nobody answered has no messages before its end.
  const from = row.answered ?? row.ended
  return scriptOf(row)
    .map(({ at, role, message }) => ({ role, message, when: from + (at * 1000) / row.speed }))
    .filter(({ when }) => when <= now)
    .map(({ role, message, when }) => ({ role, message, timestamp: iso(Math.round(when)) }))
}

function captureAt(row: CallRow, now: number): { recording_url: string | null } | null {
  if (!row.is_recorded || row.answered === null || row.ended > now) return null
  // The .example domain is reserved (RFC 2606): no recording exists, and the URL cannot resolve.
  return { recording_url: `https://recordings.sandbox.example/${row.id}.wav` }
}
