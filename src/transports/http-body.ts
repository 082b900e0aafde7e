import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEFAULT_MAX_REQUEST_BODY_SIZE as longestRequest } from '@modelcontextprotocol/server'

export interface BodyBounds {
  /** Longest time until a body is there, ms. */
  readonly longestMs: number
  /** Bytes of all bodies together that are not there yet, and again of those that are served. */
  readonly mostBytes: number
}

/** The bytes of a request, or why it is refused. */
export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly status: 408 | 413 | 503; readonly message: string }

/** A body up to this length, in bytes, is served however many others there are. */
const small = 65_536

/** How long the rest of a refused body is read, ms, and which bodies are too long for that, bytes. */
const longestRestMs = 1000
const longestDropped = 1024 * 1024
/** The same for bodies that are too large, by a client that does not know the limit. */
const longestTooLarge = 4 * longestRequest

const tooLarge: Body = {
  ok: false,
  status: 413,
  message: `The request is larger than ${longestRequest} bytes.`,
}

/**
 * Reads the bodies of requests within bounds for all of them together. Where there is not enough
 * room, the largest body that is not complete gives way, so that ordinary requests get through
 * while somebody sends many large ones.
 */
export class Bodies {
  readonly #bounds: BodyBounds
  readonly #arriving = new Set<Arriving>()
  #arrivingBytes = 0
  /** Bytes of large bodies whose requests are not answered yet. */
  #servedBytes = 0

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds
  }

  /** Refuses what has taken too long; to be called again and again. */
  endLate(): void {
    const { longestMs } = this.#bounds
    for (const body of this.#arriving) {
      if (performance.now() - body.since <= longestMs) continue
      const message = `The body of the request was not complete after ${longestMs / 1000} s.`
      body.end({ ok: false, status: 408, message })
    }
  }

  /** Rejects when the client breaks off. */
  read(request: IncomingMessage, response: ServerResponse): Promise<Body> {
    return new Promise((resolve, reject) => {
      const body = new Arriving((outcome) => {
        this.#arriving.delete(body)
        this.#arrivingBytes -= body.room
        if (!outcome.ok) request.off('data', add).pause()
        const dropped = outcome === tooLarge ? longestTooLarge : longestDropped
        if (outcome.ok || !(Number(request.headers['content-length']) <= dropped)) {
          resolve(outcome)
          return
        }
        // The rest is read and dropped, because who is cut while sending sees no answer.
        setTimeout(resolve, longestRestMs, outcome)
        request.once('end', () => resolve(outcome)).resume()
      })
      const add = (chunk: Buffer): void => {
        const before = body.room
        if (!body.add(chunk)) {
          body.end(tooLarge)
          return
        }
        this.#arrivingBytes += body.room - before
        while (this.#arrivingBytes > this.#bounds.mostBytes) this.#makeRoom()
      }
      this.#arriving.add(body)
      request.on('data', add)
      request.once('end', () => body.end(this.#admitted(body.bytes, response)))
      request.once('error', (error) => {
        body.end(tooLarge)
        reject(error)
      })
    })
  }

  /** What is large counts until it is answered: all of it may be needed until then. */
  #admitted(bytes: Buffer, response: ServerResponse): Body {
    if (bytes.length <= small) return { ok: true, bytes }
    if (this.#servedBytes + bytes.length > this.#bounds.mostBytes) return this.#noRoom()
    this.#servedBytes += bytes.length
    response.on('close', () => {
      this.#servedBytes -= bytes.length
    })
    return { ok: true, bytes }
  }

  #makeRoom(): void {
    const largest = [...this.#arriving].reduce((a, b) => (b.room > a.room ? b : a))
    largest.end(this.#noRoom())
  }

  #noRoom(): Body {
    const message = `The server is reading or serving ${this.#bounds.mostBytes} bytes of large requests, its limit in all. Try again later.`
    return { ok: false, status: 503, message }
  }
}

const nothing = Buffer.alloc(0)

/** A body of which a part has come. */
class Arriving {
  readonly since = performance.now()
  readonly #onEnd: (outcome: Body) => void
  #buffer: Buffer = nothing
  #length = 0
  #hasEnded = false

  constructor(onEnd: (outcome: Body) => void) {
    this.#onEnd = onEnd
  }

  /** Bytes that it takes in memory. */
  get room(): number {
    return this.#buffer.length
  }

  get bytes(): Buffer {
    const isFull = this.#buffer.length === this.#length
    return isFull ? this.#buffer : this.#buffer.subarray(0, this.#length)
  }

  /** False when it is too long. One buffer, because a thousand small ones take far more memory. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length
    if (length > longestRequest) return false
    if (this.#length === 0) this.#buffer = chunk
    else {
      if (length > this.#buffer.length) this.#grow(length)
      chunk.copy(this.#buffer, this.#length)
    }
    this.#length = length
    return true
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.min(longestRequest, Math.max(4096, 2 * length)))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }

  end(outcome: Body): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#onEnd(outcome)
  }
}
