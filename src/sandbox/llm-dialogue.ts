import { setTimeout as sleep } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import * as z from 'zod'
import { jsonIn } from '../text/json.ts'
import { type CallSettings, type Greeting, speaksGerman } from './agent-call-settings.ts'
import type { CallRow } from './call-row.ts'
import { Dialogue, type ScriptLine } from './dialogue.ts'
import type { Store } from './store.ts'
import type { Reply } from './web-calls/rule-based-replies.ts'
import { webCallOf } from './web-calls/web-call-state.ts'

/*
 * Phone and web calls in which a language model speaks. As for a scripted call, the stored row
 * always holds a complete course: here the transcript so far, and a failed end when the lease
 * expires. Each turn appends to the transcript and extends the lease. If the process dies, the
 * lease expires and the call has failed, so nothing needs cleaning up.
 */

export interface LlmCall {
  readonly row: CallRow
  readonly settings: CallSettings
  readonly greeting: Greeting
  /** Name and note of the agent. They become part of its instructions to the language model. */
  readonly agent: { name: string | null; note: string | null }
  /** Description of the simulated caller (test_variables.caller_persona). */
  readonly persona: string | null
}

export type LlmCalls = ReturnType<typeof createLlmCalls>

/** Lease of a call after each turn, ms; longer than two turns may take. */
const leaseMs = 60_000

/** Maximum turns of a call. */
const maxTurns = 20

const goodbye = '[END]'

export function createLlmCalls(store: Store, llm: LlmOptions, now: () => number) {
  const stopping = new AbortController()
  /** The next turn of one side. Throws LlmError. */
  const nextTurn = async (...given: Parameters<typeof promptFor>): Promise<Reply> =>
    spokenPart(await completeChat(llm, promptFor(...given), stopping.signal))
  /** Caller and agent speak in turn until one says goodbye or the time is over. */
  const converse = async (call: LlmCall, dialogue: Dialogue): Promise<void> => {
    for (let turn = 0; turn < maxTurns; turn++) {
      for (const speaker of ['user', 'agent'] as const) {
        const { text, isOver } = await nextTurn(speaker, call, dialogue.lines())
        dialogue.notBefore(simulatedSeconds(call.row, now()))
        if (text) dialogue.say(speaker, text)
        if (dialogue.isOverlong()) return
        if (isOver && (speaker === 'user' || call.settings.allow_auto_hangup)) {
          dialogue.event(speaker === 'user' ? 'The caller hung up.' : 'The agent hung up.')
          return
        }
        save(store, leased(call, dialogue, now()))
      }
    }
    dialogue.event('The caller hung up.')
  }
  const speak = async (call: LlmCall): Promise<void> => {
    const dialogue = open(call, llm)
    try {
      await converse(call, dialogue)
      save(store, finished(call, dialogue, 'completed'))
    } catch (error) {
      // If the process stops, the call fails when its lease expires.
      if (stopping.signal.aborted) return
      const reason = error instanceof LlmError ? error.message : 'the sandbox failed'
      dialogue.notBefore(simulatedSeconds(call.row, now()))
      dialogue.event(`The language model endpoint failed: ${reason}.`)
      save(store, finished(call, dialogue, 'failed'))
    }
  }
  return {
    /** The row to store before the first turn. */
    begin: (call: LlmCall) => leased(call, open(call, llm), now()),
    /** Name of the model. */
    model: llm.model,
    /** The agent's next turn in a conversation with a person. Throws LlmError. */
    reply: (
      { agent, settings }: Pick<LlmCall, 'agent' | 'settings'>,
      lines: readonly ScriptLine[],
    ) => nextTurn('agent', { agent, settings, persona: null }, lines),
    /**
     * Runs the conversation with a simulated caller, after `waitMs` in which a person may join
     * instead. Never throws.
     */
    async run(call: LlmCall, waitMs = 0): Promise<void> {
      try {
        if (waitMs > 0) await sleep(waitMs, undefined, { signal: stopping.signal, ref: false })
        if (typeof webCallOf(store, call.row.id)?.joined === 'number') return
        await speak(call)
      } catch {
        // Stopped while waiting, or the database failed: the call fails when its lease expires.
      }
    },
    stop: () => stopping.abort(),
  }
}

function open({ settings, greeting }: LlmCall, { model }: LlmOptions): Dialogue {
  const dialogue = new Dialogue(settings)
  dialogue.event(`Simulated conversation: ${model} speaks for both sides.`)
  dialogue.open(greeting, false)
  return dialogue
}

/** The spoken text of a turn, and whether it ends the call. */
const spokenPart = (text: string): Reply => ({
  text: text.replaceAll(goodbye, '').trim(),
  isOver: text.includes(goodbye),
})

