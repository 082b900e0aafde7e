import * as z from 'zod'
import { SendFailure } from '../../api/failure.ts'
import { startRequestDeadline } from '../../api/request-deadline.ts'
import type { Send, WireReply, WireRequest } from '../../api/send.ts'
import { listReply, type PlatformCall, shown } from './call-lists.ts'
import type { Plan, PostTurn, WantedCall } from './plan.ts'
import type { VirtualTime } from './virtual-time.ts'

/*
 * A platform that ignores external ids: whenever it acts on a request to place a call, a telephone
 * rings. It acts on a request, and lists the call, before the time is over after which a call may be
 * sent again (`--call-settle`): that is what the protocol expects of a platform.
 */

/** Who sends requests to the platform. */
export interface Requester {
  /** A server that was killed sends nothing more, and hears nothing. */
  readonly isAlive: () => boolean
  /** Called when a request to place a call is sent. Returns which reservation permits it. */
  readonly onPost: () => Pick<PlatformCall, 'permitId' | 'request'>
}

const limits = { headersTimeoutMs: 15_000, totalTimeoutMs: 30_000 }

const PostBody = z.looseObject({
  external_id: z.string(),
  agent_id: z.string(),
  to_number: z.string(),
  from_number: z.string(),
})

interface Answer {
  readonly afterMs: number
  /** Absent: there is no answer. */
  readonly reply?: () => WireReply
  readonly failure?: SendFailure
}

const reply = (status: number, body: string): WireReply => ({
  status,
  header: () => undefined,
  body,
})
const json = (status: number, body: unknown) => reply(status, JSON.stringify(body))
const failed = (status: number) =>
  json(status, { code: `error_${status}`, message: 'No.', detail: null, errors: null })
const lost = () => new SendFailure({ kind: 'network', code: 'ECONNRESET', maybeSent: true })
const notConnected = () =>
  new SendFailure({ kind: 'network', code: 'ECONNREFUSED', maybeSent: false })
const redirected = () =>
  new SendFailure({
    kind: 'redirected',
    status: 307,
    reason: 'not_repeatable',
    origin: 'https://x',
  })

export class SimulatedPlatform {
  readonly calls: PlatformCall[] = []
  readonly #plan: Plan
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #trace: (line: string) => void
  readonly #posts = new Map<string, number>()
  #listsFailUntil = 0
  /** From then on the platform is well. */
  isWell = false

  constructor(
    plan: Plan,
    {
      time,
      random,
      trace,
    }: { time: VirtualTime; random: () => number; trace: (line: string) => void },
  ) {
    this.#plan = plan
    this.#time = time
    this.#random = random
    this.#trace = trace
  }

  failLists(forMs: number): void {
    this.#listsFailUntil = this.#time.now + forMs
  }

  /** How one requester sends. */
  sendFor(requester: Requester): Send {
    return (request) => this.#send(request, requester)
  }

  async #send(request: WireRequest, requester: Requester): Promise<WireReply> {
    const deadline = startRequestDeadline(request, limits)
    try {
      const { promise: ended, reject } = Promise.withResolvers<never>()
      ended.catch(() => undefined)
      deadline.onFailure = reject
      if (deadline.failure) throw deadline.failure
      const connecting = this.isWell ? 0 : Math.floor(this.#random() * 20)
      if (connecting > 0) await Promise.race([this.#time.sleep(connecting), ended])
      if (!requester.isAlive()) return await new Promise<never>(() => undefined)
      deadline.sendingBegan()
      const answer = this.#answer(request, requester)
      const answered = this.#time.sleep(answer.afterMs).then(() => answer)
      const { reply, failure } = await Promise.race([answered, ended])
      if (failure) throw failure
      return await (reply ? reply() : ended)
    } finally {
      deadline.end()
    }
  }

  #answer({ method, target, body }: WireRequest, requester: Requester): Answer {
    if (method === 'POST') return this.#place(PostBody.parse(JSON.parse(body ?? '')), requester)
    return this.#read(new URL(target, 'http://platform'))
  }

  #place(body: z.output<typeof PostBody>, requester: Requester): Answer {
    const wanted = this.#plan.calls.find(({ number }) => number === body.to_number)
    const nth = this.#posts.get(body.to_number) ?? 0
    const turn = this.isWell ? undefined : wanted?.posts[nth]
    if (turn?.answer === 'not connected') {
      this.#trace(`platform: not connected for ${body.to_number}`)
      this.#posts.set(body.to_number, nth + 1)
      return { afterMs: 0, failure: notConnected() }
    }
    this.#posts.set(body.to_number, nth + 1)
    const call = this.#record(body, turn, requester.onPost())
    return turn ? this.#answerTo(turn, call) : { afterMs: 5, reply: () => json(201, shown(call)) }
  }

