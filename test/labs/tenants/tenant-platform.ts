import { realTime, serveOverHttp } from '../platform/over-http.ts'
import { SimulatedPlatform } from '../platform/simulated-platform.ts'
import type { Turn } from '../platform/turn.ts'
import { pick, randomOf, Tally } from '../random.ts'
import { strangersIn, type Tenant, tenantOfKey } from './tenant.ts'
import { TenantAccount } from './tenant-account.ts'

/** How likely each fault is, beside 100 for an answer as it should be. */
export interface TenantFaults {
  readonly late: number
  readonly refused: number
  readonly failed: number
  readonly cutOff: number
}

export interface TenantPlatformOptions {
  readonly seed: number
  readonly faults: TenantFaults
  /** How late an answer is at most, ms. */
  readonly latestMs: number
  /** How long calls last, ms. */
  readonly callMs: number
}

/** A platform with an account for each key. */
export interface TenantPlatform extends AsyncDisposable {
  readonly url: string
  /** Requests with the key of one user that asked for something of another; empty if all is well. */
  readonly crossings: readonly string[]
  /** How often it answered in which way. */
  answers(): Record<string, number>
  /** How often each number of a user was called. */
  rung(tenant: Tenant): ReadonlyMap<string, number>
  /** Forgets a user, who comes back no more. */
  forget(tenant: Tenant): void
}

export async function startTenantPlatform({
  seed,
  faults,
  latestMs,
  callMs,
}: TenantPlatformOptions): Promise<TenantPlatform> {
  const crossings: string[] = []
  const answers = new Tally()
  const random = randomOf(seed, 'platform')
  const accounts = new Map<number, SimulatedPlatform>()

  const turn = (): Turn | undefined => {
    const { kind, turnOf } = pick(turns, random)
    answers.add(kind)
    return turnOf?.()
  }
  const turnWith = (acts: Turn['acts'], answer: Turn['answer'], answerMs = 0): Turn => ({
    ...{ acts, answer, answerMs, lateness: 0 },
  })
  const turns: readonly { kind: string; weight: number; turnOf?: () => Turn }[] = [
    { kind: 'well', weight: 100 },
    {
      kind: 'late',
      weight: faults.late,
      turnOf: () => turnWith('now', 'well', random() * latestMs),
    },
    { kind: 'refused', weight: faults.refused, turnOf: () => turnWith('never', 429) },
    // What fails has been done in half of the cases.
    {
      kind: 'failed',
      weight: faults.failed,
      turnOf: () => turnWith(random() < 0.5 ? 'now' : 'never', 500),
    },
    { kind: 'cutOff', weight: faults.cutOff, turnOf: () => turnWith('now', 'cut off') },
  ]

  const platformOf = (tenant: Tenant): SimulatedPlatform => {
    const known = accounts.get(tenant.nth)
    if (known) return known
    const account = new TenantAccount(tenant)
    const platform = new SimulatedPlatform({
      time: realTime,
      lateForMs: 0,
      lastsMs: () => callMs,
      onPost: turn,
      onOther: turn,
      idOf: (nth) => `call-${tenant.mark}-${nth}`,
      reply: (request) => account.reply(request),
      more: (call, hasEnded) => account.moreOf(call, hasEnded ? callMs : undefined),
    })
    accounts.set(tenant.nth, platform)
    return platform
  }

  const server = await serveOverHttp((key, { method, url, body }) => {
    const tenant = tenantOfKey(key)
    const asked = `${method} ${url.pathname}${url.search}`
    if (!tenant) {
      crossings.push(`${asked}: no user has this key`)
      return undefined
    }
    for (const other of strangersIn(`${decodeURIComponent(asked)} ${body}`, tenant))
      crossings.push(`${asked} with the key of ${tenant.mark}: something of ${other}`)
    return platformOf(tenant)
  })
  return {
    url: server.url,
    crossings,
    answers: () => answers.all(),
    rung: (tenant) => {
      const rung = platformOf(tenant).calls.filter(({ rings }) => rings)
      const byNumber = Map.groupBy(rung, ({ to_number }) => to_number)
      return new Map([...byNumber].map(([number, calls]) => [number, calls.length]))
    },
    forget: ({ nth }) => void accounts.delete(nth),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
