import * as z from 'zod'
import { CallDetail } from '../contract/call.ts'
import { Conversation, type Message } from '../contract/conversation.ts'
import { plainFields, plainText } from '../text/plain-text.ts'
import { answerInWords } from './answer-in-words.ts'
import { compactJson } from './compact-json.ts'
import { shortenValue } from './shorten-value.ts'
import type { OutputWithLines } from './tool-output.ts'
import {
  Transcript,
  type TranscriptOptions,
  transcriptLines,
  transcriptOf,
  untrustedFields,
} from './transcript.ts'

/** How a call went, in one line. */
const summary = z.string().describe('Who, when, how long, how it ended.')

const reportOf = <T extends z.ZodRawShape>(shape: T) => {
  const { messages: _, ...rest } = shape
  return z.looseObject({ summary, ...rest, transcript: Transcript })
}

export const CallReport = reportOf(CallDetail.shape)
export const ConversationReport = reportOf(Conversation.shape)

/** What the summary of a call or conversation states. */
interface CallSummary {
  readonly id: string
  readonly type?: string | null | undefined
  readonly direction?: string | null | undefined
  readonly status?: string | null | undefined
  readonly answered?: string | null | undefined
  readonly agent?: string | null | undefined
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
  readonly placed?: string | null | undefined
  readonly start?: string | null | undefined
  readonly seconds?: number | null | undefined
  readonly recording?: string | null | undefined
}

/** One call: a summary first, then its transcript. */
export function callReport(
  call: z.output<typeof CallDetail>,
  options: TranscriptOptions,
): OutputWithLines {
  return report(call, CallDetail.shape, options, {
    id: call.id,
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

/** One conversation, likewise. */
export function conversationReport(
  conversation: z.output<typeof Conversation>,
  options: TranscriptOptions,
): OutputWithLines {
  const { direction, phone_number, contact_number } = conversation
  const inbound = direction === 'inbound'
  return report(conversation, Conversation.shape, options, {
    id: conversation.conversation_id,
    type: conversation.type,
    direction,
    status: conversation.status,
    agent: conversation.agent_name ?? conversation.agent_id,
    from: inbound ? contact_number : phone_number,
    to: inbound ? phone_number : contact_number,
    start: conversation.start_timestamp,
    seconds: conversation.duration_seconds,
    recording: conversation.capture?.recording_url,
  })
}

/** A call without its transcript; fields that the contract does not know stand between the marks. */
export function callLines(call: CallOrConversation, shape: z.ZodRawShape): string[] {
  const { known, others } = knownAndOthers(call, shape)
  return [compactJson(plainFields(known)), ...untrustedFields(others)]
}

/** Most tokens of the fields beside the transcript. */
const longestKnown = 500

type CallOrConversation = Readonly<Record<string, unknown>> & {
  readonly messages?: readonly Message[] | null | undefined
  readonly capture?: Readonly<Record<string, unknown>> | null | undefined
}

function report(
  { messages, ...call }: CallOrConversation,
  shape: z.ZodRawShape,
  options: TranscriptOptions,
  talk: CallSummary,
): OutputWithLines {
  const transcript = transcriptOf(messages ?? [], options)
  const summary = plainText(summarise(talk, messages ?? []))
  const { known, others } = knownAndOthers(call, shape)
  const { capture: captured, ...fields } = others
  const capture = captured ? { ...captured, ...known.capture } : known.capture
  // Fields that the platform adds replace none of these.
  const promised = { summary, ...known, ...(capture !== undefined && { capture }), transcript }
  const more = notInSummary(known)
  return {
    structured: { ...promised, ...fields, ...promised },
    lines: [
      summary,
      ...shortenValue(more, longestKnown).split('\n'),
      ...transcriptLines(transcript, others),
    ],
  }
}

/**
 * Fields that the summary states. A reader needs no `created` and `modified` beside the start and the
 * end; programs have them.
 */
const inSummary = new Set([
  ...['type', 'direction', 'status', 'answer_status', 'agent_name', 'duration_seconds', 'capture'],
  ...['from_number', 'to_number', 'phone_number', 'contact_number'],
  ...['started_at', 'start_timestamp', 'created', 'modified'],
])

/** The other fields. An agent without a name is in the summary by its id. */
const notInSummary = ({ agent_id, ...known }: Readonly<Record<string, unknown>>) => {
  const more = Object.entries({ ...known, ...(Boolean(known.agent_name) && { agent_id }) })
  return plainFields(Object.fromEntries(more.filter(([name]) => !inSummary.has(name))))
}

/**
 * The fields of a call that the contract knows, and all others, which may repeat what was said, as
 * a summary of the call does.
 */
export function knownAndOthers({ capture, ...call }: CallOrConversation, shape: z.ZodRawShape) {
  const isKnown = ([name]: [string, unknown]) => Object.hasOwn(shape, name)
  const fields = Object.entries(call)
  const { recording_url, ...captured } = capture ?? {}
  const known = Object.fromEntries(fields.filter(isKnown))
  const others = Object.fromEntries(fields.filter((field) => !isKnown(field)))
  return {
    known: { ...known, ...(capture !== undefined && { capture: capture && { recording_url } }) },
    others: {
      ...others,
      ...(Object.keys(captured).length > 0 && { capture: captured }),
    },
  }
}

/** Such as `outbound phone call completed, answered by a person (human); agent Front desk; +1… to +1…; 93 s; 14 turns`. */
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
    `${messages.length} turns, ${spoken} spoken`,
    talk.recording ? `recording ${talk.recording}` : 'no recording',
  ]
    .filter(Boolean)
    .join('; ')
}
