import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { mapConcurrently } from '../../../src/platform/map-concurrently.ts'
import { connectHttp, connectStdio } from '../../harness/client.ts'
import { hasPostgres, startPostgres } from '../../harness/postgres-server.ts'
import { quietly, scratchFolder } from '../../harness/program.ts'
import { type Replicas, startReplicas } from '../../harness/replicas.ts'
import { rpc } from '../../harness/rpc.ts'
import { circumstances, quantile, round } from '../measure/report.ts'
import { startTenantPlatform } from '../tenants/tenant-platform.ts'
import { type Connect, Traffic } from './traffic.ts'
import { verdictOf } from './verdict.ts'
import { probeEnv, probeOptions, type Sample, WatchedServer } from './watched-server.ts'

const usage = `Runs the built program for a long time as teams run it: three servers over HTTP that share one
state behind a balancer, and others over stdio. Clients of all protocol revisions come and go, each
with another key. The platform fails at random, and servers are stopped and killed.

npm run soak [-- --minutes 20 --state postgres|sqlite --at-once 24 --seed 1 --json --help]

  --minutes  duration (default 20)
  --state    postgres or sqlite (default: postgres if npm ci --prefix test/postgres has installed it)
  --at-once  number of concurrent users over HTTP (default 24)
  --seed     seed of the random requests and faults (default 1)
  --json     prints one JSON document instead of text

Exits with 1 if memory grows, a connection or file stays open, a request gets no answer, a call is
placed twice, or a user gets data of another user. Exits with 2 if it cannot run.
`

const { flags, refuse } = readScript(usage, {
  minutes: 20,
  state: hasPostgres() ? 'postgres' : 'sqlite',
  'at-once': { usual: 24, min: 1 },
  seed: 1,
  json: false,
})
const { minutes, state, seed } = flags
if (state !== 'postgres' && state !== 'sqlite') refuse('--state is postgres or sqlite.')

const replicas = 3

/** Settings with short timeouts, so that much happens, and limits that are never reached. */
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

/** Maximum time for the servers to close their idle connections at the end, ms. */
const restMs = 120_000

const progress = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * Runs servers under mixed traffic, faults, changing keys and restarts, and samples their memory
 * and open resources.
 */
async function soak() {
  using folder = scratchFolder()
  await using postgres = state === 'postgres' ? await startPostgres() : undefined
  await using platform = await startTenantPlatform({
    seed,
    weights: { late: 8, refused: 2, failed: 3, cutOff: 2 },
    latestMs: 1500,
    callMs: 4000,
  })
  const env = {
    ...settings,
    ...(postgres
      ? { VOICE_AGENT_STATE_URL: await postgres.newDatabase() }
      : { VOICE_AGENT_STATE_DIR: folder.path }),
    VOICE_AGENT_BASE_URL: platform.url,
  }
  const probeOf = (name: string) => join(folder.path, `probe-${name}.json`)
  await using servers = await startReplicas(replicas, env, {
    nodeOptions: probeOptions,
    envOf: (which) => probeEnv(probeOf(`http-${which}`)),
  })
  const traffic = new Traffic({ seed, platform })
  const overStdio: Connect = (kind, { key }) =>
    connectStdio(kind, { env: { ...env, VOICE_AGENT_API_KEY: key } })
  // Two servers over stdio run during the whole soak, with a user each.
  const stdio = await Promise.all(
    (['v2 2026-07-28', 'v1'] as const).map(async (kind, nth) => {
      const tenant = traffic.nextTenant()
      const probe = probeOf(`stdio-${nth}`)
      const client = await connectStdio(kind, {
        env: { ...env, ...probeEnv(probe), VOICE_AGENT_API_KEY: tenant.key },
        nodeOptions: probeOptions,
      })
      // A client of 2026-07-28 connects without a request, so a request shows that the server is
      // up.
      await client.listTools()
      return { tenant, client, server: new WatchedServer(`stdio ${nth}`, client.pid ?? 0, probe) }
    }),
  )
  // The first server over HTTP is never restarted.
  const http = new WatchedServer('http', servers.pidOf(0) ?? 0, probeOf('http-0'))
  const watched = [http, ...stdio.map(({ server }) => server)]
  const started: { server: WatchedServer; fresh: Sample }[] = []
  for (const server of watched) started.push({ server, fresh: await server.look() })
  await fillCaches(servers, traffic)
  for (const { tenant, client } of stdio) traffic.stay(tenant, client)
  const overHttp: Connect = (kind, { key }) => connectHttp(kind, servers.url, { 'x-api-key': key })
  traffic.start([...Array<Connect>(flags['at-once']).fill(overHttp), overStdio])
  const began = performance.now()
  const restarts = await run(servers, watched, traffic, began)
  const seconds = (performance.now() - began) / 1000
  await traffic.stop()
  progress('all clients have left')
  // All that the clients have opened must be closed now.
  const rested = await Promise.all(started.map(({ server, fresh }) => server.rest(fresh, restMs)))
  for (const { client } of stdio) await client[Symbol.asyncDispose]()
  const verdicts = rested.map(verdictOf)
  return {
    minutes,
    state,
    requests: traffic.asked,
    users: traffic.users,
    calls: traffic.calls,
    perSecond: Math.round(traffic.asked / seconds),
    p50Ms: round(quantile(traffic.answerMs, 0.5), 0),
    p99Ms: round(quantile(traffic.answerMs, 0.99), 0),
    restarts: { stopped: restarts.stopped, killed: restarts.killed },
    kinds: traffic.requests.all(),
    outcomes: traffic.outcomes.all(),
    platform: platform.answers(),
    servers: verdicts,
    /** Violations of guarantees; empty if all hold. */
    problems: [
      ...traffic.problems,
      ...platform.crossings,
      ...restarts.problems,
      ...verdicts.flatMap((one) => one.problems.map((problem) => `${one.name}: ${problem}`)),
    ],
  }
}

