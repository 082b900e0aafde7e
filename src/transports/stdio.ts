import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { JSONRPCMessage, McpServerFactory } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { wantedResources } from './subscriptions.ts'

export interface StdioServer {
  /**
   * Resolves when the client has gone: its end of the pipe is closed and answered. Rejects when the
   * connection broke before that, by a message too large or a client that no longer reads.
   */
  readonly done: Promise<void>
  close(): Promise<void>
}

/** Serves MCP on standard input and output. */
export function startStdio(
  factory: McpServerFactory,
  {
    onError,
    watch,
  }: {
    onError: (error: Error) => void
    /** Watches resources for the client, and tells it, until it is stopped. */
    watch: (uris: readonly string[]) => () => void
  },
): StdioServer {
  const input = new PassThrough()
  const pending = new Pending()
  let hasEnded = false
  let lastError = 'no reason is known'
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => undefined)
  const transport = new CountingTransport({ pending, input, watch }, () => {
    if (!hasEnded) reject(new Error(`The connection to the client broke off: ${lastError}`))
  })
  const onerror = (error: Error) => {
    lastError = error.message
    onError(error)
  }
  const handle = serveStdio(factory, { transport, onerror })
  process.stdin.pipe(input, { end: false })
  // The client closing its end of the pipe means: no more requests. What it asked before that is
  // answered first, so that a script can pipe requests in and read the answers.
  const answered = finished(process.stdin, { writable: false })
    .catch(() => undefined)
    .then(() => pending.settled())
    .then(() => {
      hasEnded = true
      input.end()
    })
  return {
    done: Promise.race([answered, broken]),
    async close() {
      hasEnded = true
      process.stdin.destroy()
      await handle.close()
    },
  }
}

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
  /** What ends the watching of each subscription, by the id of its request. */
  readonly #watching = new Map<unknown, () => void>()

  constructor({ pending, input, watch }: Connection, onClosed: () => void) {
    super(input, process.stdout)
    this.#pending = pending
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
        this.#pending.delete(message.params?.requestId)
        this.#unwatch(message.params?.requestId)
      }
      if ('method' in message && 'id' in message && isEndless(message.method)) {
        this.#watching.set(message.id, this.#watch(wantedResources(message)))
      }
      deliver?.(message)
    }
    await super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!('id' in message) || 'method' in message) return
    this.#pending.delete(message.id)
    this.#unwatch(message.id)
  }

  #unwatch(id: unknown): void {
    this.#watching.get(id)?.()
    this.#watching.delete(id)
  }
}

interface Connection {
  readonly pending: Pending
  readonly input: PassThrough
  readonly watch: (uris: readonly string[]) => () => void
}

/** A subscription is a request that is answered when it ends: nothing to wait for. */
const isEndless = (method: string) => method === 'subscriptions/listen'
