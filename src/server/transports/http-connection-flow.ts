import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface UnreadBounds {
  /** Longest time for which a client may stop reading, ms. */
  readonly longestMs: number
  /** Maximum unread bytes of all responses together. */
  readonly maxBytes: number
}

interface Connection {
  readonly socket: Socket
  /** Pipelined requests after the current request. */
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[]
  /** Response to the current request; `undefined` between two requests. */
  response: ServerResponse | undefined
  /**
   * Unread bytes of the response, and when the client last made progress (`performance.now()`), ms.
   */
  unread: number
  since: number
}

/** Minimum reading speed, bytes per ms. Slower clients are disconnected. */
const minReadingSpeed = 64

/**
 * Serves the requests of each connection one after the other. A pipelined request starts only when
 * the operating system has taken the previous response; until then, the connection is paused.
 * Responses must be in request order (RFC 9112 §9.3.2), so an early response would only take
 * memory, for a client that may never read it.
 */
export class Connections {
  readonly #serve: Serve
  readonly #bounds: UnreadBounds
  readonly #known = new WeakMap<Socket, Connection>()
  /** Connections with a running or waiting request. */
  readonly #busy = new Set<Connection>()
  #whenIdle: (() => void) | undefined

  constructor(serve: Serve, bounds: UnreadBounds) {
    this.#serve = serve
    this.#bounds = bounds
  }

  readonly take: Serve = (request, response) => {
    const { socket } = request
    const connection = this.#known.get(socket) ?? this.#open(socket)
    if (this.#busy.has(connection)) {
      connection.waiting.push({ request, response })
      socket.pause()
    } else this.#begin(connection, request, response)
  }

  #open(socket: Socket): Connection {
    const connection = { socket, waiting: [], response: undefined, unread: 0, since: 0 }
    this.#known.set(socket, connection)
    // Node resumes the socket after each complete request, so it is paused again.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause()
    })
    return connection
  }

  #begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.response = response
    connection.unread = 0
    response.on('close', () => {
      connection.response = undefined
      // Other connections get a turn before this connection's next request.
      if (connection.waiting.length > 0) setImmediate(() => this.#goOn(connection))
      else this.#goOn(connection)
    })
    this.#busy.add(connection)
    this.#serve(request, response)
  }

  /** Starts the next request of a connection, if the client is still connected. */
  #goOn(connection: Connection): void {
    const { socket, waiting } = connection
    if (socket.destroyed) waiting.length = 0
    const next = waiting.shift()
    if (next) {
      if (waiting.length === 0) socket.resume()
      this.#begin(connection, next.request, next.response)
      return
    }
    this.#busy.delete(connection)
    if (this.#busy.size === 0) this.#whenIdle?.()
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    if (this.#busy.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }

  /**
   * Disconnects clients that do not read their responses, including streams: all that have stalled
   * for too long, then, while unread bytes exceed the limit, those that have stalled longest. Call
   * periodically.
   */
  cutSlow(): void {
    const now = performance.now()
    for (const one of this.#busy) measure(one, now)
    const unread = [...this.#busy].filter((one) => one.unread > 0)
    let bytes = unread.reduce((sum, one) => sum + one.unread, 0)
    const { longestMs, maxBytes } = this.#bounds
    for (const one of unread.toSorted((a, b) => a.since - b.since)) {
      const isLate = now - one.since > longestMs + one.unread / minReadingSpeed
      if (!isLate && bytes <= maxBytes) continue
      bytes -= one.unread
      one.response?.destroy()
    }
  }
}

/**
 * Updates the unread bytes of a connection. Node counts a write as unread until all of it is sent.
 */
function measure(connection: Connection, now: number): void {
  const unread = connection.response?.writableLength ?? 0
  if (unread === 0 || connection.unread === 0 || unread < connection.unread) connection.since = now
  connection.unread = unread
}
