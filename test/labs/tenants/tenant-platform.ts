import * as z from 'zod'
import { Tally } from '../measure/report.ts'
import { realTime, serveOverHttp } from '../platform/over-http.ts'
import type { Reaction } from '../platform/reaction.ts'
import { type PlatformOptions, SimulatedPlatform } from '../platform/simulated-platform.ts'
import { pick, randomOf } from '../random.ts'

/*
 * Simulated users of a platform, each with an API key and an account. All data of a user contains
 * the user's number, so data that leaks to another user is recognised.
 */

export interface Tenant {
  readonly nth: number
  /** Marker in all names and texts of this user. */
  readonly mark: string
  readonly key: string
  readonly account: string
  readonly agent: string
  readonly fromNumber: string
}

const digitsOf = (nth: number) => String(nth).padStart(5, '0')

/** The user with this number, 0 to 99,999. */
export function tenantOf(nth: number): Tenant {
  const digits = digitsOf(nth)
  return {
    nth,
    mark: `user-${digits}`,
    key: `sk-tenant-${digits}`,
    account: `00000000-0000-4000-8000-0000000${digits}`,
    agent: `00000000-0000-4000-8001-0000000${digits}`,
    fromNumber: `+49302${digits}5`,
  }
}

/** The nth number that a user calls, 0 to 999. French, so that no emergency number occurs in it. */
export const calledNumber = ({ nth }: Tenant, call: number): string =>
  `+336${digitsOf(nth)}${String(call).padStart(3, '0')}`

const traces =
  /user-(\d{5})|00000000-0000-4000-800[01]-0000000(\d{5})|\+49302(\d{5})5|\+336(\d{5})\d{3}/g

/** Numbers of other users whose data is in a text. */
export function strangersIn(text: string, { nth }: Tenant): number[] {
  const found = text.matchAll(traces).map(([, ...digits]) => Number(digits.find(Boolean)))
  return [...new Set(found)].filter((one) => one !== nth)
}

/** Faults of a request, by name. */
const faults = {
  late: (random: () => number, latestMs: number) =>
    reactionWith('now', 'well', random() * latestMs),
  refused: () => reactionWith('never', 429),
  // Half of the failed requests took effect.
  failed: (random: () => number) => reactionWith(random() < 0.5 ? 'now' : 'never', 500),
  cutOff: () => reactionWith('now', 'cut off'),
}

const reactionWith = (
  acts: Reaction['acts'],
  answer: Reaction['answer'],
  answerMs = 0,
): Reaction => ({
  ...{ acts, answer, answerMs, lateness: 0 },
})

interface TenantPlatformOptions {
  readonly seed: number
  /** Weight of each fault; a correct reply has weight 100. */
  readonly weights?: Readonly<Record<keyof typeof faults, number>>
  /** Longest delay of a reply, ms. */
  readonly latestMs?: number
  /** Duration of telephone calls, ms. */
  readonly callMs: number
}

/** A platform with an account for each key. */
export interface TenantPlatform extends AsyncDisposable {
  readonly url: string
  /** Requests with one user's key for data of another; empty if there are none. */
  readonly crossings: readonly string[]
  /** Number of replies by kind. */
  answers(): Record<string, number>
  /** Number of calls to each telephone number of a user. */
  rung(tenant: Tenant): ReadonlyMap<string, number>
  /** Deletes the data of a user who will not return. */
  forget(tenant: Tenant): void
}

export async function startTenantPlatform({
  seed,
  weights,
  latestMs = 0,
  callMs,
}: TenantPlatformOptions): Promise<TenantPlatform> {
  const crossings: string[] = []
  const answers = new Tally()
  const random = randomOf(seed, 'platform')
  const accounts = new Map<number, SimulatedPlatform>()
  const kinds = Object.entries({ well: 100, ...weights }).map(([kind, weight]) => ({
    kind,
    weight,
  }))
  const reaction = (): Reaction | undefined => {
    const { kind } = pick(kinds, random)
    answers.add(kind)
    return faults[kind as keyof typeof faults]?.(random, latestMs)
  }
  const platformOf = (tenant: Tenant): SimulatedPlatform => {
    const known = accounts.get(tenant.nth)
    if (known) return known
    const platform = new SimulatedPlatform({
      time: realTime,
      lateForMs: 0,
      lastsMs: () => callMs,
      onPost: reaction,
      onOther: reaction,
      idOf: (nth) => `call-${tenant.mark}-${nth}`,
      ...accountOf(tenant, callMs),
    })
    accounts.set(tenant.nth, platform)
    return platform
  }

  const server = await serveOverHttp((key, { method, url, body }) => {
    const [, digits] = /^sk-tenant-(\d{5})$/.exec(key) ?? []
    const asked = `${method} ${url.pathname}${url.search}`
    if (digits === undefined) {
      crossings.push(`${asked}: no user has this key`)
      return undefined
    }
    const tenant = tenantOf(Number(digits))
    for (const other of strangersIn(`${decodeURIComponent(asked)} ${body}`, tenant))
      crossings.push(`${asked} with the key of ${tenant.mark}: something of ${other}`)
    return platformOf(tenant)
  })
  return {
    ...server,
    crossings,
    answers: () => answers.all(),
    rung: (tenant) => {
      const rung = new Tally()
      for (const { rings, to_number } of platformOf(tenant).calls) if (rings) rung.add(to_number)
      return new Map(Object.entries(rung.all()))
    },
    forget: ({ nth }) => void accounts.delete(nth),
  }
}

const AgentBody = z.looseObject({ note: z.string().optional() })

const page = (items: readonly unknown[]) => ({ items, count: items.length })

/**
 * Replies about one user's account besides calls, and further fields of its calls. Their texts
 * contain the user's marker.
 */
function accountOf(
  { account, agent, fromNumber, mark }: Tenant,
  callMs: number,
): Pick<PlatformOptions, 'reply' | 'more'> {
  let note = `Note of ${mark}`
  let changes = 0
  const agentNow = () => {
    const modified = new Date(Date.UTC(2026, 0, 1) + changes * 1000).toISOString()
    return { id: agent, name: `Agent of ${mark}`, note, tags: [mark], modified, is_archived: false }
  }
  const numbers = [
    { id: `number-${mark}`, number: fromNumber, name: mark, outbound_agent_id: agent },
  ]
  /** Reply of a provider catalog: models, voices or transcribers. */
  const catalog = (what: string | undefined) => {
    if (what === 'voices') return page([{ id: `voice-${mark}`, name: mark }])
    const provider = { code: 'provider', name: `Provider of ${mark}` }
    return [{ provider, models: [{ id: `model-${mark}`, name: mark }] }]
  }
  return {
    reply({ method, url: { pathname }, body }) {
      const [, noun, id] = /^\/v1\/accounts\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(pathname) ?? []
      if (noun === 'agents' && method === 'PATCH') {
        note = AgentBody.parse(JSON.parse(body)).note ?? note
        changes++
      }
      switch (noun) {
        case 'agents':
          return id === undefined ? page([agentNow()]) : agentNow()
        case 'providers':
          return catalog(id)
        case 'phone-numbers':
          return page(numbers)
        case undefined:
          return { id: account, name: `Account of ${mark}`, is_active: true }
        default:
          return page([])
      }
    },
    more({ created }, hasEnded) {
      if (!hasEnded) return { ended_at: null, messages: [] }
      return {
        ended_at: new Date(Date.parse(created) + callMs).toISOString(),
        messages: [{ role: 'agent', message: `Good day, ${mark}`, timestamp: created }],
      }
    },
  }
}
