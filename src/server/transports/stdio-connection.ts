import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  type JSONRPCMessage,
  type McpServerFactory,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { errorKind } from '../../text/safe-text.ts'
import { Output, Pending } from './output.ts'
import { StdioTransport } from './stdio-transport.ts'
import type { WatchRequest } from './subscriptions.ts'

export interface StdioServer {
  /**
   * Resolves when the client has ended the connection and its requests are answered, or it reads
   * nothing more. Rejects when the connection breaks before, such as by a message that is too long.
   */
  readonly done: Promise<void>
  close(): Promise<void>
}

/** The state of a connection when the handshake hands it over. */
export interface Handover {
  /** Lines of messages that the handshake has handled and the SDK has to receive. */
  readonly replayed: Buffer
  /** What was read after them. */
  readonly unhandled: Buffer
  /** Bytes that a client may leave unread before nothing more is read from it. */
  readonly maxUnread: number
}

/** Takes over a connection from the handshake. */
export type Connect = (handover: Handover) => StdioServer

export interface ConnectionOptions {
  readonly factory: McpServerFactory
  readonly onError: (error: Error) => void
  /** Called when the client sends no more requests, before the last ones are answered. */
  readonly onShutdown: () => void
  /** Called with the id of each request that the SDK receives though the handshake has answered it. */
  readonly onReplay: (id: unknown) => void
  /** Watches resources for the client, until the returned function is called. */
  readonly watch: WatchRequest
}

/** Serves MCP on standard input and output with the SDK. */
export function connectStdio(options: ConnectionOptions, handover: Handover): StdioServer {
  const pending = new Pending()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  const sdkInput = new PassThrough()
  const replayed = messagesToReplay(handover.replayed)
  const replayedIds = replayed.flatMap((message) => ('id' in message ? [message.id] : []))
  for (const id of replayedIds) options.onReplay(id)
  const transport = new StdioTransport({
    input: process.stdin,
    sdkInput,
    output: new Output(process.stdout, handover.maxUnread),
    pending,
    watch: options.watch,
    replayed: new Set(replayedIds),
    onClosed,
  })
  let hasEnded = false
  let lastError = 'the reason is not known'
  const onerror = (error: Error) => {
    lastError = errorKind(error)
    options.onError(error)
  }
  const handle = serveStdio(options.factory, { transport, onerror })
  for (const message of replayed) transport.replay(message)
  // This also makes the transport read on.
  transport.read(handover.unhandled)
  const answered = answeredToTheEnd(transport, { pending, closed, onShutdown: options.onShutdown })
  const ended = answered.then(() => {
    hasEnded = true
    sdkInput.end()
  })
  const broken = closed.then(() => {
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
 * Resolves when the client has closed its end of the pipe and its requests are answered, so that a
 * script can pipe requests in and read the answers.
 */
async function answeredToTheEnd(
  transport: StdioTransport,
  parts: {
    readonly pending: Pending
    readonly closed: Promise<void>
    readonly onShutdown: () => void
  },
): Promise<void> {
  await finished(process.stdin, { writable: false }).catch(() => undefined)
  // Lines that were read are handled first, so that their requests count as pending.
  setImmediate(() => {
    parts.onShutdown()
    transport.endInput()
  })
  await keptAwake(Promise.race([parts.pending.settled(), parts.closed]))
}

/** Keeps the process from ending: between two reads of a call, nothing else does. */
function keptAwake(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, 60_000)
  return work.finally(() => clearInterval(timer))
}

/**
 * The messages in the lines. Their requests get ids that no client uses: a later request of the
 * client may have the same id again, and its answer must be sent.
 */
const messagesToReplay = (lines: Buffer): JSONRPCMessage[] =>
  lines
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJSONRPCMessage(JSON.parse(line)))
    .map((message) => ('id' in message ? { ...message, id: randomUUID() } : message))
