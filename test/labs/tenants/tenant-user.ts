import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { errorOf, type TestClient, ToolResult } from '../../harness/client.ts'
import { rpc } from '../../harness/rpc.ts'
import { textOf } from '../measure/clients.ts'
import { within } from '../measure/concurrency.ts'
import { pick } from '../random.ts'
import { calledNumber, strangersIn, type Tenant } from './tenant-platform.ts'

/** One request of a user and its outcome. */
export interface Asked {
  readonly what: string
  /** `ok`, the kind of error of a tool, or why there was no result. */
  readonly outcome: string
  /** Text of a tool's error; empty without an error. */
  readonly text: string
  readonly ms: number
}

interface TenantUserOptions {
  readonly random: () => number
  /** Probability that a long request is cancelled, 0 to 1. */
  readonly cancelRate: number
  readonly onAsked: (asked: Asked) => void
}

const Preview = z.looseObject({ confirmation: z.looseObject({ confirm_token: z.string() }) })
const Placed = z.looseObject({ id: z.string() })
const Task = z.looseObject({ taskId: z.string(), status: z.string() })

/** Deadline for an answer, ms, in case the client's own timeout of 75 s does not fire. */
const longestMs = 80_000

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** Error of a resource read that the platform refused; it has the resource's URI. */
const ReadError = z.looseObject({
  code: z.literal(-32603),
  data: z.looseObject({ uri: z.string() }),
})

