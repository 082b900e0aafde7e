import { randomUUID } from 'node:crypto'
import { PassThrough, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  INVALID_REQUEST,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpServerFactory,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
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
import { watchedOnly } from '../../mcp/subscriptions.ts'
import { WatchLimitError } from '../../platform/sessions/watched-replies.ts'
import { errorKind } from '../../text/safe-text.ts'
import type { Handover, StdioServer } from './stdio.ts'
import { Batches, Lines, Output, Pending } from './stdio-messages.ts'

/** Watches the resources of a `subscriptions/listen` request until the returned function is called. */
export type WatchRequest = (uris: readonly string[], request: JSONRPCRequest) => () => void

interface ConnectionOptions {
  readonly factory: McpServerFactory
  readonly onError: (error: Error) => void
  /** Called at the end of input, before the last requests are answered. */
  readonly onShutdown: () => void
  /**
   * Called with the id of each replayed request: the handshake has answered it, and the MCP SDK
   * receives it again.
   */
  readonly onReplay: (id: unknown) => void
  /** Watches resources for the client, until the returned function is called. */
  readonly watch: WatchRequest
}

/** Serves MCP on standard input and output with the MCP SDK. */
export function connectStdio(options: ConnectionOptions, handover: Handover): StdioServer {
  const sdkInput = new PassThrough()
  const replayed = messagesToReplay(handover.replayed)
  const replayedIds = replayed.flatMap((message) => ('id' in message ? [message.id] : []))
  for (const id of replayedIds) options.onReplay(id)
  const output = new Output(process.stdout)
  const { watch } = options
  const transport = new StdioTransport({ sdkInput, output, watch, replayed: new Set(replayedIds) })
  let hasEnded = false
  let lastError = 'the reason is not known'
  const onerror = (error: Error) => {
    lastError = errorKind(error)
    options.onError(error)
  }
  const handle = serveStdio(options.factory, { transport, onerror })
  for (const message of replayed) transport.replay(message)
  // This call also resumes reading.
  transport.read(handover.unhandled)
  const ended = answeredToTheEnd(transport, options.onShutdown).then(() => {
    hasEnded = true
    sdkInput.end()
  })
  const broken = transport.closed.then(() => {
    if (hasEnded) return ended
    throw new Error(`The connection to the client broke off: ${lastError}`)
  })
  return {
    done: Promise.race([ended, broken]),
    async close() {
      hasEnded = true
      process.stdin.destroy()
      await handle.close()
    },
  }
}

/**
 * Resolves when the client has closed its end of the pipe and its requests are answered, so that
 * scripts can pipe requests in and read the answers.
 */
async function answeredToTheEnd(transport: StdioTransport, onShutdown: () => void): Promise<void> {
  await finished(process.stdin, { writable: false }).catch(() => undefined)
  // Lines that were already read are handled first, so that their requests count as pending.
  setImmediate(() => {
    onShutdown()
    transport.endInput()
  })
  await keptAwake(Promise.race([transport.pending.settled(), transport.closed]))
}

/**
 * Keeps the process alive while `work` runs: between two polls of a telephone call, no timer or
 * socket does.
 */
function keptAwake(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, 60_000)
  return work.finally(() => clearInterval(timer))
}

/**
 * Parses the replayed lines, and gives their requests new random ids. The client may use an id
 * again, and the answer to that later request must not be mistaken for one to drop.
 */
const messagesToReplay = (lines: Buffer): JSONRPCMessage[] =>
  lines
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJSONRPCMessage(JSON.parse(line)))
    .map((message) => ('id' in message ? { ...message, id: randomUUID() } : message))

interface StdioTransportParts {
  /** Input of the MCP SDK. Always empty; its end closes the connection. */
  readonly sdkInput: Readable
  readonly output: Output
  /** Ids of replayed requests. The handshake has answered them. */
  readonly replayed: Set<unknown>
  readonly watch: WatchRequest
}

/** Maximum concurrent requests of one client. */
const maxInFlight = 256

/**
 * The MCP SDK's stdio transport, with a reader of its own. The SDK sends no error for messages that
 * it refuses, has no batches, and checks the revision of only the first request of a connection.
 * This class reads and checks messages, limits the requests in flight, and watches the resources of
 * subscriptions.
 */
