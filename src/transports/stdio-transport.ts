import type { Readable } from 'node:stream'
import {
  INVALID_REQUEST,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PARSE_ERROR,
  PROTOCOL_VERSION_META_KEY,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { errorResponse, judge } from '../mcp/json-rpc.ts'
import { toldMessage } from '../mcp/protocol-error.ts'
import { Batch, batchFault } from './batches.ts'
import { Lines } from './lines.ts'
import type { Pending } from './pending.ts'
import { onlyWatched, wantedResources } from './subscriptions.ts'

export interface ConnectionParts {
  /** What the client sends. */
  readonly from: Readable
  /** Ends when there is nothing more to answer, and ends the connection with that. */
  readonly ending: Readable
  readonly pending: Pending
  /** Ids of messages that are replayed: their answers have been given. */
  readonly replayed: Set<unknown>
  readonly watch: (uris: readonly string[]) => () => void
  readonly onClosed: () => void
}

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

  constructor(parts: ConnectionParts) {
    super(parts.ending as ConstructorParameters<typeof StdioServerTransport>[0], process.stdout)
    this.#parts = parts
  }

  override async start(): Promise<void> {
    this.#parts.from.on('data', this.read)
    await super.start()
  }

  override async close(): Promise<void> {
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
      }
      return super.send(message)
    }
    const { id } = message
    if (!this.#parts.replayed.delete(id)) await this.#answer(toldMessage(message, undefined))
    this.#parts.pending.delete(id)
    this.#unwatch(id)
  }

  /** What the opening has answered: the SDK is told of it, and its answer goes nowhere. */
  replay(message: JSONRPCMessage): void {
    this.#deliver(message)
  }

  /** Takes what the client has sent. */
  readonly read = (chunk: Buffer): void => {
    try {
      for (const line of this.#lines.add(chunk)) this.#take(line)
    } catch (error) {
      this.onerror?.(error as Error)
      this.close().catch(() => undefined)
    }
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
    const value = parsed(line)
    if (value === undefined) {
      this.#refuse(errorResponse(null, { code: PARSE_ERROR, message: 'A line is not JSON.' }))
    } else if (Array.isArray(value)) this.#takeBatch(value)
    else {
      const { message, refusal } = this.#admitted(value)
      if (refusal) this.#refuse(refusal)
      if (message) this.#deliver(message)
    }
  }

  #takeBatch(values: readonly unknown[]): void {
    const fault = batchFault(values, this.#revision)
    if (fault !== undefined) {
      this.#refuse(errorResponse(null, { code: INVALID_REQUEST, message: fault }))
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
    const judged = judge(value)
    if (!judged.ok) {
      this.onerror?.(new Error(`A message is refused: ${judged.reason}`))
      return judged.answer ? { refusal: judged.answer } : {}
    }
    const { message } = judged
    if (!('method' in message) || !('id' in message)) return { message }
    if (message.method === 'initialize' && isBatch) {
      const error = { code: INVALID_REQUEST, message: 'initialize must not be part of a batch.' }
      return { refusal: errorResponse(message.id, error) }
    }
    const refusal = refusalOfRevision(message)
    return refusal ? { refusal } : { message }
  }

  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) {
      if (message.method === 'initialize') this.#revision = String(message.params?.protocolVersion)
      if (isEndless(message.method)) {
        this.#watching.set(message.id, this.#parts.watch(wantedResources(message)))
        this.onmessage?.(onlyWatched(message))
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
    await (batch ? this.#finish(batch) : super.send(message))
  }

  async #finish(batch: Batch): Promise<void> {
    const answers = batch.complete
    if (!answers || !this.#batches.delete(batch) || answers.length === 0) return
    // An array is written as any message is; the SDK's type knows single ones only.
    await super.send(answers as unknown as JSONRPCMessage)
  }

  #refuse(refusal: JSONRPCErrorResponse): void {
    super.send(refusal).catch(this.onerror)
  }

  #unwatch(id: unknown): void {
    this.#watching.get(id)?.()
    this.#watching.delete(id)
  }
}

/** A line as data; `undefined` when it is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

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
  return toldMessage(errorResponse(id, { code, message, data }), undefined) as JSONRPCErrorResponse
}

/** A subscription is a request that is answered when it ends: nothing to wait for. */
const isEndless = (method: string) => method === 'subscriptions/listen'
