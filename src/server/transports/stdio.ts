import type { StdioHandshake } from '../../mcp/stdio-handshake.ts'
import { jsonIn } from '../../text/json.ts'

export interface StdioServer {
  /**
   * Resolves when the client has closed the connection and its requests are answered, or when the
   * client stops reading. Rejects when the connection breaks earlier, such as by a message that is
   * too long.
   */
  readonly done: Promise<void>
  close(): Promise<void>
}

/** State of a connection at the moment when the handshake hands it over. */
export interface Handover {
  /** Lines that the handshake has answered and that the MCP SDK must also receive. */
  readonly replayed: Buffer
  /** Bytes read after the replayed lines. */
  readonly unhandled: Buffer
}

/** Takes over a connection from the handshake, and serves it to its end. */
export type Connect = (handover: Handover) => StdioServer

export interface StdioOptions {
  readonly handshake: StdioHandshake
  /**
   * Loads the rest of the server, which takes over at the first message that the handshake leaves
   * to it.
   */
  readonly load: () => Promise<Connect>
}

/** Longest message that the handshake handles, bytes. */
const maxHandshakeMessage = 65_536

/** Backpressure limit, bytes: with more unread by the client, the server stops reading. */
export const maxUnread = 4 * 1024 * 1024

const newline = 0x0a

/**
 * Serves MCP on standard input and output. The handshake answers the first messages. At the first
 * message that it does not handle, `load` runs and takes over. Assistants start many servers and
 * use few, so an unused server stays small.
 */
export function startStdio({ handshake, load }: StdioOptions): StdioServer {
  const { stdin, stdout } = process
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  done.catch(() => undefined)
  let next: Promise<StdioServer> | undefined
  let isClosed = false
  const stopReading = readHandshake(handshake, (handover) => {
    if (isClosed) return
    stdin.off('end', resolve)
    next = load().then((connect) => connect(handover))
    next.then((server) => server.done).then(resolve, reject)
  })
  stdin.once('end', resolve)
  stdin.once('error', () => resolve())
  // Never removed: an earlier write may still fail while the rest of the server is loaded.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A client may end a server by closing the server's output.
    if (error.code === 'EPIPE') resolve()
    else reject(new Error(`The connection to the client broke off: ${error.message}`))
  })
  return {
    done,
    async close() {
      isClosed = true
      stopReading()
      if (next) await next.then((server) => server.close())
      else stdin.destroy()
    },
  }
}

/**
 * Reads standard input up to the first message that the handshake does not handle, then calls
 * `onEnd` with what the MCP SDK must receive. Returns a function that stops reading.
 */
function readHandshake(handshake: StdioHandshake, onEnd: (handover: Handover) => void): () => void {
  const { stdin, stdout } = process
  let unhandled: Buffer = Buffer.alloc(0)
  /** Lines that the handshake has handled but the MCP SDK must also receive. */
  const replayed: Buffer[] = []
  let hasEnded = false
  const read = (chunk: Buffer) => {
    unhandled = unhandled.length === 0 ? chunk : Buffer.concat([unhandled, chunk])
    handleLines()
  }
  /** Handles complete lines, with backpressure. */
  const handleLines = () => {
    if (hasEnded) return
    for (let at = unhandled.indexOf(newline); at >= 0; at = unhandled.indexOf(newline)) {
      if (stdout.writableLength > maxUnread) {
        stdin.pause()
        stdout.once('drain', handleLines)
        return
      }
      if (!handleLine(unhandled.subarray(0, at + 1))) return end()
      unhandled = unhandled.subarray(at + 1)
    }
    if (unhandled.length > maxHandshakeMessage) end()
    else stdin.resume()
  }
  /** Returns false if the MCP SDK must handle the line. */
  const handleLine = (line: Buffer) => {
    if (line.length > maxHandshakeMessage) return false
    const reply = handshake(jsonIn(line.toString('utf8')))
    if (reply?.mustReplay) replayed.push(line)
    if (reply?.text !== undefined) stdout.write(`${reply.text}\n`)
    return reply !== undefined
  }
  const end = () => {
    hasEnded = true
    stdin.pause()
    stdin.off('data', read)
    onEnd({ replayed: Buffer.concat(replayed), unhandled })
  }
  stdin.on('data', read)
  return () => {
    hasEnded = true
  }
}
