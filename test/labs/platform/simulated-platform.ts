import * as z from 'zod'
import {
  documented,
  isOnList,
  type Listing,
  listReply,
  others,
  type PlatformCall,
  shown,
} from './call-lists.ts'
import type { Reaction } from './reaction.ts'

/*
 * The simulated platform of all labs, for one account. It does not deduplicate external ids:
 * whenever it acts on a request to place a call, a telephone rings. It acts on a request and lists
 * the call within `lateForMs`, which must end before a call may be sent again (`--call-settle`).
 */

/** How the platform answers a request. `reply` is called when the answer is sent. */
export type PlatformAnswer = { readonly afterMs: number } & (
  | { readonly kind: 'reply' | 'cut off'; readonly reply: () => Reply }
  | { readonly kind: 'none' | 'connection lost' | 'not connected' | 'redirect' }
)

export interface Reply {
  readonly status: number
  readonly body: string
}

export interface PlatformRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

export interface PlatformOptions {
  /** The time of the lab, ms, and the time of day by the platform's clock, ms. */
  readonly time: { readonly now: number; readonly platformTimeOfDay: number }
  /** Fault of the nth request to place a call to a number, from 0; `undefined`: no fault. */
  readonly onPost: (number: string, nth: number) => Reaction | undefined
  /** Fault of any other request; `undefined`: no fault. */
  readonly onOther: (request: PlatformRequest) => Reaction | undefined
  /** Time within which a late call rings and is listed, ms. */
  readonly lateForMs: number
  /** Duration of a call, ms. `lateness` is that of the reaction to its request. */
  readonly lastsMs: (lateness: number) => number
  readonly listing?: Listing
  /** Number of unrelated calls in lists. */
  readonly otherCalls?: number
  /** The id of the nth call. */
  readonly idOf?: (nth: number) => string
  /** Reply to a request about anything but calls; `undefined`: 404. */
  readonly reply?: (request: PlatformRequest) => unknown
  /** Further fields of a shown call. */
  readonly more?: (call: PlatformCall, hasEnded: boolean) => object
  readonly trace?: (line: string) => void
}

type Sender = Pick<PlatformCall, 'permitId' | 'request'>

const PostBody = z.looseObject({
  external_id: z.string(),
  agent_id: z.string(),
  to_number: z.string(),
  from_number: z.string(),
})

const well = { acts: 'now', answer: 'well', answerMs: 0, lateness: 0 } as const

export class SimulatedPlatform {
  readonly calls: PlatformCall[] = []
  readonly #options: PlatformOptions
  readonly #posts = new Map<string, number>()

  constructor(options: PlatformOptions) {
    this.#options = options
  }

  /** Carries out a request that arrives now, and returns how it is answered. */
  answer(request: PlatformRequest, sender?: () => Sender): PlatformAnswer {
    const { method, url, body } = request
    if (method === 'POST' && url.pathname.endsWith('/calls'))
      return this.#place(PostBody.parse(JSON.parse(body)), sender)
    const reaction = this.#options.onOther(request) ?? well
    const { now } = this.#options.time
    const reply = () => this.#replyTo(request, now)
    if (method === 'GET') return answerTo(reaction, reply)
    // The change is made at once and only once, or never, whatever the reply says.
    const done = reaction.acts === 'never' ? failed(500) : reply()
    return answerTo(reaction, () => done)
  }

