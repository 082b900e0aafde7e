import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { pick, randomOf, Tally } from '../stress/random.ts'
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
  /** From now on every request is answered as it should be. */
  heal(): void
}

type Fault = keyof TenantFaults | 'well'

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

const error = (code: string) => ({ code, message: 'No.', detail: null, errors: null })

export async function startTenantPlatform(options: TenantPlatformOptions): Promise<TenantPlatform> {
  const platform = new Tenants(options)
  const server = createServer((request, response) => {
    platform.answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.number() }).parse(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    crossings: platform.crossings,
    answers: () => platform.answers.all(),
    rung: (tenant) => platform.accountOf(tenant).rung,
    forget: ({ nth }) => platform.forget(nth),
    heal: () => platform.heal(),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

class Tenants {
  readonly crossings: string[] = []
  readonly answers = new Tally()
  readonly #accounts = new Map<number, TenantAccount>()
  readonly #options: TenantPlatformOptions
  readonly #random: () => number
  #isWell = false

  constructor(options: TenantPlatformOptions) {
    this.#options = options
    this.#random = randomOf(options.seed, 'platform')
  }

  heal(): void {
    this.#isWell = true
  }

  forget(nth: number): void {
    this.#accounts.delete(nth)
  }

  accountOf(tenant: Tenant): TenantAccount {
    const account =
      this.#accounts.get(tenant.nth) ?? new TenantAccount(tenant, this.#options.callMs)
    this.#accounts.set(tenant.nth, account)
    return account
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const tenant = tenantOfKey(headers['x-api-key'])
    if (!tenant) {
      this.crossings.push(`${method} ${url}: no user has this key`)
      return void json(response, 401, error('unauthorized'))
    }
    for (const other of strangersIn(`${decodeURIComponent(url)} ${body}`, tenant))
      this.crossings.push(`${method} ${url} with the key of ${tenant.mark}: something of ${other}`)
    await this.#answer({ method, url: new URL(url, 'http://platform'), body }, { tenant, response })
  }

  async #answer(
    { method, url, body }: { method: string; url: URL; body: string },
    { tenant, response }: { tenant: Tenant; response: ServerResponse },
  ): Promise<void> {
    const fault = this.#fault()
    this.answers.add(fault)
    if (fault === 'refused')
      return void json(response, 429, error('too_many_requests'), { 'retry-after': '1' })
    if (fault === 'late') await sleep(this.#random() * this.#options.latestMs)
    // What fails now has been done in half of the cases.
    if (fault === 'failed' && this.#random() < 0.5) return void json(response, 500, error('failed'))
    const { status, reply } = this.accountOf(tenant).answer(method, url, body)
    if (fault === 'failed') return void json(response, 500, error('failed'))
    if (fault !== 'cutOff') return void json(response, status, reply)
    const whole = JSON.stringify(reply)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': whole.length,
    })
    response.write(whole.slice(0, whole.length / 2), () => response.destroy())
  }

  #fault(): Fault {
    if (this.#isWell) return 'well'
    const { late, refused, failed, cutOff } = this.#options.faults
    const turns: readonly { kind: Fault; weight: number }[] = [
      { kind: 'well', weight: 100 },
      { kind: 'late', weight: late },
      { kind: 'refused', weight: refused },
      { kind: 'failed', weight: failed },
      { kind: 'cutOff', weight: cutOff },
    ]
    return pick(turns, this.#random).kind
  }
}
