import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  type JSONRPCMessage,
  type McpServerFactory,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Output } from './output.ts'
import { Pending } from './pending.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface StdioServer {
  /**
   * Resolves when the client has gone: its end of the pipe is closed and answered, or it no longer
   * reads. Rejects when the connection broke before that, such as by a message too large.
   */
  readonly done: Promise<void>
  close(): Promise<void>
}

/** What has come before there was a connection. */
export interface Before {
  /** Messages that are answered, in full lines. */
  readonly kept: Buffer
  /** What came after them. */
  readonly rest: Buffer
  /** Bytes that the client may leave unread before nothing more is read of it. */
  readonly mostUnread: number
}

/** Takes over a client from the handshake. */
export type Connect = (before: Before) => StdioServer

export interface ConnectionOptions {
  readonly factory: McpServerFactory
  readonly onError: (error: Error) => void
  /** Told when the client asks nothing more, before what it has asked is answered. */
  readonly onShutdown: () => void
  /** Watches resources for the client, and tells it, until it is stopped. */
  readonly watch: (uris: readonly string[]) => () => void
}

/** Serves MCP on standard input and output with the SDK. */
export function connectStdio(
  { factory, onError, onShutdown, watch }: ConnectionOptions,
  { kept, rest, mostUnread }: Before,
): StdioServer {
  const input = new PassThrough()
  const pending = new Pending()
  let hasEnded = false
  let lastError = 'no reason is known'
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => undefined)
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  const replayed = replayOf(kept)
  const transport = new StdioTransport({
    from: process.stdin,
    ending: input,
    output: new Output(process.stdout, mostUnread),
    pending,
    watch,
    replayed: new Set(replayed.flatMap((message) => ('id' in message ? [message.id] : []))),
    onClosed() {
      onClosed()
      if (!hasEnded) reject(new Error(`The connection to the client broke off: ${lastError}`))
    },
  })
  const onerror = (error: Error) => {
    lastError = error.message
    onError(error)
  }
  const handle = serveStdio(factory, { transport, onerror })
  for (const message of replayed) transport.replay(message)
  // Goes on reading, too.
  transport.read(rest)
  // The client closing its end of the pipe means: no more requests. What it asked before that is
  // answered first, so that a script can pipe requests in and read the answers.
  const settled = finished(process.stdin, { writable: false })
    .catch(() => undefined)
    .then(() => {
      // What has come is looked at first, so that it is told what was done of it.
      setImmediate(() => {
        onShutdown()
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

/**
 * What the handshake has answered, for the SDK. Requests get ids that no client has, so that their
 * answers are told from those to later requests, whose client may use an id again.
 */
const replayOf = (lines: Buffer): JSONRPCMessage[] =>
  lines
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJSONRPCMessage(JSON.parse(line)))
    .map((message) => ('id' in message ? { ...message, id: randomUUID() } : message))
