import { parseArgs } from 'node:util'
import { type ScriptUsage, scriptUsage } from '../../../src/dev/script-usage.ts'
import { hasPostgres } from '../../harness/postgres-server.ts'
import { circumstances } from '../measure/report.ts'
import { type SoakReport, soak } from './soak.ts'

const usage = `Runs the built program for a long time as teams run it: three servers over HTTP on one
state behind a balancer, and some over stdio; clients of both eras that come and go with other keys; a
platform that fails; servers that are stopped and killed.

npm run soak [-- --minutes 20 --state postgres|sqlite --at-once 24 --seed 1 --json --help]

  --minutes  how long (default 20)
  --state    default: PostgreSQL where it is installed (npm ci --prefix test/real), else SQLite
  --at-once  users over HTTP at the same time (default 24)
  --seed     another seed is another order of requests and faults (default 1)
  --json     one JSON document on standard output instead of text

Ends with 1 when memory grows, something stays open, a request has no answer, a call is placed twice,
or something of one user reaches another; with 2 when it cannot run.
`

const script: ScriptUsage = scriptUsage(usage)
const { values: flags } = script.readOr(() =>
  parseArgs({
    options: {
      minutes: { type: 'string', default: '20' },
      state: { type: 'string', default: hasPostgres() ? 'postgres' : 'sqlite' },
      'at-once': { type: 'string', default: '24' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }),
)
script.showIf(flags.help)
if (flags.state !== 'postgres' && flags.state !== 'sqlite')
  script.refuse('--state is postgres or sqlite.')
const minutes = script.number('minutes', flags.minutes)
const atOnce = script.number('at-once', flags['at-once'], 1)
const seed = script.number('seed', flags.seed)

/** How many problems are shown. */
const mostShown = 20

const listed = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(' · ')

function tableOf(report: SoakReport): string {
  const { minutes, state, requests, perSecond, p50Ms, p99Ms, users, calls, restarts } = report
  const servers = report.servers.map(
    ({ name, heapMb, heapKbPerMinute, rssMb, rssKbPerMinute, sockets, descriptors }) =>
      `  ${name.padEnd(8)} heap ${heapMb} MB, ${heapKbPerMinute} kB a minute · resident ${rssMb} MB, ${rssKbPerMinute} kB a minute · sockets ${sockets.fresh} → ${sockets.idle} · descriptors ${descriptors.fresh} → ${descriptors.idle}`,
  )
  const problems = report.problems.slice(0, mostShown).map((problem) => `  ✗ ${problem}`)
  return [
    `${minutes} minutes on ${state}: ${requests} requests of ${users} users, ${perSecond} a second, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
    `  ${calls} calls, each placed once at most; servers stopped ${restarts.stopped} times, killed ${restarts.killed} times`,
    `  requests: ${listed(report.kinds)}`,
    `  outcomes: ${listed(report.outcomes)}`,
    `  the platform: ${listed(report.platform)}`,
    'servers, after a collection; memory in the second half, the rest fresh → idle at the end',
    ...servers,
    `problems: ${report.problems.length}`,
    ...problems,
  ].join('\n')
}

const report = await soak({
  minutes,
  state: flags.state,
  seed,
  atOnce,
  onProgress: (line) => void process.stderr.write(`${line}\n`),
})
const text = flags.json
  ? JSON.stringify({ ...circumstances(), ...report }, null, 2)
  : tableOf(report)
process.stdout.write(`${text}\n`)
process.exit(report.problems.length > 0 ? 1 : 0)
