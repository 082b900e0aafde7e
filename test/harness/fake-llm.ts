import { createServer, type ServerResponse } from 'node:http'
import * as z from 'zod'
import { listenOnLoopback } from './loopback-server.ts'

const ChatRequest = z.object({
  model: z.string(),
  stream: z.literal(true),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})
type ChatRequest = z.output<typeof ChatRequest>

/** Streams a message in OpenAI's protocol: role first, then word by word, `[DONE]` last. */
export function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    )
  send({ role: 'assistant', content: '' })
  for (const word of text.split(/(?<= )/)) send({ content: word })
  send({}, 'stop')
  response.end('data: [DONE]\n\n')
}

/** A fake OpenAI-compatible endpoint on a free loopback port. */
export async function startLlm(
  answer: (request: ChatRequest, response: ServerResponse, turn: number) => void,
) {
  const seen: (ChatRequest & { authorization: string | undefined })[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const chat = ChatRequest.parse(JSON.parse(Buffer.concat(chunks).toString()))
    seen.push({ ...chat, authorization: request.headers.authorization })
    answer(chat, response, seen.length - 1)
  })
  const { port, ...disposable } = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    ...disposable,
  }
}
