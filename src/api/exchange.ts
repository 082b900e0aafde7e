import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { SendFailure } from './failure.ts'
import { failureHeaders, maxReplyBytes } from './reply.ts'
import type { RequestDeadline } from './request-deadline.ts'
import type { WireReply, WireRequest } from './send.ts'

/** One request and its reply. */
export function exchange(
  pool: Dispatcher,
  url: URL,
  { method, headers, body }: WireRequest,
  deadline: RequestDeadline,
): Promise<WireReply> {
  if (deadline.failure) return Promise.reject(deadline.failure)
  const { origin, pathname, search } = url
  const options = { origin, path: pathname + search, method, headers, body: body ?? null }
  return new Promise((resolve, reject) => {
    pool.dispatch(options, new Exchange({ deadline, receiving: new Receiving(), resolve, reject }))
  })
}

/** A request under way: its deadline, its reply so far, and the promise of its caller. */
interface UnderWay {
  readonly deadline: RequestDeadline
  readonly receiving: Receiving
  readonly resolve: (reply: WireReply) => void
  readonly reject: (failure: Error) => void
}

/**
 * Receives the events of a request from undici's lowest interface: the others create a stream for
 * each reply, which takes as long as everything else here. When the request is over, all references
 * are dropped, because undici keeps this object for a while, and V8 would move a third of what
 * requests allocate to the old generation.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #underWay: UnderWay | undefined
  #controller: Dispatcher.DispatchController | undefined

  constructor(underWay: UnderWay) {
    this.#underWay = underWay
    // While undici still connects, the request cannot be stopped; it is no longer waited for.
    underWay.deadline.onFailure = (failure) => {
      this.#controller?.abort(failure)
      this.#end()?.reject(failure)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline ended the request before there was a connection: send nothing.
    if (!this.#underWay) return void controller.abort(new Error('given up'))
    this.#underWay.deadline.sendingBegan()
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    fields: IncomingHttpHeaders,
  ): void {
    // 1xx are not the final reply (RFC 9110 §15.2); less than 100 is not a status.
    if (status < 100) controller.abort(noHttp())
    if (status < 200 || !this.#underWay) return
    this.#underWay.deadline.headersArrived()
    this.#underWay.receiving.begin(status, fields)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#underWay?.receiving.add(chunk)
    if (failure) controller.abort(failure)
  }

  onResponseEnd(): void {
    const ended = this.#end()
    ended?.resolve(ended.receiving.reply())
  }

  onResponseError(_: unknown, error: Error): void {
    const ended = this.#end()
    // After the status has arrived this is an incomplete reply, not a missing one.
    ended?.reject(ended.receiving.brokenOff(error))
  }

  #end(): UnderWay | undefined {
    const underWay = this.#underWay
    if (underWay) underWay.deadline.onFailure = () => undefined
    this.#underWay = undefined
    this.#controller = undefined
    return underWay
  }
}

/** A reply that is being received. */
class Receiving {
  readonly #chunks: Buffer[] = []
  #size = 0
  #status = 0
  #fields: IncomingHttpHeaders = {}

  begin(status: number, fields: IncomingHttpHeaders): void {
    this.#status = status
    this.#fields = fields
  }

  /** Returns a failure if the reply is too large. */
  add(chunk: Buffer): SendFailure | undefined {
    this.#size += chunk.length
    if (this.#size > maxReplyBytes) return this.#unreadable('too_large', '')
    this.#chunks.push(chunk)
    return undefined
  }

  reply(): WireReply {
    return { status: this.#status, header: this.#header, body: this.#text() }
  }

  brokenOff(error: Error): Error {
    const isOwn = error instanceof SendFailure || this.#status === 0
    return isOwn ? error : this.#unreadable('cut_off', this.#text())
  }

  readonly #header = (name: string) => {
    const value = this.#fields[name]
    return Array.isArray(value) ? value[0] : value
  }

  #text(): string {
    const [first, ...rest] = this.#chunks
    const bytes = first && rest.length === 0 ? first : Buffer.concat(this.#chunks)
    return bytes.toString('utf8')
  }

  #unreadable(reason: 'too_large' | 'cut_off', excerpt: string): SendFailure {
    const header = this.#header
    const known = { detail: null, excerpt, ...failureHeaders({ header }) }
    return new SendFailure({ kind: 'unreadable', status: this.#status, reason, ...known })
  }
}

const noHttp = () => new SendFailure({ kind: 'network', code: 'NO_HTTP', maybeSent: true })
