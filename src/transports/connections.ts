import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What a server does with each request. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => void

export interface UnreadBounds {
  /** Longest time without the client reading on, ms. */
  readonly longestMs: number
  /** Bytes of all answers together that may wait to be read. */
  readonly mostBytes: number
}

/** Slowest reading that counts as reading on, bytes for each ms. */
const slowest = 64

/**
 * Serves the requests of one connection one after the other: the next only when the answer to the
 * one before has been handed to the operating system. Nothing more is read from the connection
 * while a request waits. Answers go out in the order of the requests anyway (RFC 9112 §9.3.2), so
 * serving them earlier would only keep their answers in memory, for a client that may never read.
 */
export class Connections {
  readonly #serve: Serve
  readonly #bounds: UnreadBounds
  readonly #known = new WeakMap<Socket, Connection>()
  /** Those with a request that is served. */
  readonly #busy = new Set<Connection>()

  constructor(serve: Serve, bounds: UnreadBounds) {
    this.#serve = serve
    this.#bounds = bounds
  }

  readonly take: Serve = (request, response) => {
    const connection = this.#known.get(request.socket) ?? this.#open(request.socket)
    if (connection.isBusy) connection.wait(request, response)
    else this.#begin(connection, request, response)
  }

  #open(socket: Socket): Connection {
    const connection = new Connection(socket, () => {
      if (connection.end()) setImmediate(() => this.#beginNext(connection))
      else this.#busy.delete(connection)
    })
    this.#known.set(socket, connection)
    return connection
  }

  /** In its turn after other connections, whose requests would else wait for all of this one's. */
  #beginNext(connection: Connection): void {
    const next = connection.next()
    if (next) this.#begin(connection, next.request, next.response)
    else this.#busy.delete(connection)
  }

  #begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.begin(response)
    this.#busy.add(connection)
    this.#serve(request, response)
  }

  /**
   * Cuts the connections of clients that do not read what they are sent, streams included: those
   * that have not read on for some time, and those that have waited longest if it is too much in
   * all. To be called again and again.
   */
  cutSlow(): void {
    const now = performance.now()
    const unread = [...this.#busy].filter((one) => one.look(now) > 0)
    let bytes = unread.reduce((sum, one) => sum + one.unread, 0)
    const { longestMs, mostBytes } = this.#bounds
    for (const one of unread.toSorted((a, b) => a.since - b.since)) {
      const isLate = now - one.since > longestMs + one.unread / slowest
      if (!isLate && bytes <= mostBytes) continue
      bytes -= one.unread
      one.response?.destroy()
    }
  }
}

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

class Connection {
  readonly #socket: Socket
  readonly #onEnd: () => void
  /** Requests that were read together with the one that is served. */
  readonly #waiting: Waiting[] = []
  /** The answer to the request that is served; between two of them there is none. */
  response: ServerResponse | undefined
  isBusy = false
  /** Bytes of it that the client has not read, and since when it has read none of them, ms. */
  unread = 0
  since = 0

  /** `onEnd` is called when an answer has ended. */
  constructor(socket: Socket, onEnd: () => void) {
    this.#socket = socket
    this.#onEnd = onEnd
    // Node resumes the socket after each complete request.
    socket.on('resume', () => {
      if (this.#waiting.length > 0) socket.pause()
    })
  }

  begin(response: ServerResponse): void {
    this.isBusy = true
    this.response = response
    this.unread = 0
    response.on('close', this.#onEnd)
  }

  wait(request: IncomingMessage, response: ServerResponse): void {
    this.#waiting.push({ request, response })
    this.#socket.pause()
  }

  /** Ends what is served; tells whether another request waits. */
  end(): boolean {
    this.response = undefined
    this.isBusy = this.#waiting.length > 0
    return this.isBusy
  }

  /** What is served next, unless the client has gone. */
  next(): Waiting | undefined {
    if (this.#socket.destroyed) this.#waiting.splice(0)
    const next = this.#waiting.shift()
    if (next && this.#waiting.length === 0) this.#socket.resume()
    this.isBusy = next !== undefined
    return next
  }

  /** Bytes that are unread now. What is written in one piece counts until all of it is read. */
  look(now: number): number {
    const unread = this.response?.writableLength ?? 0
    if (unread === 0 || this.unread === 0 || unread < this.unread) this.since = now
    this.unread = unread
    return unread
  }
}
