import { longestCallMs } from '../../../src/policy/dial-policy.ts'
import { mayHide } from '../platform/call-lists.ts'
import { randomOf } from '../random.ts'
import { Steps } from './fault-injection.ts'
import { type AnsweredRequest, judge } from './judge.ts'
import type { Plan, PlannedEvent, PlannedRequest, WantedCall } from './plan.ts'
import { SharedState } from './shared-state.ts'
import {
  type Answer,
  type ClientToken,
  type ServedRequest,
  SimulatedServer,
  tokenMs,
} from './simulated-server.ts'
import { VirtualPlatform } from './virtual-platform.ts'
import { VirtualTime } from './virtual-time.ts'

export interface HistoryResult {
  /** Violations of guarantees; empty if all hold. */
  readonly violations: readonly string[]
  readonly answers: readonly Answer['kind'][]
  readonly rung: number
}

/** Upper bound for the duration of a history, ms of virtual time. */
const longestMs = 48 * 3_600_000

/** Delay before the servers of a machine restart, ms. */
const restartMs = 1500

/** Runs one simulated history as planned. */
export async function runHistory(
  plan: Plan,
  trace: (line: string) => void = () => undefined,
): Promise<HistoryResult> {
  const time = new VirtualTime(randomOf(plan.seed, 'ids'))
  const state = await SharedState.open(time)
  const history = new History(plan, { time, state, trace: (line) => trace(stamped(time, line)) })
  try {
    return await time.run(history.run(), longestMs)
  } finally {
    await state.close()
  }
}

const stamped = (time: VirtualTime, line: string) =>
  `${(time.now / 1000).toFixed(3).padStart(10)} s  ${line}`

interface HistoryParts {
  readonly time: VirtualTime
  readonly state: SharedState
  readonly trace: (line: string) => void
}

class History {
  readonly #plan: Plan
  readonly #parts: HistoryParts
  readonly #platform: VirtualPlatform
  readonly #random: () => number
  readonly #servers: SimulatedServer[]
  readonly #reported: AnsweredRequest[] = []
  /** Callbacks that end a server's pending requests when it stops, by the server's `Steps`. */
  readonly #waiting = new Map<Steps, Set<() => void>>()
  readonly #tokens = new Map<WantedCall, ClientToken>()
  #requests = 0
  #starts = 0

  constructor(plan: Plan, parts: HistoryParts) {
    this.#plan = plan
    this.#parts = parts
    this.#random = randomOf(plan.seed, 'history')
    this.#platform = new VirtualPlatform(plan, { ...parts, random: this.#random })
    this.#servers = Array.from({ length: plan.servers }, (_, index) => this.#start(index))
  }

