import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../../harness/postgres-server.ts'
import { bin, cleanEnv, quietly, scratchFolder } from '../../harness/program.ts'
import { type Replicas, startReplicas } from '../../harness/replicas.ts'
import { rpc } from '../../harness/rpc.ts'
import { inParallel } from '../stress/stress.ts'
import { connectTenant, type ServerPlace, type TenantClient } from '../tenants/tenant-client.ts'
import { startTenantPlatform, type TenantPlatform } from '../tenants/tenant-platform.ts'
import { Traffic } from './traffic.ts'
import { type ServerVerdict, verdictOf } from './verdict.ts'
import { probeEnv, probeOptions, WatchedServer } from './watched-server.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly state: 'postgres' | 'sqlite'
  readonly seed: number
  /** Users over HTTP at the same time. */
  readonly atOnce: number
  readonly onProgress: (line: string) => void
}

export interface SoakReport {
  readonly minutes: number
  readonly state: SoakOptions['state']
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly users: number
  readonly calls: number
  readonly restarts: { readonly stopped: number; readonly killed: number }
  readonly kinds: Readonly<Record<string, number>>
  readonly outcomes: Readonly<Record<string, number>>
  readonly platform: Readonly<Record<string, number>>
  readonly servers: readonly ServerVerdict[]
  /** What is not as promised; empty if all is well. */
  readonly problems: readonly string[]
}

const replicas = 3

/** Times are short, so that much happens; no limit is ever reached. */
const settings = {
  ...quietly,
  VOICE_AGENT_SECRET: 's'.repeat(32),
  VOICE_AGENT_CONFIRM: 'always',
  VOICE_AGENT_DIAL_POLICY: '{"max_per_day": 1000000, "max_at_once": 100000}',
  VOICE_AGENT_TIMEOUT: '10',
  VOICE_AGENT_CALL_FIND_OUT: '5',
  VOICE_AGENT_CALL_SETTLE: '3',
  VOICE_AGENT_CATALOG_TTL: '5',
}

/** How long servers are left alone at the end, ms: idle connections are closed by then. */
const restMs = 20_000

/** The state that the servers share, and what it needs while they run. */
async function startState(kind: SoakOptions['state'], folder: string) {
  if (kind === 'sqlite')
    return { env: { VOICE_AGENT_STATE_DIR: folder }, [Symbol.asyncDispose]: async () => undefined }
  const server = await startPostgres()
  return {
    env: { VOICE_AGENT_STATE_URL: await server.newDatabase() },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Runs servers under mixed traffic, faults, key churn and restarts, and looks at what they hold. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { seed, state: kind } = options
  using folder = scratchFolder()
  await using state = await startState(kind, folder.path)
  await using platform = await startTenantPlatform({
    seed,
    faults: { late: 8, refused: 2, failed: 3, cutOff: 2 },
    latestMs: 1500,
    callMs: 4000,
  })
  const env = { ...settings, ...state.env, VOICE_AGENT_BASE_URL: platform.url }
  const probeOf = (name: string) => join(folder.path, `probe-${name}.json`)
  await using servers = await startReplicas(replicas, env, {
    nodeOptions: probeOptions,
    envOf: (which) => probeEnv(probeOf(`http-${which}`)),
  })
  const traffic = new Traffic({ seed, platform })
  const stdio = await connectStdio(env, traffic, probeOf)
  const watched = [
    // The first server is never restarted.
    new WatchedServer('http', servers.pidOf(0) ?? 0, probeOf('http-0')),
    ...stdio.map(({ name, client }, nth) => {
      return new WatchedServer(name, client.pid ?? 0, probeOf(`stdio-${nth}`))
    }),
  ]
  for (const server of watched) server.fresh = await server.look()
  await fillCaches(servers, traffic)
  for (const { tenant, client } of stdio) traffic.stay(tenant, client)
  const places: ServerPlace[] = Array.from({ length: options.atOnce }, () => ({ url: servers.url }))
  traffic.start([...places, { command: [process.execPath, bin, 'stdio'], env: cleanEnv(env) }])
  const began = performance.now()
  const restarts = await run({ options, servers, watched, traffic, began })
  const seconds = (performance.now() - began) / 1000
  await traffic.stop()
  await rest(
    stdio.map(({ client }) => client),
    watched,
    options,
  )
  return reportOf({
    options,
    traffic,
    seconds,
    platform,
    restarts,
    verdicts: watched.map(verdictOf),
  })
}

interface Evidence {
  readonly options: SoakOptions
  readonly traffic: Traffic
  readonly seconds: number
  readonly platform: TenantPlatform
  readonly restarts: Awaited<ReturnType<typeof run>>
  readonly verdicts: readonly ServerVerdict[]
}

function reportOf(evidence: Evidence): SoakReport {
  const { options, traffic, seconds, platform, restarts, verdicts } = evidence
  const times = traffic.answerMs.toSorted((one, other) => one - other)
  const percentile = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0)
  return {
    ...{ minutes: options.minutes, state: options.state, requests: traffic.asked },
    ...{ users: traffic.users, calls: traffic.calls },
    perSecond: Math.round(traffic.asked / seconds),
    ...{ p50Ms: percentile(0.5), p99Ms: percentile(0.99) },
    restarts: { stopped: restarts.stopped, killed: restarts.killed },
    kinds: traffic.requests.all(),
    outcomes: traffic.outcomes.all(),
    platform: platform.answers(),
    servers: verdicts,
    problems: [
      ...traffic.problems,
      ...platform.crossings,
      ...restarts.problems,
      ...verdicts.flatMap((one) => one.problems.map((problem) => `${one.name}: ${problem}`)),
    ],
  }
}

