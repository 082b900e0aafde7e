import { EventSourceParserStream } from 'eventsource-parser/stream'
import * as z from 'zod'
import { jsonIn } from '../text/json.ts'

/** An endpoint with the OpenAI chat completions protocol, such as a local model server. */
export interface LlmOptions {
  /** Base URL such as http://localhost:11434/v1, or the full URL of chat/completions. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string | undefined
  /** Timeout of one whole turn, ms. */
  readonly timeoutMs?: number
}

export interface ChatMessage {
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
export async function completeChat(
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
