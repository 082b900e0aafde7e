import type { StdioHandshake } from '../mcp/fast/stdio-handshake.ts'
import type { Connect, StdioServer } from './stdio-connection.ts'

export interface StdioOptions {
  /** Answers the first questions. */
  readonly handshake: StdioHandshake
  /** Loads what answers the rest. */
  readonly load: () => Promise<Connect>
}

/** Longest message that the handshake looks at, bytes. */
const longestOpening = 65_536

/** Bytes that a client may leave unread before nothing more is read of it. */
const mostUnread = 4 * 1024 * 1024

const newline = 0x0a

/**
 * Serves MCP on standard input and output: first by the handshake, line by line; then, from the first
 * message that it does not answer, by what is loaded for that. Assistants start many servers and use
 * few, so until then this one is small.
 */
export function startStdio({ handshake, load }: StdioOptions): StdioServer {
  const { stdin, stdout } = process
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  done.catch(() => undefined)
  /** Came and not looked at yet. */
  let rest: Buffer = Buffer.alloc(0)
  /** Answered, and to be told to whoever takes over. */
  const kept: Buffer[] = []
  let taken: Promise<StdioServer> | undefined
  let isClosed = false

  const takeOver = () => {
    if (taken || isClosed) return
    stdin.pause()
    stdin.off('data', read)
    stdin.off('end', end)
    taken = load().then((connect) => connect({ kept: Buffer.concat(kept), rest, mostUnread }))
    taken.then((server) => server.done).then(resolve, reject)
  }
  const read = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    answer()
  }
  /** Answers what has come, as long as the client reads what it is told. */
  const answer = () => {
    if (taken || isClosed) return
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      if (stdout.writableLength > mostUnread) {
        stdin.pause()
        stdout.once('drain', answer)
        return
      }
      const line = rest.subarray(0, at + 1)
      const said = at < longestOpening ? handshake(parsed(line)) : undefined
      if (!said) return takeOver()
      rest = rest.subarray(at + 1)
      if (said.mustReplay) kept.push(line)
      if (said.text !== undefined) stdout.write(`${said.text}\n`)
    }
    if (rest.length > longestOpening) takeOver()
    else stdin.resume()
  }
  const end = () => resolve()
  const broken = (error: NodeJS.ErrnoException) => {
    // The client has closed its end: that is how it ends a server, too.
    if (error.code === 'EPIPE') return resolve()
    reject(new Error(`The connection to the client broke off: ${error.message}`))
  }
  stdin.on('data', read)
  stdin.once('end', end)
  stdin.once('error', end)
  // To the end: what was written here may fail while the rest is loading.
  stdout.on('error', broken)
  return {
    done,
    async close() {
      isClosed = true
      if (taken) await taken.then((server) => server.close())
      else stdin.destroy()
    },
  }
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
