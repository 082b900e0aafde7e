import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientKind, clientKinds, type TestClient } from '../../harness/client.ts'
import { randomOf, Tally } from '../random.ts'
import { type Tenant, type TenantPlatform, tenantOf } from '../tenants/tenant-platform.ts'
import { type Asked, TenantUser } from '../tenants/tenant-user.ts'

/** What users may be told while the platform fails and servers are restarted. */
const expected = new Set([
  ...['ok', 'cancelled', 'rejected', 'unreadable', 'network', 'timeout', 'unknown_outcome'],
  ...['not read', 'connection lost'],
])

/** How long the platform remembers a user who has gone, ms: calls are read to their end. */
const rememberedMs = 60_000

/** Connects a client as a user. */
export type Connect = (kind: ClientKind, tenant: Tenant) => Promise<TestClient>

interface TrafficOptions {
  readonly seed: number
  readonly platform: TenantPlatform
}

/** Users who come and go, each with another key, and what they were told. */
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

  /** Keeps so many users at work, one after the other in each place. */
  start(places: readonly Connect[]): void {
    for (const [nth, connect] of places.entries()) {
      const kind = clientKinds[nth % clientKinds.length] ?? 'v1'
      this.#running.push(this.#comeAndGo(kind, connect, nth))
    }
  }

  /** Keeps one user at work with a client that stays. */
  stay(tenant: Tenant, client: TestClient): void {
    this.#running.push(this.#work(tenant, client, this.#ending.signal))
  }

  nextTenant(): Tenant {
    return tenantOf(this.users++)
  }

  /** Lets everybody finish what they do, and go. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#running)
  }

  async #comeAndGo(kind: ClientKind, connect: Connect, nth: number): Promise<void> {
    const random = randomOf(this.#options.seed, 'place', nth)
    while (!this.#ending.signal.aborted) {
      const tenant = this.nextTenant()
      const client = await connect(kind, tenant).catch(() => undefined)
      // The server that was asked was just killed.
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
