import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { JSONRPCMessage, McpServerFactory } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'
import type { StdioServer } from './stdio.ts'
import { wantedResources } from './subscriptions.ts'

/** What has come before there was a connection. */
export interface Before {
  /** Messages that are answered, in full lines. */
  readonly kept: Buffer
  /** What came after them. */
  readonly rest: Buffer
}

/** Takes a client over from the opening. */
export type Connect = (before: Before) => StdioServer

export interface ConnectionOptions {
  readonly factory: McpServerFactory
  readonly onError: (error: Error) => void
  /** Told when the client asks nothing more, before what it has asked is answered. */
  readonly onLeaving: () => void
  /** Watches resources for the client, and tells it, until it is stopped. */
  readonly watch: (uris: readonly string[]) => () => void
}

/** Serves MCP on standard input and output with the SDK. */
export function connectStdio(
  { factory, onError, onLeaving, watch }: ConnectionOptions,
  { kept, rest }: Before,
): StdioServer {
  const input = new PassThrough()
  const pending = new Pending()
  let hasEnded = false
  let lastError = 'no reason is known'
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => undefined)
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  const answered = new Set(idsOf(kept))
  const transport = new CountingTransport({ pending, input, watch, answered }, () => {
    onClosed()
    if (!hasEnded) reject(new Error(`The connection to the client broke off: ${lastError}`))
  })
  const onerror = (error: Error) => {
    lastError = error.message
    onError(error)
  }
  const handle = serveStdio(factory, { transport, onerror })
  input.write(Buffer.concat([kept, rest]))
  process.stdin.pipe(input, { end: false })
  // The client closing its end of the pipe means: no more requests. What it asked before that is
  // answered first, so that a script can pipe requests in and read the answers.
  const settled = finished(process.stdin, { writable: false })
    .catch(() => undefined)
    .then(() => {
      // What has come is looked at first, so that it is told what was done of it.
      setImmediate(() => {
        onLeaving()
        transport.leave()
      })
      return awake(Promise.race([pending.settled(), closed]))
    })
    .then(() => {
      hasEnded = true
      input.end()
    })
  return {
    done: Promise.race([settled, broken]),
    async close() {
      hasEnded = true
      process.stdin.destroy()
      await handle.close()
    },
  }
}

/** Keeps the process from ending before that: who waits for a call sleeps between two readings. */
function awake(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, 60_000)
  return work.finally(() => clearInterval(timer))
}

const Kept = z.looseObject({ id: z.unknown().optional() })

/** The ids of requests among messages. */
const idsOf = (lines: Buffer): unknown[] =>
  lines
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Kept.parse(JSON.parse(line)).id)
    .filter((id) => id !== undefined)

/** Requests that have come and are not answered. An id may be in use twice: clients err. */
class Pending {
  readonly #counts = new Map<unknown, number>()
  #whenNone: (() => void) | undefined

  add(id: unknown): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  delete(id: unknown): void {
    const left = (this.#counts.get(id) ?? 0) - 1
    if (left > 0) this.#counts.set(id, left)
    else this.#counts.delete(id)
    if (this.#counts.size === 0) this.#whenNone?.()
  }

  settled(): Promise<void> {
    return this.#counts.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#whenNone = resolve
        })
  }
}

/** The SDK's transport, keeping count, and watching what subscriptions ask for. */
class CountingTransport extends StdioServerTransport {
  readonly #pending: Pending
  readonly #watch: (uris: readonly string[]) => () => void
  readonly #onClosed: () => void
  /** Requests whose answers have been given already. */
  readonly #answered: Set<unknown>
  /** What ends the watching of each subscription, by the id of its request. */
  readonly #watching = new Map<unknown, () => void>()
  /** What the client is asked and has not answered, by id. */
  readonly #asked = new Set<string | number>()
  #hasLeft = false

  constructor({ pending, input, watch, answered }: Connection, onClosed: () => void) {
    super(input, process.stdout)
    this.#pending = pending
    this.#answered = answered
    this.#watch = watch
    this.#onClosed = onClosed
  }

  override async close(): Promise<void> {
    await super.close()
    for (const id of [...this.#watching.keys()]) this.#unwatch(id)
    this.#onClosed()
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage
    this.onmessage = (message) => {
      if ('method' in message && 'id' in message && !isEndless(message.method)) {
        this.#pending.add(message.id)
      }
      if ('method' in message && message.method === 'notifications/cancelled') {
        // Its answer has been given; that of the SDK must come, to be told from a later one.
        if (this.#answered.has(message.params?.requestId)) return
        this.#pending.delete(message.params?.requestId)
        this.#unwatch(message.params?.requestId)
      }
      if ('method' in message && 'id' in message && isEndless(message.method)) {
        this.#watching.set(message.id, this.#watch(wantedResources(message)))
      }
      if (!('method' in message) && message.id !== undefined) this.#asked.delete(message.id)
      deliver?.(message)
    }
    await super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = 'id' in message && !('method' in message)
    if ('id' in message && 'method' in message) {
      this.#asked.add(message.id)
      if (this.#hasLeft) setImmediate(() => this.leave())
    }
    if (!isAnswer || !this.#answered.delete(message.id)) await super.send(message)
    if (!isAnswer) return
    this.#pending.delete(message.id)
    this.#unwatch(message.id)
  }

  /**
   * The client says nothing more, so what it is asked stays unanswered: that is an answer, too. The
   * SDK would wait ten minutes for another.
   */
  leave(): void {
    this.#hasLeft = true
    const error = { code: -32000, message: 'The client has gone' }
    for (const id of this.#asked) this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #unwatch(id: unknown): void {
    this.#watching.get(id)?.()
    this.#watching.delete(id)
  }
}

interface Connection {
  readonly answered: Set<unknown>
  readonly pending: Pending
  readonly input: PassThrough
  readonly watch: (uris: readonly string[]) => () => void
}

/** A subscription is a request that is answered when it ends: nothing to wait for. */
const isEndless = (method: string) => method === 'subscriptions/listen'