class StdioTransport extends StdioServerTransport {
  /** Requests of the client that are not answered yet. */
  readonly pending = new Pending()
  readonly #closing = Promise.withResolvers<void>()
  /** Resolves when the connection is closed. */
  readonly closed = this.#closing.promise
  readonly #parts: StdioTransportParts
  readonly #lines = new Lines()
  /** Lines that are read but not handled. */
  readonly #unhandled: string[] = []
  readonly #batches = new Batches()
  /** Functions that end subscriptions, by request id. */
  readonly #watches = new Map<unknown, () => void>()
  /** Ids of this server's requests to the client that are not answered yet. */
  readonly #askedOfClient = new Set<string | number>()
  /** Negotiated protocol revision. Batches depend on it. */
  #revision: string | undefined
  #isInputEnded = false
  #isClosed = false

  constructor(parts: StdioTransportParts) {
    super(parts.sdkInput as ConstructorParameters<typeof StdioServerTransport>[0], process.stdout)
    this.#parts = parts
  }

  override async start(): Promise<void> {
    process.stdin.on('data', this.read)
    await super.start()
  }

  override async close(): Promise<void> {
    this.#isClosed = true
    process.stdin.off('data', this.read)
    await super.close()
    for (const id of [...this.#watches.keys()]) this.#endWatch(id)
    this.#closing.resolve()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) {
      if ('id' in message) this.#expectAnswer(message.id)
      return this.#parts.output.write(message)
    }
    const { id } = message
    const isReplay = this.#parts.replayed.delete(id)
    if (!isReplay) await this.#answer(messageForClient(message, undefined))
    this.pending.delete(id)
    this.#endWatch(id)
    this.#handleLines()
  }

  /** Passes a message that the handshake has handled to the MCP SDK, and drops the answer. */
  replay(message: JSONRPCMessage): void {
    this.#deliver(message)
  }

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
   * Rejects this server's open requests to the client at the end of input. Otherwise the MCP SDK
   * would wait ten minutes for answers.
   */
  endInput(): void {
    this.#isInputEnded = true
    const error = { code: -32000, message: 'The client has gone' }
    for (const id of this.#askedOfClient) this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  #expectAnswer(id: string | number): void {
    this.#askedOfClient.add(id)
    if (this.#isInputEnded) setImmediate(() => this.endInput())
    // Handling may have paused at the limit of requests in flight. The answer of the client may be
    // in a line that was read and not yet handled.
    setImmediate(() => this.#handleLines())
  }

  /**
   * Handles the read lines. Pauses reading while the client leaves too much unread or has too many
   * requests in flight (backpressure).
   */
  #handleLines(): void {
    if (this.#isClosed) return
    const { output } = this.#parts
    while (this.#unhandled.length > 0) {
      if (output.isBehind || (this.#isFull && this.#askedOfClient.size === 0)) {
        process.stdin.pause()
        if (output.isBehind) output.whenRead(() => this.#handleLines())
        return
      }
      this.#handle(this.#unhandled.shift() ?? '')
    }
    process.stdin.resume()
  }

  get #isFull(): boolean {
    return this.pending.size >= maxInFlight
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

  /**
   * Checks a parsed value. Returns the message or its error response, and neither for a malformed
   * response.
   */
  #check(value: unknown, { isBatch = false } = {}): CheckedValue {
    const checked = checkMessage(value)
    if (!checked.ok) {
      this.onerror?.(new Error(`A message is refused: ${checked.reason}`))
      return { error: checked.answer }
    }
    const { message } = checked
    if (!isRequest(message)) return { message }
    // At the limit, lines are still read while the client owes a response, which may be on a later
    // line. Requests among these lines are refused.
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
      this.pending.add(message.id)
    } else if (!('method' in message)) {
      if (message.id !== undefined) this.#askedOfClient.delete(message.id)
    } else if (message.method === 'notifications/cancelled') {
      this.#cancel(message.params?.requestId)
    }
    this.onmessage?.(message)
  }

  /** Forgets a cancelled request, which gets no answer. */
  #cancel(id: unknown): void {
    this.pending.delete(id)
    this.#endWatch(id)
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

  /**
   * Opens a subscription. Its request is answered when it ends, so it does not count as pending.
   */
  #subscribe(request: JSONRPCRequest): void {
    const { message, uris } = watchedOnly(request)
    try {
      this.#watches.set(request.id, this.#parts.watch(uris, request))
    } catch (error) {
      if (!(error instanceof WatchLimitError)) throw error
      const refusal = errorResponse(request.id, { code: -32000, message: error.message })
      this.#answer(refusal).catch(this.onerror)
      return
    }
    this.onmessage?.(message)
  }

  #endWatch(id: unknown): void {
    this.#watches.get(id)?.()
    this.#watches.delete(id)
  }
}

const tooMany = `More than ${maxInFlight} requests are in flight. Wait for answers first.`

interface CheckedValue {
  readonly message?: JSONRPCMessage
  readonly error?: JSONRPCErrorResponse | undefined
}
