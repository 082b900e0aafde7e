import type { StdioHandshake } from '../../mcp/stdio-handshake.ts'
import { jsonIn } from '../../text/json.ts'
import type { Connect, Handover, StdioServer } from './stdio-connection.ts'

export interface StdioOptions {
  readonly handshake: StdioHandshake
  /** Loads the rest of the server, which answers all other messages. */
  readonly load: () => Promise<Connect>
}

/** Longest message that the handshake handles, bytes. */
const maxHandshakeMessage = 65_536

/** Backpressure limit: with more unread bytes, the server stops reading. */
const maxUnread = 4 * 1024 * 1024

const newline = 0x0a

/**
 * Serves MCP on standard input and output. The handshake handles the first messages, line by line.
 * At the first message that it does not handle, `load` runs and takes over. Assistants start many
 * servers and use few, so a server stays small until then.
 */
export function startStdio({ handshake, load }: StdioOptions): StdioServer {
  const { stdin, stdout } = process
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  done.catch(() => undefined)
  let next: Promise<StdioServer> | undefined
  let isClosed = false
  const reader = new HandshakeReader(handshake, (handover) => {
    if (isClosed) return
    stdin.off('end', resolve)
    next = load().then((connect) => connect({ ...handover, maxUnread }))
    next.then((server) => server.done).then(resolve, reject)
  })
  stdin.once('end', resolve)
  stdin.once('error', () => resolve())
  // Never removed: an earlier write may fail while the rest is loaded.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A client may also end a server by closing the other pipe.
    if (error.code === 'EPIPE') resolve()
    else reject(new Error(`The connection to the client broke off: ${error.message}`))
  })
  return {
    done,
    async close() {
      isClosed = true
      reader.stop()
      if (next) await next.then((server) => server.close())
      else stdin.destroy()
    },
  }
}

type ReadByHandshake = Omit<Handover, 'maxUnread'>

/** Reads standard input up to the first message that the handshake does not handle. */
class HandshakeReader {
  readonly #handshake: StdioHandshake
  readonly #onEnd: (read: ReadByHandshake) => void
  #unhandled: Buffer = Buffer.alloc(0)
  /** Lines that the SDK must receive, too. */
  readonly #replayed: Buffer[] = []
  #hasEnded = false

  constructor(handshake: StdioHandshake, onEnd: (read: ReadByHandshake) => void) {
    this.#handshake = handshake
    this.#onEnd = onEnd
    process.stdin.on('data', this.#read)
  }

  stop(): void {
    this.#hasEnded = true
  }

  readonly #read = (chunk: Buffer): void => {
    this.#unhandled = this.#unhandled.length === 0 ? chunk : Buffer.concat([this.#unhandled, chunk])
    this.#handleLines()
  }

  /** Handles complete lines, with backpressure. */
  readonly #handleLines = (): void => {
    if (this.#hasEnded) return
    const { stdin, stdout } = process
    for (;;) {
      const at = this.#unhandled.indexOf(newline)
      if (at < 0) break
      if (stdout.writableLength > maxUnread) {
        stdin.pause()
        stdout.once('drain', this.#handleLines)
        return
      }
      if (!this.#handleLine(this.#unhandled.subarray(0, at + 1))) {
        this.#end()
        return
      }
      this.#unhandled = this.#unhandled.subarray(at + 1)
    }
    if (this.#unhandled.length > maxHandshakeMessage) this.#end()
    else stdin.resume()
  }

  /** Returns false if the SDK must handle the line. */
  #handleLine(line: Buffer): boolean {
    const reply =
      line.length <= maxHandshakeMessage
        ? this.#handshake(jsonIn(line.toString('utf8')))
        : undefined
    if (!reply) return false
    if (reply.mustReplay) this.#replayed.push(line)
    if (reply.text !== undefined) process.stdout.write(`${reply.text}\n`)
    return true
  }

  #end(): void {
    this.#hasEnded = true
    process.stdin.pause()
    process.stdin.off('data', this.#read)
    this.#onEnd({ replayed: Buffer.concat(this.#replayed), unhandled: this.#unhandled })
  }
}