  async run(): Promise<HistoryResult> {
    const { calls, events } = this.#plan
    const requests = calls.flatMap((wanted) =>
      wanted.requests.map((request) => this.#request(wanted, request)),
    )
    await Promise.all([...requests, ...events.map((event) => this.#happen(event))])
    await this.#settle()
    const violations = await judge({
      plan: this.#plan,
      platform: this.#platform,
      reported: this.#reported,
      state: this.#parts.state,
      time: this.#parts.time,
      isFree: () => this.#isFree(),
    })
    return {
      violations,
      answers: this.#reported.map(({ answer }) => answer.kind),
      rung: this.#platform.calls.filter(({ rings }) => rings).length,
    }
  }

  #start(index: number): SimulatedServer {
    const { plan, time, trace } = { plan: this.#plan, ...this.#parts }
    const name = `server ${index}.${this.#starts++}`
    const steps: Steps = new Steps({
      ...{ time, trace, name, random: this.#random },
      // A server that starts after all faults have ended neither crashes nor fails.
      crashRate: this.#platform.isWell ? 0 : plan.crashRate,
      failureRate: this.#platform.isWell ? 0 : plan.stateFailureRate,
      longestMs: plan.stateMs,
      onCrash: () => this.#stopped(index, steps),
    })
    this.#waiting.set(steps, new Set())
    return new SimulatedServer({ plan, state: this.#parts.state, platform: this.#platform, steps })
  }

  #stopped(index: number, steps: Steps): void {
    for (const end of this.#waiting.get(steps) ?? []) end()
    this.#parts.time.after(restartMs, () => {
      if (this.#servers[index]?.steps === steps) this.#servers[index] = this.#start(index)
    })
  }

  #kill(index: number): void {
    const server = this.#servers[index]
    if (!server?.steps.isAlive) return
    this.#parts.trace(`server ${index} is killed`)
    server.steps.stop()
    this.#stopped(index, server.steps)
  }

  async #happen(event: PlannedEvent): Promise<void> {
    const { time, trace } = this.#parts
    await time.sleep(event.at)
    switch (event.kind) {
      case 'clock':
        trace(`the clock is set by ${event.byMs} ms`)
        return time.stepClock(event.byMs)
      case 'kill':
        return this.#kill(event.server)
      case 'no lists':
        trace(`no lists for ${event.forMs} ms`)
        return this.#platform.failLists(event.forMs)
      case 'restart of the machine':
        trace('the machine is restarted')
        for (const index of this.#servers.keys()) this.#kill(index)
        return time.restartMachine()
    }
  }

  async #request(
    wanted: WantedCall,
    { at, server, cancelledAfter }: PlannedRequest,
  ): Promise<void> {
    const { time } = this.#parts
    await time.sleep(at)
    const token = wanted.isConfirmed ? this.#tokenFor(wanted) : undefined
    const caller = new AbortController()
    if (cancelledAfter !== undefined) time.after(cancelledAfter, () => caller.abort())
    await this.#serve(server, { wanted, signal: caller.signal, forMs: this.#plan.requestMs, token })
  }

  /** The client's confirmation token for a call, issued with its first request. */
  #tokenFor(wanted: WantedCall): ClientToken {
    const nonce = `token of ${wanted.number}`
    const expiresAt = this.#parts.time.timeOfDay + tokenMs
    const token = this.#tokens.get(wanted) ?? { nonce, expiresAt }
    this.#tokens.set(wanted, token)
    return token
  }

  async #serve(index: number, request: Omit<ServedRequest, 'nth'>): Promise<Answer> {
    const { time, trace } = this.#parts
    const server = this.#servers[index]
    if (!server?.steps.isAlive) return { kind: 'dead' }
    const nth = this.#requests++
    const from = time.now
    trace(`request ${nth} to server ${index}: call ${request.wanted.number}`)
    const ends = this.#waiting.get(server.steps)
    const { promise: dead, resolve } = Promise.withResolvers<Answer>()
    const end = () => resolve({ kind: 'dead' })
    ends?.add(end)
    // Servers that share files run on one machine.
    const machine = this.#plan.shared === 'files' ? 'machine' : `machine ${index}`
    const serving = time.onMachine(machine, () => server.serve({ ...request, nth }))
    const answer = await Promise.race([serving, dead])
    ends?.delete(end)
    trace(`request ${nth}: ${JSON.stringify(answer)}`)
    this.#reported.push({ wanted: request.wanted, nth, from, answer })
    return answer
  }

  /**
   * Ends all faults, and repeats each client's request until its call is placed. The first round
   * may only detect a changed clock, which restarts the delay before a call may be sent again. A
   * few rounds suffice.
   */
  async #settle(): Promise<void> {
    const { time, trace } = this.#parts
    await time.sleep(restartMs + 1)
    trace('from now on everything is well')
    this.#platform.isWell = true
    for (const { steps } of this.#servers) steps.calm()
    await time.sleep(100_000)
    let open = this.#plan.calls
    for (let round = 0; open.length > 0 && round < 9; round++) {
      const refused = await this.#repeatAll(open)
      open = open.filter((wanted) => !this.#isPlaced(wanted))
      await time.sleep(this.#plan.settledMs + 190_000)
      // A limit refused a call, perhaps because of a permit that outlasts its call. Sets the clock
      // forward by more than a lease.
      if (refused && round === 1 && this.#mayLeavePermits())
        time.stepClock(longestCallMs + 4 * 3_600_000)
    }
    // Waits until all calls have ended and the servers have noticed it.
    await time.sleep(this.#plan.limits.max_at_once === undefined ? 0 : 400_000)
  }

  /**
   * True if a permit may outlast its call until its lease ends. Otherwise permits are released when
   * their calls have ended, or after a minute.
   */
  #mayLeavePermits(): boolean {
    const { listing, events } = this.#plan
    // If a clock was set back, earlier calls are in its future, and hold their permits until then.
    const isSetBack = events.some((event) => event.kind === 'clock' && event.byMs < 0)
    return mayHide(listing) || isSetBack
  }

  /** True if a new server with max_at_once = 1 allows a call. */
  #isFree(): Promise<boolean> {
    const { time, state } = this.#parts
    const steps = new Steps({
      ...{ time, trace: () => undefined, name: 'new server', random: this.#random },
      ...{ crashRate: 0, failureRate: 0, longestMs: 0, onCrash: () => undefined },
    })
    const plan: Plan = { ...this.#plan, limits: { max_at_once: 1 } }
    const server = new SimulatedServer({ plan, state, platform: this.#platform, steps })
    const [wanted] = plan.calls
    if (!wanted) throw new Error('a history without a call')
    return server.allowsCall(wanted)
  }

  /** Repeats the requests for these calls sequentially. Returns true if one was refused. */
  async #repeatAll(open: readonly WantedCall[]): Promise<boolean> {
    let isRefused = false
    for (const wanted of open) {
      const signal = new AbortController().signal
      const answer = await this.#serve(0, { wanted, signal, forMs: 54_000 })
      isRefused ||= answer.kind === 'refused'
    }
    return isRefused
  }

  /** True if the last answer for a call was that it is placed. */
  #isPlaced(wanted: WantedCall): boolean {
    return (
      this.#reported.findLast((reported) => reported.wanted === wanted)?.answer.kind === 'placed'
    )
  }
}
