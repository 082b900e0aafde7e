import type { Readable } from 'node:stream'
import {
  INVALID_REQUEST,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { errorResponse } from '../mcp/protocol/json-rpc.ts'
import {
  anonymousError,
  batchError,
  checkMessage,
  parseMessage,
} from '../mcp/protocol/message-check.ts'
import { messageForClient } from '../mcp/protocol/protocol-error.ts'
import { WatchLimitError } from '../session/watched-replies.ts'
import { Batch } from './batch.ts'
import { Lines } from './lines.ts'
import type { Output } from './output.ts'
import type { Pending } from './pending.ts'
import { onlyWatched, wantedResources } from './subscriptions.ts'

export interface ConnectionParts {
  /** What the client sends. */
  readonly from: Readable
  /** Ends when there is nothing more to answer, and ends the connection with that. */
  readonly ending: Readable
  readonly output: Output
  readonly pending: Pending
  /** Ids of messages that are replayed: their answers have been given. */
  readonly replayed: Set<unknown>
  readonly watch: (uris: readonly string[]) => () => void
  readonly onClosed: () => void
}

/** Requests of one client that are served at once. */
const mostInFlight = 256

/** Revisions whose requests name their revision themselves. */
const modernVersions = ['2026-07-28']

/**
 * The SDK's transport, which writes and closes. What comes in is read here instead: the SDK leaves
 * messages that it does not take unanswered, knows no batches, and looks at the revision that a
 * request names only until the first request of a connection. Keeps count of what is unanswered, and
 * watches what subscriptions ask for.
 */
export class StdioTransport extends StdioServerTransport {
  readonly #parts: ConnectionParts
  readonly #lines = new Lines()
  readonly #batches = new Set<Batch>()
  /** What ends the watching of each subscription, by the id of its request. */
  readonly #watching = new Map<unknown, () => void>()
  /** What the client is asked and has not answered, by id. */
  readonly #asked = new Set<string | number>()
  /** The revision that the client has asked for; a batch is served in the one that it fits. */
  #revision: string | undefined
  #hasLeft = false
  /** Lines that are not looked at yet. */
  readonly #held: string[] = []
  #isClosed = false

  constructor(parts: ConnectionParts) {
    super(parts.ending as ConstructorParameters<typeof StdioServerTransport>[0], process.stdout)
    this.#parts = parts
  }

  override async start(): Promise<void> {
    this.#parts.from.on('data', this.read)
    await super.start()
  }

  override async close(): Promise<void> {
    this.#isClosed = true
    this.#parts.from.off('data', this.read)
    await super.close()
    for (const id of [...this.#watching.keys()]) this.#unwatch(id)
    this.#parts.onClosed()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      if ('id' in message) {
        this.#asked.add(message.id)
        if (this.#hasLeft) setImmediate(() => this.leave())
        // Its answer may stand behind what is not read yet.
        setImmediate(() => this.#work())
      }
      return this.#parts.output.write(message)
    }
    const { id } = message
    if (!this.#parts.replayed.delete(id)) await this.#answer(messageForClient(message, undefined))
    this.#parts.pending.delete(id)
    this.#unwatch(id)
    this.#work()
  }

  /** What the handshake has answered: the SDK is told of it, and its answer goes nowhere. */
  replay(message: JSONRPCMessage): void {
    this.#deliver(message)
  }

  /** Takes what the client has sent, as far as it is its turn. */
  readonly read = (chunk: Buffer): void => {
    try {
      this.#held.push(...this.#lines.add(chunk))
      this.#work()
    } catch (error) {
      this.onerror?.(error as Error)
      this.close().catch(() => undefined)
    }
  }

  /**
   * Looks at what has come. While the client leaves much unread or has many requests in flight,
   * nothing more is taken or read: it would all be kept in memory.
   */
  #work(): void {
    if (this.#isClosed) return
    const { output, from } = this.#parts
    while (this.#held.length > 0) {
      if (output.isBehind || (this.#isFull && this.#asked.size === 0)) {
        from.pause()
        if (output.isBehind) output.whenRead(() => this.#work())
        return
      }
      this.#take(this.#held.shift() ?? '')
    }
    from.resume()
  }

  get #isFull(): boolean {
    return this.#parts.pending.size >= mostInFlight
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

  #take(line: string): void {
    const read = parseMessage(line, 'A line')
    if (!read.ok) this.#refuse(read.answer)
    else if (Array.isArray(read.value)) this.#takeBatch(read.value)
    else {
      const { message, refusal } = this.#admitted(read.value)
      if (refusal) this.#refuse(refusal)
      if (message) this.#deliver(message)
    }
  }

  #takeBatch(values: readonly unknown[]): void {
    const error = this.#isFull
      ? anonymousError(INVALID_REQUEST, tooMany)
      : batchError(values, this.#revision)
    if (error) {
      this.#refuse(error)
      return
    }
    const all = values.map((value) => this.#admitted(value, { isBatch: true }))
    const messages = all.flatMap(({ message }) => message ?? [])
    const ids = messages.flatMap((one) => ('method' in one && 'id' in one ? [one.id] : []))
    const batch = new Batch(
      ids,
      all.flatMap(({ refusal }) => refusal ?? []),
    )
    this.#batches.add(batch)
    for (const message of messages) this.#deliver(message)
    this.#finish(batch).catch(this.onerror)
  }

  /** What is delivered of a value, or told of it; neither for a response that is malformed. */
  #admitted(value: unknown, { isBatch = false } = {}): Admitted {
    const checked = checkMessage(value)
    if (!checked.ok) {
      this.onerror?.(new Error(`A message is refused: ${checked.reason}`))
      return checked.answer ? { refusal: checked.answer } : {}
    }
    const { message } = checked
    if (!('method' in message) || !('id' in message)) return { message }
    if (message.method === 'initialize' && isBatch) {
      const error = { code: INVALID_REQUEST, message: 'initialize must not be part of a batch.' }
      return { refusal: errorResponse(message.id, error) }
    }
    // What the client is asked may be answered further on, so it cannot simply wait.
    if (this.#isFull)
      return { refusal: errorResponse(message.id, { code: -32000, message: tooMany }) }
    const refusal = refusalOfRevision(message)
    return refusal ? { refusal } : { message }
  }

  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) {
      if (message.method === 'initialize') this.#revision = String(message.params?.protocolVersion)
      if (isEndless(message.method)) {
        const refusal = this.#watch(message)
        if (refusal) this.#refuse(refusal)
        else this.onmessage?.(onlyWatched(message))
        return
      }
      this.#parts.pending.add(message.id)
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      this.#cancel(message.params?.requestId)
    } else if (!('method' in message) && message.id !== undefined) this.#asked.delete(message.id)
    this.onmessage?.(message)
  }

  /** What is cancelled gets no answer. */
  #cancel(id: unknown): void {
    this.#parts.pending.delete(id)
    this.#unwatch(id)
    const batch = [...this.#batches].find((one) => one.settle(id))
    if (batch) this.#finish(batch).catch(this.onerror)
  }

  async #answer(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message ? message.id : undefined
    const batch = [...this.#batches].find((one) => one.settle(id, message))
    await (batch ? this.#finish(batch) : this.#parts.output.write(message))
  }

  async #finish(batch: Batch): Promise<void> {
    const answers = batch.complete
    if (!answers || !this.#batches.delete(batch) || answers.length === 0) return
    await this.#parts.output.write(answers)
  }

  #refuse(refusal: JSONRPCErrorResponse): void {
    this.#parts.output.write(refusal).catch(this.onerror)
  }

  /** Watches what a subscription asks for; gives the refusal where that is too much. */
  #watch(message: JSONRPCRequest): JSONRPCErrorResponse | undefined {
    try {
      this.#watching.set(message.id, this.#parts.watch(wantedResources(message)))
      return undefined
    } catch (error) {
      if (!(error instanceof WatchLimitError)) throw error
      return errorResponse(message.id, { code: -32000, message: error.message })
    }
  }

  #unwatch(id: unknown): void {
    this.#watching.get(id)?.()
    this.#watching.delete(id)
  }
}

const tooMany = `More than ${mostInFlight} requests are in flight. Wait for answers first.`

interface Admitted {
  readonly message?: JSONRPCMessage
  readonly refusal?: JSONRPCErrorResponse
}

/** The error for a request that names a revision which is not served; whatever came before it. */
function refusalOfRevision({ id, method, params }: JSONRPCRequest) {
  const requested = params?._meta?.[PROTOCOL_VERSION_META_KEY]
  // What is no text is an error of the envelope, and `initialize` has a version of its own.
  if (typeof requested !== 'string' || modernVersions.includes(requested)) return undefined
  if (method === 'initialize') return undefined
  const { code, message, data } = new UnsupportedProtocolVersionError({
    supported: modernVersions,
    requested,
  })
  return messageForClient(
    errorResponse(id, { code, message, data }),
    undefined,
  ) as JSONRPCErrorResponse
}

/** A subscription is a request that is answered when it ends: nothing to wait for. */
const isEndless = (method: string) => method === 'subscriptions/listen'
