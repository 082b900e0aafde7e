import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { cleanEnv } from '../harness/program.ts'

const Id = z.union([z.string(), z.number()])
const Meta = z.looseObject({
  progressToken: Id.optional(),
  'io.modelcontextprotocol/subscriptionId': Id.optional(),
})
/** The fields of a message that routing needs. */
export const Message = z.looseObject({
  id: Id.optional(),
  method: z.string().optional(),
  params: z.looseObject({ progressToken: Id.optional(), _meta: Meta.optional() }).optional(),
})
export type Message = z.infer<typeof Message>

interface Exchange {
  readonly request: Message
  readonly response: ServerResponse
}

const eventStream = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
const eventOf = (message: Message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

/** A program that speaks MCP on stdio, and the HTTP requests that wait for its answers. */
export class StdioSession implements AsyncDisposable {
  readonly #program: ChildProcessWithoutNullStreams
  readonly #exchanges = new Map<string | number, Exchange>()
  /** The client's event stream for messages outside a request. */
  #stream: ServerResponse | undefined

  constructor([file = '', ...args]: readonly string[], env: Record<string, string>) {
    this.#program = spawn(file, args, { env: cleanEnv(env) })
    this.#program.stderr.resume()
    createInterface(this.#program.stdout).on('line', (line) =>
      this.#deliver(Message.parse(JSON.parse(line))),
    )
  }

  /** Sends a client's notification or answer to the program. */
  send(message: Message): void {
    this.#program.stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** Sends a request. Its answer and related messages are written to the response. */
  async ask(request: Message & { readonly id: string | number }, response: ServerResponse) {
    // On stdio, ids of concurrent requests must differ; over HTTP they may be equal.
    for (;;) {
      const other = this.#exchanges.get(request.id)
      if (!other) break
      await once(other.response, 'close')
    }
    this.#exchanges.set(request.id, { request, response })
    response.once('close', () => this.#closed(request.id, response))
    this.send(request)
  }

  /** Sets the event stream for messages outside a request. */
  listen(response: ServerResponse): void {
    response.writeHead(200, eventStream).flushHeaders()
    this.#stream = response
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill()
    this.#stream?.end()
    if (this.#program.exitCode === null && this.#program.signalCode === null) {
      await once(this.#program, 'exit')
    }
  }

  #closed(id: string | number, response: ServerResponse): void {
    this.#exchanges.delete(id)
    if (response.writableFinished) return
    // Over HTTP, a client cancels a request by closing its connection.
    const params = { requestId: id, reason: 'The client has closed the connection.' }
    this.send(Message.parse({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
  }

  #deliver(message: Message): void {
    const isAnswer = message.method === undefined
    const exchange = isAnswer ? this.#exchanges.get(message.id ?? '') : this.#exchangeOf(message)
    const response = exchange?.response ?? this.#stream
    if (!response) return
    if (isAnswer && !response.headersSent) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
      return
    }
    if (!response.headersSent) response.writeHead(200, eventStream)
    response.write(eventOf(message))
    if (isAnswer) response.end()
  }

  /** The request that a server message belongs to. Only some messages on stdio name it. */
  #exchangeOf({ params }: Message): Exchange | undefined {
    const { progressToken, _meta: meta } = params ?? {}
    const exchanges = [...this.#exchanges.values()]
    const subscription = meta?.['io.modelcontextprotocol/subscriptionId']
    if (subscription !== undefined) return this.#exchanges.get(subscription)
    if (progressToken !== undefined) {
      return exchanges.find(({ request }) => request.params?._meta?.progressToken === progressToken)
    }
    return exchanges.find(({ request }) => request.method !== 'subscriptions/listen')
  }
}