/** The conversation as messages for one side. That side's own lines have the role assistant. */
function promptFor(
  speaker: 'user' | 'agent',
  { agent, settings, persona }: Pick<LlmCall, 'agent' | 'settings' | 'persona'>,
  lines: readonly ScriptLine[],
): ChatMessage[] {
  const who =
    speaker === 'agent'
      ? `You are the voice agent ${agent.name ?? ''} on a telephone call. ${agent.note ?? ''}`
      : `You are a person on a telephone call with a voice agent. ${persona ?? 'You are friendly and brief.'}`
  const manner = `Answer with what you say next and nothing else: one or two short spoken sentences${speaksGerman(settings) ? ' in German' : ''}. When the conversation is over, say goodbye and end with ${goodbye}.`
  const heard = lines
    .filter(({ role }) => role === 'user' || role === 'agent')
    .map(({ role, message }): ChatMessage => {
      return { role: role === speaker ? 'assistant' : 'user', content: message }
    })
  // Many models answer only a user message, so the first speaker gets one.
  const start: ChatMessage[] =
    heard.length === 0 ? [{ role: 'user', content: '(ringing stops)' }] : []
  return [{ role: 'system', content: `${who} ${manner}` }, ...start, ...heard]
}

function simulatedSeconds({ answered, speed }: CallRow, now: number): number {
  return answered === null ? 0 : Math.max(0, ((now - answered) / 1000) * speed)
}

const wallClock = ({ answered, created, speed }: CallRow, seconds: number) =>
  (answered ?? created) + Math.round((seconds * 1000) / speed)

/** The row to store after a turn: the call fails when the lease expires without a further turn. */
function leased({ row }: LlmCall, dialogue: Dialogue, now: number): CallRow {
  const { seconds, script } = dialogue.end()
  const ended = Math.max(now, wallClock(row, seconds)) + leaseMs
  const at = simulatedSeconds(row, ended)
  const stopped: ScriptLine = { at, role: 'event', message: 'The sandbox stopped during the call.' }
  return {
    ...row,
    ended,
    outcome: 'failed',
    duration_seconds: Math.round(at),
    script: JSON.stringify([...script, stopped]),
  }
}

function finished({ row }: LlmCall, dialogue: Dialogue, outcome: 'completed' | 'failed'): CallRow {
  const { seconds, script } = dialogue.end()
  return {
    ...row,
    ended: wallClock(row, seconds),
    outcome,
    duration_seconds: Math.round(seconds),
    script: JSON.stringify(script),
  }
}

function save(store: Store, { id, ended, outcome, duration_seconds, script }: CallRow): void {
  store.update('calls', id, { ended, outcome, duration_seconds, script })
}

/** An endpoint with the OpenAI chat completions protocol, such as a local model server. */
export interface LlmOptions {
  /** Base URL such as http://localhost:11434/v1, or the full URL of chat/completions. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string | undefined
  /** Timeout of one whole turn, ms. */
  readonly timeoutMs?: number
}

interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/**
 * The endpoint failed, timed out, or sent an unusable reply. The message never contains the key.
 */
export class LlmError extends Error {
  override readonly name = 'LlmError'
}

/** Maximum turn length, characters; longer turns are cut. */
const longestTurn = 2000
const defaultTimeoutMs = 20_000

const Chunk = z.looseObject({
  choices: z.array(
    z.looseObject({ delta: z.looseObject({ content: z.string().nullish() }).nullish() }),
  ),
})

/** One turn of a conversation, streamed. Throws LlmError; aborting rejects with the reason. */
async function completeChat(
  { url, model, apiKey, timeoutMs = defaultTimeoutMs }: LlmOptions,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(completionsUrl(url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, messages, stream: true, max_tokens: 200 }),
      redirect: 'error',
      signal: AbortSignal.any([signal, timeout]),
    })
    if (!response.ok || !response.body) throw new LlmError(`it answered HTTP ${response.status}`)
    const text = (await readTurn(response.body)).trim()
    if (text === '') throw new LlmError('it said nothing')
    return text
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted) throw new LlmError(`it took longer than ${timeoutMs / 1000} s`)
    throw error instanceof LlmError ? error : new LlmError('the connection failed')
  }
}

function completionsUrl(url: string): string {
  const base = url.replace(/\/+$/, '')
  return base.endsWith('/chat/completions') ? base : `${base}/chat/completions`
}

async function readTurn(body: ReadableStream<Uint8Array>): Promise<string> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }))
  let text = ''
  for await (const { data } of events) {
    if (data === '[DONE]') return text
    text += deltaOf(data)
    if (text.length > longestTurn) return text.slice(0, longestTurn)
  }
  // The protocol ends a turn with [DONE]; without it the turn is incomplete.
  throw new LlmError('its answer broke off')
}

function deltaOf(event: string): string {
  const { data } = Chunk.safeParse(jsonIn(event))
  if (!data) throw new LlmError('its answer is no chat completion')
  return data.choices[0]?.delta?.content ?? ''
}