/** More keys than a server caches replies for, so that each further key evicts an older one. */
const firstUsers = 300

async function fillCaches(servers: Replicas, traffic: Traffic): Promise<void> {
  const users = Array.from({ length: firstUsers }, () => traffic.nextTenant())
  await mapConcurrently(users, 8, async ({ key, agent }) => {
    for (const url of servers.urls) {
      await rpc(url, 'tools/call', { name: 'list_models', arguments: {} }, { key })
      const args = { agent_id: agent }
      await rpc(url, 'tools/call', { name: 'get_agent', arguments: args }, { key })
    }
  })
}

/** Samples the watched servers and restarts others until the time is up. */
async function run(
  servers: Replicas,
  watched: readonly WatchedServer[],
  traffic: Traffic,
  began: number,
) {
  const totalMs = minutes * 60_000
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
      found.problems.push(`a server that got SIGTERM exited with ${code}`)
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
    const last = watched[0]?.samples.at(-1)
    progress(
      `${Math.round(now / 1000)} s: ${traffic.asked} requests, ${traffic.problems.length} problems, heap ${Math.round((last?.heapUsed ?? 0) / 1e6)} MB, ${last?.sockets} sockets`,
    )
  }
  await restarting
  return found
}

/** Maximum problems shown. */
const maxShown = 20

const listed = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(' · ')

function tableOf(report: Awaited<ReturnType<typeof soak>>): string {
  const { requests, perSecond, p50Ms, p99Ms, users, calls, restarts } = report
  const servers = report.servers.map(
    ({ name, heapMb, heapKbPerMinute, rssMb, rssKbPerMinute, sockets, descriptors }) =>
      `  ${name.padEnd(8)} heap ${heapMb} MB, ${heapKbPerMinute} kB a minute · resident ${rssMb} MB, ${rssKbPerMinute} kB a minute · sockets ${sockets.fresh} → ${sockets.idle} · descriptors ${descriptors.fresh} → ${descriptors.idle}`,
  )
  const problems = report.problems.slice(0, maxShown).map((problem) => `  ✗ ${problem}`)
  return [
    `${minutes} minutes on ${state}: ${requests} requests of ${users} users, ${perSecond} a second, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
    `  ${calls} calls, each placed once at most; servers stopped ${restarts.stopped} times, killed ${restarts.killed} times`,
    `  requests: ${listed(report.kinds)}`,
    `  outcomes: ${listed(report.outcomes)}`,
    `  the platform: ${listed(report.platform)}`,
    'servers after a garbage collection: mean memory in the second half of the run; open sockets and descriptors at the start → at the end',
    ...servers,
    `problems: ${report.problems.length}`,
    ...problems,
  ].join('\n')
}

const report = await soak()
const text = flags.json
  ? JSON.stringify({ ...circumstances(), ...report }, null, 2)
  : tableOf(report)
process.stdout.write(`${text}\n`)
process.exit(report.problems.length > 0 ? 1 : 0)
