import * as z from 'zod'
import type { Tenant } from './tenant.ts'

interface TenantCall {
  readonly id: string
  readonly external_id: string
  readonly to_number: string
  readonly placedAt: number
}

interface Reply {
  readonly status: number
  readonly reply: unknown
}

const ok = (reply: unknown): Reply => ({ status: 200, reply })
const page = (items: readonly unknown[]) => ok({ items, count: items.length })

const CallBody = z.looseObject({ to_number: z.string(), external_id: z.string() })
const AgentBody = z.looseObject({ note: z.string().optional() })

/** What the platform has of one user. Each reply has the mark of the user in it. */
export class TenantAccount {
  /** How often each number was called. */
  readonly rung = new Map<string, number>()
  readonly #calls: TenantCall[] = []
  readonly #tenant: Tenant
  readonly #callMs: number
  #note = ''
  #changes = 0

  constructor(tenant: Tenant, callMs: number) {
    this.#tenant = tenant
    this.#callMs = callMs
  }

  answer(method: string, { pathname, searchParams }: URL, body: string): Reply {
    const [, noun = '', id] = /^\/v1\/accounts\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(pathname) ?? []
    switch (noun) {
      case 'agents':
        if (method === 'PATCH') this.#change(AgentBody.parse(JSON.parse(body)))
        return id === undefined ? page([this.#agent()]) : ok(this.#agent())
      case 'calls':
        if (method === 'POST') return this.#place(CallBody.parse(JSON.parse(body)))
        return id === undefined ? this.#list(searchParams) : this.#get(id)
      case 'providers':
        return ok(this.#catalog(id))
      case 'phone-numbers':
        return page([this.#number()])
      default:
        return noun === '' ? ok(this.#account()) : page([])
    }
  }

  #account() {
    const { account, mark } = this.#tenant
    return { id: account, name: `Account of ${mark}`, is_active: true }
  }

  #agent() {
    const { agent, mark } = this.#tenant
    const modified = new Date(Date.UTC(2026, 0, 1) + this.#changes * 1000).toISOString()
    const note = this.#note || `Note of ${mark}`
    return { id: agent, name: `Agent of ${mark}`, note, tags: [mark], modified, is_archived: false }
  }

  #change({ note }: z.output<typeof AgentBody>): void {
    this.#note = note ?? this.#note
    this.#changes++
  }

  #number() {
    const { fromNumber, mark, agent } = this.#tenant
    return { id: `number-${mark}`, number: fromNumber, name: mark, outbound_agent_id: agent }
  }

  /** Such as models, voices or transcribers. */
  #catalog(what = '') {
    const { mark } = this.#tenant
    const provider = { code: 'provider', name: `Provider of ${mark}` }
    if (what === 'voices') return { items: [{ id: `voice-${mark}`, name: mark }], count: 1 }
    return [{ provider, models: [{ id: `model-${mark}`, name: mark }] }]
  }

  #place({ to_number, external_id }: z.output<typeof CallBody>): Reply {
    const id = `call-${this.#tenant.mark}-${this.#calls.length}`
    const call = { id, external_id, to_number, placedAt: Date.now() }
    this.#calls.push(call)
    this.rung.set(to_number, (this.rung.get(to_number) ?? 0) + 1)
    return { status: 201, reply: this.#shown(call) }
  }

  #list(query: URLSearchParams): Reply {
    const wanted = query.get('external_id')
    const found = this.#calls.filter((call) => wanted === null || call.external_id === wanted)
    return page(found.map((call) => this.#shown(call)))
  }

  #get(id: string): Reply {
    const call = this.#calls.find((one) => one.id === id)
    if (call) return ok(this.#shown(call))
    const reply = { code: 'not_found', message: 'No.', detail: null, errors: null }
    return { status: 404, reply }
  }

  #shown({ placedAt, ...call }: TenantCall) {
    const { mark, agent, fromNumber } = this.#tenant
    const created = new Date(placedAt).toISOString()
    const isOver = Date.now() - placedAt > this.#callMs
    return {
      ...call,
      agent_id: agent,
      from_number: fromNumber,
      type: 'phone',
      status: isOver ? 'completed' : 'in_progress',
      answer_status: isOver ? 'human' : 'waiting',
      created,
      ended_at: isOver ? new Date(placedAt + this.#callMs).toISOString() : null,
      messages: isOver ? [{ role: 'agent', message: `Good day, ${mark}`, timestamp: created }] : [],
    }
  }
}
