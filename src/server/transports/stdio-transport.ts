import type { Readable } from 'node:stream'
import {
  INVALID_REQUEST,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { messageForClient } from '../../mcp/errors.ts'
import {
  anonymousError,
  batchError,
  checkMessage,
  isRequest,
  parseMessage,
  requestError,
} from '../../mcp/message-check.ts'
import { errorResponse } from '../../mcp/messages.ts'
import type { Output, Pending } from './output.ts'
import { StdioSubscriptions, type WatchRequest, watchedPart } from './subscriptions.ts'

interface StdioTransportParts {
  /** What the client sends. */
  readonly input: Readable
  /** What the SDK reads: nothing, until it ends and with it the connection. */
  readonly sdkInput: Readable
  readonly output: Output
  /** Requests of the client that are not answered yet. */
  readonly pending: Pending
  /** Ids of replayed requests. The handshake has answered them. */
  readonly replayed: Set<unknown>
  readonly watch: WatchRequest
  readonly onClosed: () => void
}

/** Most requests of one client that are served at once. */
const maxInFlight = 256

/**
 * The SDK's transport with another reader. The SDK does not answer messages that it refuses, has no
 * batches, and checks the revision that a request names only until the first request of a
 * connection. This class reads and checks messages itself, limits the requests in flight, and
 * watches the resources of subscriptions.
 */
export class StdioTransport extends StdioServerTransport {
  readonly #parts: StdioTransportParts
  readonly #lines = new Lines()
  /** Lines that were read and not handled yet. */
  readonly #unhandled: string[] = []
  readonly #batches = new Batches()
  readonly #subscriptions: StdioSubscriptions
  /** Ids of requests of this server that the client has not answered. */
  readonly #askedOfClient = new Set<string | number>()
  /** The revision of `initialize`: batches depend on it. */
  #revision: string | undefined
  #isInputEnded = false
  #isClosed = false

  constructor(parts: StdioTransportParts) {
    super(parts.sdkInput as ConstructorParameters<typeof StdioServerTransport>[0], process.stdout)
    this.#parts = parts
    this.#subscriptions = new StdioSubscriptions(parts.watch)
  }

  override async start(): Promise<void> {
    this.#parts.input.on('data', this.read)
    await super.start()
  }

  override async close(): Promise<void> {
    this.#isClosed = true
    this.#parts.input.off('data', this.read)
    await super.close()
    this.#subscriptions.endAll()
    this.#parts.onClosed()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      if ('id' in message) this.#expectAnswer(message.id)
      return this.#parts.output.write(message)
    }
    const { id } = message
    const isReplay = this.#parts.replayed.delete(id)
    if (!isReplay) await this.#answer(messageForClient(message, undefined))
    this.#parts.pending.delete(id)
    this.#subscriptions.end(id)
    this.#handleLines()
  }

  /** Gives the SDK a message that the handshake has handled. Its answer is not sent. */
  replay(message: JSONRPCMessage): void {
    this.#deliver(message)
  }

  /** Reads what the client has sent. */
  readonly read = (chunk: Buffer): void => {
    try {
      this.#unhandled.push(...this.#lines.add(chunk))
      this.#handleLines()
    } catch (error) {
      this.onerror?.(error as Error)
      this.close().catch(() => undefined)
    }
  }

  /**
   * The client sends nothing more, so it will not answer what it is asked. Without these errors the
   * SDK would wait ten minutes.
   */
  endInput(): void {
    this.#isInputEnded = true
    const error = { code: -32000, message: 'The client has gone' }
    for (const id of this.#askedOfClient) this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #expectAnswer(id: string | number): void {
    this.#askedOfClient.add(id)
    if (this.#isInputEnded) setImmediate(() => this.endInput())
    // The answer may be behind lines that wait.
    setImmediate(() => this.#handleLines())
  }

  /**
   * Handles the lines that were read. It stops, and reads nothing more, while the client leaves much
   * unread or has the most requests in flight: all of it would be kept in memory.
   */
  #handleLines(): void {
    if (this.#isClosed) return
    const { output, input } = this.#parts
    while (this.#unhandled.length > 0) {
      if (output.isBehind || (this.#isFull && this.#askedOfClient.size === 0)) {
        input.pause()
        if (output.isBehind) output.whenRead(() => this.#handleLines())
        return
      }
      this.#handle(this.#unhandled.shift() ?? '')
    }
    input.resume()
  }

  get #isFull(): boolean {
    return this.#parts.pending.size >= maxInFlight
  }

  #handle(line: string): void {
    const parsed = parseMessage(line, 'A line')
    if (!parsed.ok) this.#write(parsed.answer)
    else if (Array.isArray(parsed.value)) this.#handleBatch(parsed.value)
    else {
      const { message, error } = this.#check(parsed.value)
      if (error) this.#write(error)
      if (message) this.#deliver(message)
    }
  }

  #handleBatch(values: readonly unknown[]): void {
    const error = this.#isFull
      ? anonymousError(INVALID_REQUEST, tooMany)
      : batchError(values, this.#revision)
    if (error) {
      this.#write(error)
      return
    }
    const checked = values.map((value) => this.#check(value, { isBatch: true }))
    const messages = checked.flatMap(({ message }) => message ?? [])
    const ids = messages.filter(isRequest).map(({ id }) => id)
    const errors = checked.flatMap((one) => one.error ?? [])
    this.#writeAll(this.#batches.open(ids, errors))
    for (const message of messages) this.#deliver(message)
  }

  /** The message of a value, or the error that answers it; neither for a malformed response. */
  #check(value: unknown, { isBatch = false } = {}): CheckedValue {
    const checked = checkMessage(value)
    if (!checked.ok) {
      this.onerror?.(new Error(`A message is refused: ${checked.reason}`))
      return { error: checked.answer }
    }
    const { message } = checked
    if (!isRequest(message)) return { message }
    // A request cannot wait here: the client's answer to a question may be behind it.
    const error = this.#isFull
      ? errorResponse(message.id, { code: -32000, message: tooMany })
      : requestError(message, { isBatch })
    return error ? { error } : { message }
  }

  #deliver(message: JSONRPCMessage): void {
    if (isRequest(message)) {
      if (message.method === 'initialize') this.#revision = String(message.params?.protocolVersion)
      if (message.method === 'subscriptions/listen') {
        this.#subscribe(message)
        return
      }
      this.#parts.pending.add(message.id)
    } else if (!('method' in message)) {
      if (message.id !== undefined) this.#askedOfClient.delete(message.id)
    } else if (message.method === 'notifications/cancelled') {
      this.#cancel(message.params?.requestId)
    }
    this.onmessage?.(message)
  }

  /** A cancelled request gets no answer. */
  #cancel(id: unknown): void {
    this.#parts.pending.delete(id)
    this.#subscriptions.end(id)
    this.#writeAll(this.#batches.settle(id))
  }

  async #answer(message: JSONRPCMessage): Promise<void> {
    const answers = 'id' in message ? this.#batches.settle(message.id, message) : undefined
    if (!answers) await this.#parts.output.write(message)
    else if (answers.length > 0) await this.#parts.output.write(answers)
  }

  #write(message: JSONRPCMessage): void {
    this.#parts.output.write(message).catch(this.onerror)
  }

  /** JSON-RPC 2.0 §6: a batch of notifications alone has no answer. */
  #writeAll(answers: readonly JSONRPCMessage[] = []): void {
    if (answers.length > 0) this.#parts.output.write(answers).catch(this.onerror)
  }

  /** Such a request is answered when the subscription ends, so it is not pending. */
  #subscribe(message: JSONRPCRequest): void {
    const { uris, message: watched } = watchedPart(message)
    const error = this.#subscriptions.begin(message, uris)
    if (error) this.#answer(error).catch(this.onerror)
    else this.onmessage?.(watched)
  }
}

