import * as z from 'zod'
import type { Call, CallDetail } from '../contract/call.ts'
import type { Conversation, Message } from '../contract/conversation.ts'
import type { CallRow } from './call-row.ts'

const Script = z.array(z.object({ at: z.number(), role: z.string(), message: z.string() }))

/** SQL: the status of a call at `:now`. */
export const statusAtNow = "CASE WHEN ended > :now THEN 'in_progress' ELSE outcome END"

/** SQL: when a call last changed before `:now`. */
export const modifiedAtNow =
  'CASE WHEN ended <= :now THEN ended WHEN answered <= :now THEN answered ELSE created END'

const iso = (ms: number) => new Date(ms).toISOString()

interface State {
  hasEnded: boolean
  isAnswered: boolean
  modified: number
  durationSeconds: number
}

function stateAt(row: CallRow, now: number): State {
  const hasEnded = row.ended <= now
  const isAnswered = row.answered !== null && row.answered <= now
  const talked = isAnswered && row.answered !== null ? ((now - row.answered) / 1000) * row.speed : 0
  return {
    hasEnded,
    isAnswered,
    modified: hasEnded ? row.ended : isAnswered ? (row.answered ?? row.created) : row.created,
    durationSeconds: hasEnded ? row.duration_seconds : Math.floor(talked),
  }
}

/** The call at a time, as a list shows it. */
export function callAt(row: CallRow, now: number): Call {
  const state = stateAt(row, now)
  return {
    id: row.id,
    type: row.type,
    status: state.hasEnded ? row.outcome : 'in_progress',
    answer_status: state.hasEnded || state.isAnswered ? row.answer_status : 'waiting',
    direction: row.direction,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    from_number: row.from_number,
    to_number: row.to_number,
    external_id: row.external_id,
    started_at: state.isAnswered && row.answered !== null ? iso(row.answered) : null,
    ended_at: state.hasEnded ? iso(row.ended) : null,
    duration_seconds: state.durationSeconds,
    created: iso(row.created),
    modified: iso(state.modified),
  }
}

/** The call with its transcript up to that time. */
export function callDetailAt(row: CallRow, now: number): CallDetail {
  return { ...callAt(row, now), messages: messagesAt(row, now), capture: captureAt(row, now) }
}

/** The same as a conversation; in the sandbox both have the same id. */
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
  const from = row.answered ?? row.ended
  return Script.parse(JSON.parse(row.script))
    .map(({ at, role, message }) => ({ role, message, when: from + (at * 1000) / row.speed }))
    .filter(({ when }) => when <= now)
    .map(({ role, message, when }) => ({ role, message, timestamp: iso(Math.round(when)) }))
}

function captureAt(row: CallRow, now: number): { recording_url: string | null } | null {
  if (!row.is_recorded || row.answered === null || row.ended > now) return null
  // The .example domain is reserved (RFC 2606): nothing is recorded, and nothing can be fetched.
  return { recording_url: `https://recordings.sandbox.example/${row.id}.wav` }
}
