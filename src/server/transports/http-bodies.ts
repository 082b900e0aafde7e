import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEFAULT_MAX_REQUEST_BODY_SIZE as longestRequest } from '@modelcontextprotocol/server'

interface BodyBounds {
  /** Longest time until a body is complete, ms. */
  readonly longestMs: number
  /**
   * Maximum bytes of all incomplete bodies together, and separately of all large bodies whose
   * requests are unanswered.
   */
  readonly maxBytes: number
}

/** The bytes of a request, or its refusal. */
type RequestBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly status: 408 | 413 | 503; readonly message: string }

interface IncomingBody {
  readonly since: number
  /** Received bytes, with room for more. The buffer's length is the memory that the body takes. */
  buffer: Buffer
  /** Number of received bytes in the buffer. */
  length: number
  /** Ends the reading with a result. Further calls do nothing. */
  readonly end: (outcome: RequestBody) => void
}

/** Bodies up to this length, bytes, are always served. */
const small = 65_536

/**
 * How long the rest of a refused body is read and discarded, ms. A client that is disconnected
 * while it sends would not see the response.
 */
const longestRestMs = 1000
/** Maximum length (`Content-Length`) of a refused body whose rest is read and discarded, bytes. */
const longestDropped = 1024 * 1024
/**
 * The same bound for bodies that are refused because they are too large. Higher, because clients may
 * not know the size limit.
 */
const longestTooLargeDropped = 4 * longestRequest

const tooLarge: RequestBody = {
  ok: false,
  status: 413,
  message: `The request is larger than ${longestRequest} bytes.`,
}

const nothing = Buffer.alloc(0)

/**
 * Reads request bodies within shared bounds. When a bound is reached, the largest incomplete body
 * is refused, so that small requests are served while a client sends many large ones.
 */
export class Bodies {
  readonly #bounds: BodyBounds
  readonly #incoming = new Set<IncomingBody>()
  #incomingBytes = 0
  /** Bytes of large bodies with unanswered requests. */
  #servedBytes = 0

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds
  }

  /** Refuses overdue bodies. Call it periodically. */
  endLate(): void {
    const { longestMs } = this.#bounds
    for (const body of this.#incoming) {
      if (performance.now() - body.since <= longestMs) continue
      const message = `The body of the request was not complete after ${longestMs / 1000} s.`
      body.end({ ok: false, status: 408, message })
    }
  }

  /** Reads one body. Rejects when the client disconnects. */
  read(request: IncomingMessage, response: ServerResponse): Promise<RequestBody> {
    return new Promise((resolve, reject) => {
      const body: IncomingBody = {
        since: performance.now(),
        buffer: nothing,
        length: 0,
        end: (outcome) => {
          if (!this.#incoming.delete(body)) return
          this.#incomingBytes -= body.buffer.length
          if (outcome.ok) {
            resolve(outcome)
            return
          }
          request.off('data', add).pause()
          dropRest(request, outcome).then(() => resolve(outcome))
        },
      }
      const add = (chunk: Buffer) => this.#add(body, chunk)
      this.#incoming.add(body)
      request.on('data', add)
      request.once('end', () => body.end(this.#admitted(body, response)))
      request.once('error', (error) => {
        body.end(tooLarge)
        reject(error)
      })
    })
  }

  /** Collects the chunks in one buffer, because a thousand small chunks take far more memory. */
  #add(body: IncomingBody, chunk: Buffer): void {
    const { buffer } = body
    const length = body.length + chunk.length
    if (length > longestRequest) {
      body.end(tooLarge)
      return
    }
    if (body.length === 0) body.buffer = chunk
    else {
      if (length > buffer.length) {
        body.buffer = Buffer.allocUnsafe(Math.min(longestRequest, Math.max(4096, 2 * length)))
        buffer.copy(body.buffer, 0, 0, body.length)
      }
      chunk.copy(body.buffer, body.length)
    }
    body.length = length
    this.#incomingBytes += body.buffer.length - buffer.length
    while (this.#incomingBytes > this.#bounds.maxBytes) this.#evictLargest()
  }

  /**
   * Admits a complete body. A large body counts against the bounds until its request is answered.
   */
  #admitted({ buffer, length }: IncomingBody, response: ServerResponse): RequestBody {
    const bytes = buffer.subarray(0, length)
    if (length <= small) return { ok: true, bytes }
    if (this.#servedBytes + length > this.#bounds.maxBytes) return this.#refuseBody()
    this.#servedBytes += length
    response.on('close', () => {
      this.#servedBytes -= length
    })
    return { ok: true, bytes }
  }

  #evictLargest(): void {
    const largest = [...this.#incoming].reduce((a, b) =>
      b.buffer.length > a.buffer.length ? b : a,
    )
    largest.end(this.#refuseBody())
  }

  #refuseBody(): RequestBody {
    const message = `The server is reading or serving ${this.#bounds.maxBytes} bytes of large requests, its limit in all. Try again later.`
    return { ok: false, status: 503, message }
  }
}

/** Reads and drops the rest of a refused body, unless it is long. */
async function dropRest(request: IncomingMessage, refusal: RequestBody): Promise<void> {
  const longest = refusal === tooLarge ? longestTooLargeDropped : longestDropped
  if (!(Number(request.headers['content-length']) <= longest)) return
  await new Promise((resolve) => {
    setTimeout(resolve, longestRestMs)
    request.once('end', resolve).resume()
  })
}