  /** When a telephone rings, and when lists show it. */
  #record(
    { to_number, from_number, agent_id, external_id }: z.output<typeof PostBody>,
    turn: PostTurn | undefined,
    sender: Pick<PlatformCall, 'permitId' | 'request'>,
  ): PlatformCall {
    const sentAt = this.#time.now
    const { lateness = 0, rings = 'now', answer = 'created' } = turn ?? {}
    const window = this.#plan.settledMs * 0.9
    const ringsAt = rings === 'later' ? sentAt + lateness * window : sentAt
    const lag = turn ? ((lateness * 7) % 1) * (sentAt + window - ringsAt) : 0
    const call: PlatformCall = {
      ...sender,
      ...{ to_number, from_number, agent_id, external_id },
      id: `call-${this.calls.length}`,
      sentAt,
      rings: rings !== 'never',
      isAccepted: answer !== 'not accepted',
      created: new Date(this.#time.platformTimeOfDay + ringsAt - sentAt).toISOString(),
      shownAt: ringsAt + lag,
      endsAt: ringsAt + 5000 + lateness * 60_000,
    }
    const isRecorded = call.rings || !call.isAccepted
    const what = call.rings ? `rings in ${Math.round(ringsAt - sentAt)} ms` : 'does not ring'
    this.#trace(
      `platform: POST ${external_id}: ${what}, listed in ${Math.round(call.shownAt - sentAt)} ms, answer ${answer} in ${turn?.answerMs ?? 5} ms${isRecorded ? `, ${call.id}` : ''}`,
    )
    this.calls.push(call)
    return call
  }

  #answerTo({ answer, answerMs: afterMs }: PostTurn, call: PlatformCall): Answer {
    switch (answer) {
      case 'created':
        return { afterMs, reply: () => json(201, shown(call)) }
      case 'not accepted':
        return {
          afterMs,
          reply: () => json(201, { ...shown(call), status: 'failed', success: false }),
        }
      case 'cut off':
        return { afterMs, reply: () => reply(201, JSON.stringify(shown(call)).slice(0, 20)) }
      case 'page':
        return { afterMs, reply: () => reply(502, '<html>Bad gateway</html>') }
      case 'none':
        return { afterMs: 3_600_000 }
      case 'connection lost':
        return { afterMs, failure: lost() }
      case 'redirect':
        return { afterMs, failure: redirected() }
      case 'not connected':
        return { afterMs: 0, failure: notConnected() }
      default:
        return { afterMs, reply: () => failed(answer) }
    }
  }

  /** A list shows what there is at some moment between the question and the answer. */
  #read({ pathname, searchParams }: URL): Answer {
    const isList = pathname.endsWith('/calls')
    if (isList && !this.isWell && this.#time.now < this.#listsFailUntil)
      return { afterMs: 5, reply: () => failed(500) }
    const fault = this.isWell ? 1 : this.#random() / (this.#plan.readFaultRate || 1e-9)
    if (fault < 0.2) return { afterMs: 5, failure: lost() }
    if (fault < 0.4) return { afterMs: 5, reply: () => failed(500) }
    if (fault < 0.5) return { afterMs: 3_600_000 }
    const slow = fault < 1 ? this.#random() * 12_000 : 10
    const { now } = this.#time
    const seen = this.calls.filter(({ shownAt }) => shownAt <= now)
    return {
      afterMs: slow,
      reply: () =>
        isList ? json(200, listReply(seen, searchParams, this.#plan)) : this.#one(pathname),
    }
  }

  #one(pathname: string): WireReply {
    const call = this.calls.find(({ id }) => pathname.endsWith(`/${id}`))
    if (!call || call.shownAt > this.#time.now) return failed(404)
    return json(200, shown(call, call.endsAt <= this.#time.now))
  }

  /** The calls of one that was wanted, for which a telephone rang or will ring. */
  rung({ number }: WantedCall): PlatformCall[] {
    return this.calls.filter(({ to_number, rings }) => rings && to_number === number)
  }
}