/** Two servers over stdio that run from the beginning to the end, each with a user. */
const connectStdio = (
  env: Record<string, string>,
  traffic: Traffic,
  probeOf: (name: string) => string,
) =>
  Promise.all(
    (['v2 2026-07-28', 'v1'] as const).map(async (kind, nth) => {
      const place = {
        command: [process.execPath, ...probeOptions, bin, 'stdio'],
        env: cleanEnv({ ...env, ...probeEnv(probeOf(`stdio-${nth}`)) }),
      }
      const tenant = traffic.nextTenant()
      const client = await connectTenant(kind, tenant, place)
      // A client of 2026-07-28 connects without a word to the server: it has answered now.
      await client.listTools()
      return { tenant, name: `stdio ${nth}`, client }
    }),
  )

/** More keys than a server keeps replies of: from then on each new one takes the place of an old one. */
const firstUsers = 300

async function fillCaches(servers: Replicas, traffic: Traffic): Promise<void> {
  const users = Array.from({ length: firstUsers }, () => traffic.nextTenant())
  await inParallel(users, 8, async ({ key, agent }) => {
    for (const url of servers.urls) {
      for (const [name, args] of [
        ['list_models', {}],
        ['get_agent', { agent_id: agent }],
      ] as const)
        await rpc(url, 'tools/call', { name, arguments: args }, { key })
    }
  })
}

interface Run {
  readonly options: SoakOptions
  readonly servers: Replicas
  readonly watched: readonly WatchedServer[]
  readonly traffic: Traffic
  readonly began: number
}

/** Looks at the servers and restarts others, until time is up. */
async function run({ options, servers, watched, traffic, began }: Run) {
  const totalMs = options.minutes * 60_000
  const lookEveryMs = Math.max(2000, totalMs / 60)
  const restartEveryMs = Math.max(15_000, totalMs / 30)
  const found = { stopped: 0, killed: 0, problems: [] as string[] }
  let restarting: Promise<void> = Promise.resolve()
  const restart = async (nth: number) => {
    const which = 1 + (nth % (replicas - 1))
    const signal = nth % 4 < 2 ? 'SIGTERM' : 'SIGKILL'
    const code = await servers.restart(which, signal)
    found[signal === 'SIGTERM' ? 'stopped' : 'killed']++
    if (signal === 'SIGTERM' && code !== 0)
      found.problems.push(`a server that was told to stop ended with ${code}`)
  }
  let [looks, restarts] = [0, 0]
  for (let past = 0; past < totalMs; past = performance.now() - began) {
    await sleep(Math.min(1000, totalMs - past))
    const now = performance.now() - began
    if (now > (restarts + 1) * restartEveryMs) {
      const nth = restarts++
      restarting = restarting.then(() => restart(nth))
    }
    if (now <= (looks + 1) * lookEveryMs) continue
    looks++
    for (const server of watched) server.samples.push(await server.look())
    const [http] = watched
    options.onProgress(
      `${Math.round(now / 1000)} s: ${traffic.asked} requests, ${traffic.problems.length} problems, heap ${Math.round((http?.samples.at(-1)?.heapUsed ?? 0) / 1e6)} MB, ${http?.samples.at(-1)?.sockets} sockets`,
    )
  }
  await restarting
  return found
}

/** All clients have gone; after a while nothing of them may be open. */
async function rest(
  stdio: readonly TenantClient[],
  watched: readonly WatchedServer[],
  { onProgress }: SoakOptions,
): Promise<void> {
  onProgress(`all clients have gone; ${restMs / 1000} s of rest`)
  await sleep(restMs)
  for (const server of watched) server.idle = await server.look()
  for (const client of stdio) await client.close()
}
