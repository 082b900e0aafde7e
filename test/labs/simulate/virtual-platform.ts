import { SendFailure } from '../../../src/platform/failure.ts'
import {
  type Send,
  startRequestDeadline,
  type WireRequest,
} from '../../../src/platform/http-exchange.ts'
import type { WireReply } from '../../../src/platform/reply.ts'
import type { PlatformCall } from '../platform/call-lists.ts'
import { faultyRead, type Reaction } from '../platform/reaction.ts'
import {
  type PlatformAnswer,
  type PlatformRequest,
  SimulatedPlatform,
} from '../platform/simulated-platform.ts'
import type { Plan } from './plan.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Sender of requests to the platform. */
export interface Requester {
  /** False after the server was killed. Then nothing is sent or received. */
  readonly isAlive: () => boolean
  /** Called when a request to place a call is sent. Returns which reservation permits it. */
  readonly onPost: () => Pick<PlatformCall, 'permitId' | 'request'>
}

const limits = { headersTimeoutMs: 15_000, totalTimeoutMs: 30_000 }

/** The platform of a history, reached in virtual time. */
export class VirtualPlatform {
  readonly #plan: Plan
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #platform: SimulatedPlatform
  #listsFailUntil = 0
  /** True once the platform has no more faults. */
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
    this.#platform = new SimulatedPlatform({
      ...{ time, trace },
      listing: plan.listing,
      otherCalls: plan.otherCalls,
      lateForMs: plan.settledMs * 0.9,
      lastsMs: (lateness) => 5000 + lateness * 60_000,
      onPost: (number, nth) => this.#post(number, nth),
      onOther: (request) => this.#read(request),
    })
  }

  get calls(): readonly PlatformCall[] {
    return this.#platform.calls
  }

  failLists(forMs: number): void {
    this.#listsFailUntil = this.#time.now + forMs
  }

  #post(number: string, nth: number): Reaction | undefined {
    if (this.isWell) return undefined
    return this.#plan.calls.find((wanted) => wanted.number === number)?.posts[nth]
  }

  #read({ url }: PlatformRequest): Reaction | undefined {
    if (this.isWell) return undefined
    if (url.pathname.endsWith('/calls') && this.#time.now < this.#listsFailUntil)
      return { acts: 'never', answer: 500, answerMs: 5, lateness: 0 }
    return faultyRead(this.#random, { rate: this.#plan.readFaultRate, slowestMs: 12_000 })
  }

  /** The `send` function of one requester's platform client. */
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
      const { method, target, body = '' } = request
      const url = new URL(target, 'http://platform')
      const answer = this.#platform.answer({ method, url, body }, requester.onPost)
      const travelMs = method === 'GET' ? 10 : 5
      await Promise.race([this.#time.sleep(Math.max(answer.afterMs, travelMs)), ended])
      return await (wireReply(answer) ?? ended)
    } finally {
      deadline.end()
    }
  }
}

/** Reply to the client; `undefined`: none. Throws SendFailure for a broken connection. */
function wireReply(answer: PlatformAnswer): WireReply | undefined {
  switch (answer.kind) {
    case 'reply':
      return { ...answer.reply(), header: () => undefined }
    case 'cut off': {
      const { status, body } = answer.reply()
      return { status, header: () => undefined, body: body.slice(0, 20) }
    }
    case 'connection lost':
      throw new SendFailure({ kind: 'network', code: 'ECONNRESET', maybeSent: true })
    case 'not connected':
      throw new SendFailure({ kind: 'network', code: 'ECONNREFUSED', maybeSent: false })
    case 'redirect':
      throw new SendFailure({
        kind: 'redirected',
        status: 307,
        reason: 'not_repeatable',
        origin: 'https://x',
      })
    case 'none':
      return undefined
  }
}