  #place(body: z.output<typeof PostBody>, sender: (() => Sender) | undefined): PlatformAnswer {
    const { to_number } = body
    const nth = this.#posts.get(to_number) ?? 0
    this.#posts.set(to_number, nth + 1)
    const reaction = this.#options.onPost(to_number, nth)
    if (reaction?.answer === 'not connected') {
      this.#options.trace?.(`platform: not connected for ${to_number}`)
      return { kind: 'not connected', afterMs: 0 }
    }
    const call = this.#record(
      body,
      reaction,
      sender?.() ?? { permitId: undefined, request: undefined },
    )
    const refused = !call.isAccepted && { status: 'failed', success: false }
    return answerTo(reaction ?? well, () => json(201, { ...this.#shown(call), ...refused }))
  }

  /** Records when a telephone rings, and when lists show the call. */
  #record(
    { to_number, from_number, agent_id, external_id }: z.output<typeof PostBody>,
    reaction: Reaction | undefined,
    sender: Sender,
  ): PlatformCall {
    const { time, lateForMs, lastsMs, idOf, trace } = this.#options
    const sentAt = time.now
    const { lateness, acts, answer, answerMs } = reaction ?? well
    const ringsAt = acts === 'later' ? sentAt + lateness * lateForMs : sentAt
    const lag = reaction ? ((lateness * 7) % 1) * (sentAt + lateForMs - ringsAt) : 0
    const call: PlatformCall = {
      ...sender,
      ...{ to_number, from_number, agent_id, external_id },
      id: idOf?.(this.calls.length) ?? `call-${this.calls.length}`,
      sentAt,
      rings: acts !== 'never',
      isAccepted: answer !== 'not accepted',
      created: new Date(time.platformTimeOfDay + ringsAt - sentAt).toISOString(),
      shownAt: ringsAt + lag,
      endsAt: ringsAt + lastsMs(lateness),
    }
    const what = call.rings ? `rings in ${Math.round(ringsAt - sentAt)} ms` : 'does not ring'
    trace?.(
      `platform: POST ${external_id}: ${what}, listed in ${Math.round(call.shownAt - sentAt)} ms, answer ${answer} in ${answerMs} ms${isOnList(call) ? `, ${call.id}` : ''}`,
    )
    this.calls.push(call)
    return call
  }

  /**
   * Builds the reply of a read. A list has the calls that existed when the request arrived, in
   * their state at the reply.
   */
  #replyTo(request: PlatformRequest, askedAt: number): Reply {
    const { listing = documented, otherCalls = 0, time, reply } = this.#options
    const { pathname, searchParams } = request.url
    const [isOfCalls, id] = /\/calls(?:\/([^/]+))?$/.exec(pathname) ?? []
    if (isOfCalls === undefined) {
      const other = reply?.(request)
      return other === undefined ? failed(404) : json(200, other)
    }
    if (id === undefined) {
      // Filters first, so that one call is found without formatting thousands.
      const wanted = listing.filter === 'sent id' ? searchParams.get('external_id') : null
      const seen = this.calls.filter(
        (call) =>
          (wanted === null || call.external_id === wanted) &&
          call.shownAt <= askedAt &&
          isOnList(call),
      )
      const own = seen.map((call) => this.#shown(call))
      return json(200, listReply([...others(otherCalls), ...own], searchParams, listing))
    }
    const call = this.calls.find((one) => one.id === id && one.shownAt <= time.now)
    return call ? json(200, this.#shown(call)) : failed(404)
  }

  #shown(call: PlatformCall) {
    const hasEnded = call.endsAt <= this.#options.time.now
    return { ...shown(call, hasEnded), ...this.#options.more?.(call, hasEnded) }
  }
}

function answerTo({ answer, answerMs: afterMs }: Reaction, reply: () => Reply): PlatformAnswer {
  switch (answer) {
    case 'well':
    case 'not accepted':
      return { kind: 'reply', afterMs, reply }
    case 'cut off':
      return { kind: 'cut off', afterMs, reply }
    case 'page':
      return { kind: 'reply', afterMs, reply: () => ({ status: 502, body: '<html>Bad gateway' }) }
    case 'none':
    case 'connection lost':
    case 'not connected':
    case 'redirect':
      return { kind: answer, afterMs }
    default:
      return { kind: 'reply', afterMs, reply: () => failed(answer) }
  }
}

const json = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })
const failed = (status: number) =>
  json(status, { code: `error_${status}`, message: 'No.', detail: null, errors: null })
