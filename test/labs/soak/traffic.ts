import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientKind, clientKinds, type TestClient } from '../../harness/client.ts'
import { Tally } from '../measure/report.ts'
import { randomOf } from '../random.ts'
import { type Tenant, type TenantPlatform, tenantOf } from '../tenants/tenant-platform.ts'
import { type Asked, TenantUser } from '../tenants/tenant-user.ts'

/** Outcomes that are allowed while the platform fails and servers restart. */
const expected = new Set([
  ...['ok', 'cancelled', 'rejected', 'unreadable', 'network', 'timeout', 'unknown_outcome'],
  ...['not read', 'connection lost'],
])

/**
 * Time for which the platform keeps the data of a user who has left, ms: servers may still read the
 * user's running calls.
 */
const rememberedMs = 60_000

/** Connects a client with a user's key. */
export type Connect = (kind: ClientKind, tenant: Tenant) => Promise<TestClient>

interface TrafficOptions {
  readonly seed: number
  readonly platform: TenantPlatform
}

/** Simulated users who come and go, each with a new key, and the outcomes of their requests. */
export class Traffic {
  readonly outcomes = new Tally()
  readonly requests = new Tally()
  readonly problems: string[] = []
  readonly answerMs: number[] = []
  users = 0
  calls = 0
  readonly #options: TrafficOptions
  readonly #ending = new AbortController()
  readonly #running: Promise<void>[] = []

  constructor(options: TrafficOptions) {
    this.#options = options
  }

  get asked(): number {
    return this.answerMs.length
  }

  /** Keeps one user at work for each item of `places`. When a user leaves, the next one follows. */
  start(places: readonly Connect[]): void {
    for (const [nth, connect] of places.entries()) {
      const kind = clientKinds[nth % clientKinds.length] ?? 'v1'
      this.#running.push(this.#comeAndGo(kind, connect, nth))
    }
  }

  /** Keeps one user at work until `stop`. */
  stay(tenant: Tenant, client: TestClient): void {
    this.#running.push(this.#work(tenant, client, this.#ending.signal))
  }

  nextTenant(): Tenant {
    return tenantOf(this.users++)
  }

  /** Resolves when all users have finished their current request and left. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#running)
  }

  async #comeAndGo(kind: ClientKind, connect: Connect, nth: number): Promise<void> {
    const random = randomOf(this.#options.seed, 'place', nth)
    while (!this.#ending.signal.aborted) {
      const tenant = this.nextTenant()
      const client = await connect(kind, tenant).catch(() => undefined)
      // The server was just killed.
      if (!client) await sleep(200)
      else {
        const gone = AbortSignal.timeout(Math.round(5000 + random() * 35_000))
        await this.#work(tenant, client, AbortSignal.any([gone, this.#ending.signal]))
        await Promise.resolve(client[Symbol.asyncDispose]()).catch(() => undefined)
      }
    }
  }

  async #work(tenant: Tenant, client: TestClient, until: AbortSignal): Promise<void> {
    const { platform, seed } = this.#options
    const random = randomOf(seed, 'user', tenant.nth)
    const onAsked = (asked: Asked) => this.#note(asked, tenant)
    const user = new TenantUser(tenant, client, { random, cancelRate: 0.08, onAsked })
    while (!until.aborted) {
      await user.act()
      await sleep(random() * 800, undefined, { signal: until }).catch(() => undefined)
      this.problems.push(...user.crossings.splice(0))
    }
    const rung = platform.rung(tenant)
    this.calls += rung.size
    for (const [number, times] of rung)
      if (times > 1) this.problems.push(`${number} was called ${times} times`)
    setTimeout(() => platform.forget(tenant), rememberedMs).unref()
  }

  #note({ what, outcome, text, ms }: Asked, { mark }: Tenant): void {
    this.requests.add(what)
    this.outcomes.add(outcome)
    this.answerMs.push(ms)
    if (!expected.has(outcome))
      this.problems.push(`${what} of ${mark}: ${outcome} ${text.slice(0, 300)}`)
  }
}
