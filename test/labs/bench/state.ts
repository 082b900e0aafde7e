import { startPostgres } from '../../harness/postgres-server.ts'
import { quietly, scratchFolder } from '../../harness/program.ts'
import { startReplicas } from '../../harness/replicas.ts'
import { callBuiltTool, textOf } from '../measure/clients.ts'
import { repeatFor } from '../measure/concurrency.ts'
import { median, round, type Section } from '../measure/report.ts'
import {
  calledNumber,
  startTenantPlatform,
  type Tenant,
  tenantOf,
} from '../tenants/tenant-platform.ts'

interface Options {
  readonly seconds: number
  readonly rounds: number
}

/** Location of the state, and number of servers that share it. */
interface Subject {
  readonly name: string
  readonly servers: number
  readonly env: Record<string, string>
}

/** One measurement of a subject: rate and median latency of the placed telephone calls. */
interface Measured {
  readonly name: string
  /** Calls per second. */
  readonly perSecond: number
  /** ms */
  readonly p50: number
}

const concurrency = 16

/** A limit that is never reached, so that each telephone call is also counted. */
const policy = '{"max_per_day": 1000000}'

/**
 * Measures telephone calls placed per second, by location of the journal and the counts. Each call
 * is placed once and recorded durably before it is sent. PostgreSQL runs on this machine and writes
 * to disk as in production.
 */
export async function state({ seconds, rounds }: Options): Promise<Section[]> {
  using folder = scratchFolder()
  await using database = await startPostgres({ isDurable: true })
  const postgres = async () => ({
    VOICE_AGENT_STATE_URL: await database.newDatabase(),
    VOICE_AGENT_SECRET: 's'.repeat(32),
  })
  const subjects: Subject[] = [
    { name: 'memory', servers: 1, env: { VOICE_AGENT_STATE_DIR: ':memory:' } },
    { name: 'SQLite', servers: 1, env: { VOICE_AGENT_STATE_DIR: folder.path } },
    { name: 'PostgreSQL', servers: 1, env: await postgres() },
    { name: 'PostgreSQL, 3 servers', servers: 3, env: await postgres() },
  ]
  const many: Measured[] = []
  const single: Measured[] = []
  for (let nth = 0; nth < rounds; nth++) {
    for (const { name, ...subject } of subjects) {
      await using run = await start(subject)
      // Warm-up: opens connections and compiles code.
      await run.place(concurrency, 1)
      many.push({ name, ...(await run.place(concurrency, seconds)) })
      single.push({ name, ...(await run.place(1, seconds)) })
    }
  }
  return [
    sectionOf(`place_call by location of the state, ${concurrency} concurrent calls`, many),
    sectionOf('place_call by location of the state, one call after the other', single),
  ]
}

/** Number of users so far. Each run has its own users, so that no call is a repeat. */
let users = 0

async function start({ servers, env }: Omit<Subject, 'name'>) {
  const platform = await startTenantPlatform({
    seed: 1,
    callMs: 1000,
  })
  const replicas = await startReplicas(servers, {
    ...quietly,
    ...env,
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_DIAL_POLICY: policy,
  })
  const { urls } = replicas
  return {
    place: (connections: number, seconds: number) => placeFor(urls, connections, seconds),
    async [Symbol.asyncDispose]() {
      await replicas[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
    },
  }
}

/**
 * Places telephone calls for a time. Each connection has its own user, replaced after a thousand
 * calls.
 */
async function placeFor(
  urls: readonly string[],
  connections: number,
  seconds: number,
): Promise<Omit<Measured, 'name'>> {
  const callers = Array.from({ length: connections }, () => ({
    tenant: tenantOf(users++),
    call: 0,
  }))
  const placed = await repeatFor(seconds, connections, async (connection) => {
    const caller = callers[connection]
    if (!caller) throw new Error('a connection without a caller')
    if (caller.call === 1000) Object.assign(caller, { tenant: tenantOf(users++), call: 0 })
    await placeCall(urls[connection % urls.length] ?? '', caller.tenant, caller.call++)
  })
  return { perSecond: placed.times.length / placed.seconds, p50: median(placed.times) }
}

async function placeCall(url: string, tenant: Tenant, call: number): Promise<void> {
  const args = {
    type: 'phone',
    agent_id: tenant.agent,
    from_number: tenant.fromNumber,
    to_number: calledNumber(tenant, call),
  }
  const result = await callBuiltTool(url, 'place_call', args, { key: tenant.key })
  if (result.isError) throw new Error(textOf(result))
}

function sectionOf(title: string, measured: readonly Measured[]): Section {
  const medians = new Map(
    [...Map.groupBy(measured, ({ name }) => name)].map(([name, rounds]) => [
      name,
      {
        perSecond: round(median(rounds.map(({ perSecond }) => perSecond)), 0),
        p50: round(median(rounds.map(({ p50 }) => p50)), 1),
      },
    ]),
  )
  const rate = (name: string) => medians.get(name)?.perSecond ?? Number.NaN
  return {
    title,
    unit: 'calls per second; median latency in ms',
    values: Object.fromEntries(
      [...medians].flatMap(([name, { perSecond, p50 }]) => [
        [name, perSecond],
        [`${name}, ms`, p50],
      ]),
    ),
    goals: [
      { name: 'SQLite, times memory', value: round(rate('SQLite') / rate('memory')), aim: 0.5 },
      {
        name: 'PostgreSQL, times SQLite',
        value: round(rate('PostgreSQL') / rate('SQLite')),
        aim: 0.5,
      },
    ],
  }
}
