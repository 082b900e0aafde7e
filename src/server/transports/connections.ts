import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What a server does with each request. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => void

export interface UnreadBounds {
  /** Longest time in which a client reads nothing of an answer, ms. */
  readonly longestMs: number
  /** Most bytes of all answers together that wait to be read. */
  readonly mostBytes: number
}

/** A client that reads more slowly, in bytes per ms, is cut off. */
const minReadingSpeed = 64

/**
 * Serves the requests of each connection one after the other. The next one begins when the answer
 * before it has been given to the operating system; while a request waits, nothing more is read from
 * the connection. Answers are sent in the order of the requests anyway (RFC 9112 §9.3.2): an answer
 * made earlier would only take memory, for a client that may never read it.
 */
export class Connections {
  readonly #serve: Serve
  readonly #bounds: UnreadBounds
  readonly #known = new WeakMap<Socket, Connection>()
  /** The connections with a request that is served. */
  readonly #busy = new Set<Connection>()
  #whenIdle: (() => void) | undefined

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
      else this.#rest(connection)
    })
    this.#known.set(socket, connection)
    return connection
  }

  /** Runs after other connections had their turn: they do not wait for all requests of this one. */
  #beginNext(connection: Connection): void {
    const next = connection.next()
    if (next) this.#begin(connection, next.request, next.response)
    else this.#rest(connection)
  }

  #rest(connection: Connection): void {
    this.#busy.delete(connection)
    if (this.#busy.size === 0) this.#whenIdle?.()
  }

  /** Resolves when no request is served. */
  idle(): Promise<void> {
    if (this.#busy.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }

  #begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.begin(response)
    this.#busy.add(connection)
    this.#serve(request, response)
  }

  /**
   * Cuts the connections of clients that do not read their answers, streams included: those that
   * have read nothing for too long, and if all unread answers are too large, those that have read
   * nothing for the longest time. To be called repeatedly.
   */
  cutSlow(): void {
    const now = performance.now()
    const unread = [...this.#busy].filter((one) => one.measure(now) > 0)
    let bytes = unread.reduce((sum, one) => sum + one.unread, 0)
    const { longestMs, mostBytes } = this.#bounds
    for (const one of unread.toSorted((a, b) => a.since - b.since)) {
      const isLate = now - one.since > longestMs + one.unread / minReadingSpeed
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
  /** Requests that were read with the one that is served, and wait. */
  readonly #waiting: Waiting[] = []
  /** The answer to the request that is served; `undefined` between two requests. */
  response: ServerResponse | undefined
  isBusy = false
  /** Bytes of it that the client has not read, and the time of its last progress, ms. */
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

  /** Ends the request that is served. True if another one waits. */
  end(): boolean {
    this.response = undefined
    this.isBusy = this.#waiting.length > 0
    return this.isBusy
  }

  /** The request to serve next; `undefined` if there is none or the client has gone. */
  next(): Waiting | undefined {
    if (this.#socket.destroyed) this.#waiting.splice(0)
    const next = this.#waiting.shift()
    if (next && this.#waiting.length === 0) this.#socket.resume()
    this.isBusy = next !== undefined
    return next
  }

  /** Bytes that are unread now. A write counts as unread until all of it is read. */
  measure(now: number): number {
    const unread = this.response?.writableLength ?? 0
    if (unread === 0 || this.unread === 0 || unread < this.unread) this.since = now
    this.unread = unread
    return unread
  }
}
