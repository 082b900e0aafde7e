import * as z from 'zod'
import { answerMeanings, isAnswerStatus } from '../../contract/answer-status.ts'
import { CallDetail } from '../../contract/call.ts'
import { Conversation, type Message } from '../../contract/conversation.ts'
import { counted } from '../../text/labels.ts'
import { plainFields, plainText } from '../../text/safe-text.ts'
import type { OutputWithLines } from '../tool.ts'
import { compactJson, shortenValue } from './shortening.ts'
import {
  type CallOrConversation,
  knownAndOthers,
  Transcript,
  type TranscriptOptions,
  transcriptLines,
  transcriptOf,
  untrustedFields,
} from './transcript.ts'

/** Outcome of a call, one line. */
const summary = z.string().describe('Who, when, how long, how it ended.')

const reportOf = <T extends z.ZodRawShape>(shape: T) => {
  const { messages: _, ...rest } = shape
  return z.looseObject({ summary, ...rest, transcript: Transcript })
}

export const CallReport = reportOf(CallDetail.shape)
export const ConversationReport = reportOf(Conversation.shape)

/** Fields of a call or conversation that its summary uses. */
interface CallSummary
  extends Record<
    'type' | 'direction' | 'status' | 'agent' | 'from' | 'to' | 'start' | 'recording',
    string | null | undefined
  > {
  readonly answered?: string | null | undefined
  readonly placed?: string | null | undefined
  readonly seconds: number | null | undefined
}

/** Result for one call: a summary, then the transcript. */
export function callReport(
  call: z.output<typeof CallDetail>,
  options: TranscriptOptions,
): OutputWithLines {
  return report(call, CallDetail.shape, options, {
    type: call.type,
    direction: call.direction,
    status: call.status,
    answered: call.answer_status,
    agent: call.agent_name ?? call.agent_id,
    from: call.from_number,
    to: call.to_number,
    placed: call.created,
    start: call.started_at,
    seconds: call.duration_seconds,
    recording: call.capture?.recording_url,
  })
}

/** Result for one conversation: a summary, then the transcript. */
export function conversationReport(
  conversation: z.output<typeof Conversation>,
  options: TranscriptOptions,
): OutputWithLines {
  const { direction, phone_number, contact_number } = conversation
  const inbound = direction === 'inbound'
  return report(
    conversation,
    Conversation.shape,
    options,
    {
      type: conversation.type,
      direction,
      status: conversation.status,
      agent: conversation.agent_name ?? conversation.agent_id,
      from: inbound ? contact_number : phone_number,
      to: inbound ? phone_number : contact_number,
      start: conversation.start_timestamp,
      seconds: conversation.duration_seconds,
      recording: conversation.capture?.recording_url,
    },
    'get_conversation',
  )
}

/**
 * A call without its transcript, as lines. Fields outside the contract are between untrusted marks.
 */
export function callLines(call: CallOrConversation, shape: z.ZodRawShape): string[] {
  const { known, others } = knownAndOthers(call, shape)
  return [compactJson(plainFields(known)), ...untrustedFields(others)]
}

/** Maximum tokens of the fields besides the transcript. */
const longestKnown = 500

function report(
  { messages, ...call }: CallOrConversation,
  shape: z.ZodRawShape,
  options: TranscriptOptions,
  talk: CallSummary,
  tool?: 'get_conversation',
): OutputWithLines {
  const transcript = transcriptOf(messages ?? [], options)
  const summary = plainText(summarise(talk, messages ?? []))
  const { known, others } = knownAndOthers(call, shape)
  const { capture: captured, ...fields } = others
  const capture = captured ? { ...captured, ...known.capture } : known.capture
  // A field that the platform adds never replaces one of these.
  const promised = { summary, ...known, ...(capture !== undefined && { capture }), transcript }
  const more = notInSummary(known)
  return {
    structured: { ...promised, ...fields, ...promised },
    lines: [
      summary,
      ...shortenValue(more, longestKnown).split('\n'),
      ...transcriptLines(transcript, others, tool),
    ],
  }
}

/**
 * Fields that the summary shows, and `created` and `modified`, which add nothing to start and end.
 */
const inSummary = new Set([
  ...['type', 'direction', 'status', 'answer_status', 'agent_name', 'duration_seconds', 'capture'],
  ...['from_number', 'to_number', 'phone_number', 'contact_number'],
  ...['started_at', 'start_timestamp', 'created', 'modified'],
])

/** Fields that the summary does not show. An agent without a name is in the summary by its id. */
const notInSummary = ({ agent_id, ...known }: Readonly<Record<string, unknown>>) => {
  const more = Object.entries({ ...known, ...(Boolean(known.agent_name) && { agent_id }) })
  return plainFields(Object.fromEntries(more.filter(([name]) => !inSummary.has(name))))
}

/**
 * One line, such as `outbound phone call completed, answered by a person (human); agent Front desk;
 * +1… to +1…; 93 s; 14 turns`.
 */
function summarise(talk: CallSummary, messages: readonly Message[]): string {
  const kind = [talk.direction, talk.type, 'call'].filter(Boolean).join(' ')
  const ended = [talk.status, talk.answered && answerInWords(talk.answered)].filter(Boolean)
  const line = talk.from || talk.to ? `${talk.from ?? '?'} to ${talk.to ?? '?'}` : undefined
  const length = typeof talk.seconds === 'number' ? `${talk.seconds} s` : undefined
  const spoken = messages.filter(({ role }) => role === 'agent' || role === 'user').length
  return [
    `${kind} ${ended.join(', ')}`.trim(),
    talk.agent && `agent ${talk.agent}`,
    line,
    talk.start ? `started ${talk.start}` : talk.placed && `placed ${talk.placed}`,
    length,
    `${counted(messages.length, 'turn')}, ${spoken} spoken`,
    talk.recording ? `recording ${talk.recording}` : 'no recording',
  ]
    .filter(Boolean)
    .join('; ')
}

/**
 * An answer status in words, such as `nobody answered (user_unavailable)`. An unpublished status is
 * shown unchanged.
 */
export const answerInWords = (status: string): string =>
  isAnswerStatus(status) ? `${answerMeanings[status]} (${status})` : `answer ${status}`
