import * as z from 'zod'
import type { PlatformCall } from '../platform/call-lists.ts'
import type { PlatformRequest } from '../platform/simulated-platform.ts'
import type { Tenant } from './tenant.ts'

const AgentBody = z.looseObject({ note: z.string().optional() })

const page = (items: readonly unknown[]) => ({ items, count: items.length })

/** What the platform has of one user, besides calls. Each reply has the mark of the user in it. */
export class TenantAccount {
  readonly #tenant: Tenant
  #note = ''
  #changes = 0

  constructor(tenant: Tenant) {
    this.#tenant = tenant
  }

  reply({ method, url: { pathname }, body }: PlatformRequest): unknown {
    const [, noun = '', id] = /^\/v1\/accounts\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(pathname) ?? []
    switch (noun) {
      case 'agents':
        if (method === 'PATCH') this.#change(AgentBody.parse(JSON.parse(body)))
        return id === undefined ? page([this.#agent()]) : this.#agent()
      case 'providers':
        return this.#catalog(id)
      case 'phone-numbers':
        return page([this.#number()])
      default:
        return noun === '' ? this.#account() : page([])
    }
  }

  /** What a call shows besides; `endedAfterMs` is absent while it goes on. */
  moreOf({ created }: PlatformCall, endedAfterMs: number | undefined): object {
    if (endedAfterMs === undefined) return { ended_at: null, messages: [] }
    const { mark } = this.#tenant
    return {
      ended_at: new Date(Date.parse(created) + endedAfterMs).toISOString(),
      messages: [{ role: 'agent', message: `Good day, ${mark}`, timestamp: created }],
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
}
