import { createServer } from 'node:http'
import * as z from 'zod'
import { listenOnLoopback } from '../harness/loopback-server.ts'

const Request = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })),
})
type Request = z.output<typeof Request>

/** A scripted answer: a tool call, or a text derived from the request. */
export type Answer =
  | { readonly tool: string; readonly args: object }
  | { readonly text: (request: Request) => string }

/**
 * A fake OpenAI-compatible endpoint without streaming, on a free loopback port. It returns these
 * answers in order.
 */
export async function startScriptedModel(answers: readonly Answer[]) {
  const seen: Request[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const chat = Request.parse(JSON.parse(Buffer.concat(chunks).toString()))
    const answer = answers[seen.push(chat) - 1]
    if (answer === undefined) response.writeHead(500).end('the script has ended')
    else response.setHeader('content-type', 'application/json').end(completion(answer, chat))
  })
  const { port, ...disposable } = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    ...disposable,
  }
}

function completion(answer: Answer, chat: Request): string {
  const isText = 'text' in answer
  const message = isText
    ? { role: 'assistant', content: answer.text(chat) }
    : { role: 'assistant', content: null, tool_calls: [toolCall(answer.tool, answer.args)] }
  return JSON.stringify({
    id: 'chat-1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
}

const toolCall = (name: string, args: object) => ({
  id: `call-${name}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})