/** Name of a request's outcome, from its error. */
function thrownOutcome(error: unknown): string {
  const { name = '', message = '' } = Object(error)
  const text = `${name}: ${message}`
  // Includes failed reads of the API key's own account.
  if (ReadError.safeParse(error).success || /API key \(/.test(text)) return 'not read'
  if (/timed out|TimeoutError/i.test(text)) return 'no answer'
  const isLost =
    /\b50[234]\b|is stopping|fetch failed|terminated|ECONN|socket|closed|Unexpected end/i
  return isLost.test(text) ? 'connection lost' : text.slice(0, 160)
}

/**
 * A user with an own client, who sends requests of every kind and checks each answer for data of
 * other users.
 */
export class TenantUser {
  /** Answers that contain data of another user; empty if there are none. */
  readonly crossings: string[] = []
  /** Ids of placed calls, by called number. */
  readonly placed = new Map<string, string>()
  readonly tenant: Tenant
  readonly #client: TestClient
  readonly #options: TenantUserOptions
  #calls = 0
  #notes = 0

  constructor(tenant: Tenant, client: TestClient, options: TenantUserOptions) {
    this.tenant = tenant
    this.#client = client
    this.#options = options
  }

  /** Runs one random action to its end. */
  async act(): Promise<void> {
    await pick(this.#acts, this.#options.random).act()
  }

  readonly #acts: readonly { readonly weight: number; readonly act: () => Promise<unknown> }[] = [
    { weight: 2, act: () => this.#ask('tools/list', () => this.#client.listTools()) },
    { weight: 2, act: () => this.#ask('resources/list', () => this.#client.listResources()) },
    { weight: 2, act: () => this.#read(`voice-agents://agents/${this.tenant.agent}`) },
    { weight: 1, act: () => this.#read('voice-agents://catalog/models') },
    { weight: 2, act: () => this.#tool('get_current_account') },
    { weight: 2, act: () => this.#tool('list_agents') },
    { weight: 3, act: () => this.#tool('get_agent', { agent_id: this.tenant.agent }) },
    { weight: 2, act: () => this.#tool('list_models') },
    { weight: 2, act: () => this.#tool('list_voices', { provider: 'elevenlabs' }) },
    { weight: 2, act: () => this.#tool('list_calls', { limit: 5 }) },
    { weight: 1, act: () => this.#tool('list_phone_numbers') },
    { weight: 3, act: () => this.#change() },
    { weight: 4, act: () => this.#placeAndWait() },
    { weight: 2, act: () => this.#follow() },
    { weight: 1, act: () => this.#listen() },
  ]

  /**
   * Sends a request, checks its answer and records its outcome. `undefined`: no answer, or an
   * error.
   */
  async #ask<T>(
    what: string,
    send: (signal: AbortSignal) => Promise<T>,
    cancelAfterMs?: number,
  ): Promise<T | undefined> {
    const began = performance.now()
    const caller = new AbortController()
    const timer =
      cancelAfterMs === undefined ? undefined : setTimeout(() => caller.abort(), cancelAfterMs)
    const record = (outcome: string, text = '') =>
      this.#options.onAsked({ what, outcome, text, ms: performance.now() - began })
    try {
      const answer = await within(longestMs, send(caller.signal))
      for (const other of strangersIn(JSON.stringify(answer), this.tenant))
        this.crossings.push(`${what} of ${this.tenant.mark}: something of ${other}`)
      const failure = failureOf(answer)
      record(failure?.outcome ?? 'ok', failure?.text)
      return failure === undefined ? answer : undefined
    } catch (error) {
      record(caller.signal.aborted ? 'cancelled' : thrownOutcome(error))
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  #tool(name: string, args: Record<string, unknown> = {}): Promise<ToolResult | undefined> {
    const { random, cancelRate } = this.#options
    const cancelAfterMs = random() < cancelRate ? random() * 300 : undefined
    return this.#ask(name, (signal) => this.#client.call(name, args, { signal }), cancelAfterMs)
  }

  #read(uri: string): Promise<unknown> {
    return this.#ask('resources/read', () => this.#client.readResource(uri))
  }

  async #change(): Promise<void> {
    const note = `Note ${++this.#notes} of ${this.tenant.mark}`
    await this.#tool('update_agent', { agent_id: this.tenant.agent, note })
  }

  #callArgs(): Record<string, unknown> {
    const { agent, fromNumber } = this.tenant
    const to_number = calledNumber(this.tenant, this.#calls++ % 1000)
    return { type: 'phone', agent_id: agent, from_number: fromNumber, to_number }
  }

  /**
   * Places a call and waits for it. Repeats the request if the outcome is unknown, as clients do.
   */
  async #placeAndWait(): Promise<void> {
    const args = this.#callArgs()
    for (let tries = 0; tries < 3; tries++) {
      const preview = Preview.safeParse((await this.#tool('place_call', args))?.structuredContent)
      const confirm_token = preview.data?.confirmation.confirm_token
      const result = confirm_token && (await this.#tool('place_call', { ...args, confirm_token }))
      const call = Placed.safeParse(Object(result).structuredContent)
      if (!call.success) continue
      this.placed.set(String(args.to_number), call.data.id)
      await this.#tool('wait_for_call', { call_id: call.data.id, timeout_seconds: 3 })
      await this.#tool('get_call', { call_id: call.data.id })
      return
    }
  }

  /** Places a call as a task, then polls or cancels it. Each request may reach another server. */
  async #follow(): Promise<void> {
    const { url, kind } = this.#client
    if (url === undefined || kind !== 'v2 2026-07-28') return
    const args = { ...this.#callArgs(), follow: true }
    const place = async (more: object) => {
      const params = { name: 'place_call', arguments: { ...args, ...more } }
      return this.#rpc(url, 'tools/call', params)
    }
    const preview = Preview.safeParse((await place({}))?.structuredContent)
    if (!preview.success) return
    const { confirm_token } = preview.data.confirmation
    const task = Task.safeParse(await place({ confirm_token }))
    if (!task.success) return
    const { taskId } = task.data
    if (this.#options.random() < 0.5) return void (await this.#rpc(url, 'tasks/cancel', { taskId }))
    for (let asked = 0; asked < 6; asked++) {
      const now = Task.safeParse(await this.#rpc(url, 'tasks/get', { taskId }))
      if (now.success && now.data.status !== 'working') return
      await sleep(400)
    }
  }

  async #rpc(url: string, method: string, params: Record<string, unknown>) {
    const answer = await this.#ask(method === 'tools/call' ? 'place_call as a task' : method, () =>
      rpc(url, method, params, { capabilities: tasks, key: this.tenant.key }),
    )
    return answer?.result
  }

  /**
   * Subscribes to the user's agent and changes it. Notifications about other users are violations.
   */
  async #listen(): Promise<void> {
    if (this.#client.kind !== 'v2 2026-07-28') return this.#change()
    const uri = `voice-agents://agents/${this.tenant.agent}`
    const hear = (heard: string) => {
      for (const other of strangersIn(heard, this.tenant))
        this.crossings.push(`a notification of ${this.tenant.mark}: something of ${other}`)
    }
    const opened = await this.#ask('subscriptions/listen', async () => ({
      stop: await this.#client.listen(uri, hear),
    }))
    await this.#change()
    await sleep(this.#options.random() * 1000)
    await opened?.stop().catch(() => undefined)
  }
}

/** The error or refusal in an answer; `undefined` for a success. */
function failureOf(answer: unknown): Pick<Asked, 'outcome' | 'text'> | undefined {
  const { isError, error } = Object(answer)
  if (error) return { outcome: thrownOutcome(error), text: '' }
  if (!isError) return undefined
  const result = ToolResult.parse(answer)
  return { outcome: errorOf(result).kind, text: textOf(result) }
}