const tooMany = `More than ${maxInFlight} requests are in flight. Wait for answers first.`

interface CheckedValue {
  readonly message?: JSONRPCMessage
  readonly error?: JSONRPCErrorResponse | undefined
}

type Answers = readonly JSONRPCMessage[]

/** The batches of one connection. The answers to a batch are sent together, with the last of them. */
class Batches {
  readonly #open = new Set<Batch>()

  /**
   * Opens a batch of requests with these ids. `errors` are the answers to its invalid messages.
   * Returns the answers if no request has to be waited for.
   */
  open(ids: readonly unknown[], errors: Answers): Answers | undefined {
    const batch = new Batch(ids, errors)
    this.#open.add(batch)
    return this.#finished(batch)
  }

  /**
   * Settles the request with this id, with its answer unless it is cancelled. Returns `undefined` if
   * the request belongs to no batch; else the answers that are to be sent now, or an empty list.
   */
  settle(id: unknown, answer?: JSONRPCMessage): Answers | undefined {
    const batch = [...this.#open].find((one) => one.settle(id, answer))
    return batch && (this.#finished(batch) ?? [])
  }

  #finished(batch: Batch): Answers | undefined {
    if (!batch.isComplete) return undefined
    this.#open.delete(batch)
    return batch.answers
  }
}

class Batch {
  readonly #waitingFor: unknown[]
  readonly answers: JSONRPCMessage[]

  constructor(ids: readonly unknown[], errors: Answers) {
    this.#waitingFor = [...ids]
    this.answers = [...errors]
  }

  /** False if the batch does not wait for an answer with this id. */
  settle(id: unknown, answer?: JSONRPCMessage): boolean {
    const at = this.#waitingFor.indexOf(id)
    if (at < 0) return false
    this.#waitingFor.splice(at, 1)
    if (answer) this.answers.push(answer)
    return true
  }

  get isComplete(): boolean {
    return this.#waitingFor.length === 0
  }
}

/** Longest message over stdio, bytes. The SDK has the same limit. */
const longestLine = 10 * 1024 * 1024

const newline = 0x0a

const tooLong = () =>
  Object.assign(new Error(`A message is longer than ${longestLine} bytes`), {
    code: 'MESSAGE_TOO_LONG',
  })

/** Splits chunks into lines. */
class Lines {
  #chunks: Buffer[] = []
  #size = 0

  #take(end: Buffer): Buffer {
    const line = this.#chunks.length === 0 ? end : Buffer.concat([...this.#chunks, end])
    this.#chunks = []
    this.#size = 0
    if (line.length > longestLine) throw tooLong()
    return line
  }

  /** The lines that this chunk completes, without blank lines. Throws if a line is too long. */
  *add(chunk: Buffer): Generator<string> {
    let rest = chunk
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      const line = this.#take(rest.subarray(0, at)).toString('utf8').trim()
      rest = rest.subarray(at + 1)
      if (line !== '') yield line
    }
    this.#size += rest.length
    if (this.#size > longestLine) throw tooLong()
    if (rest.length > 0) this.#chunks.push(rest)
  }
}
