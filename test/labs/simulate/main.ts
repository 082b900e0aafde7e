import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { concurrently } from '../measure/concurrency.ts'
import { planOf } from './plan.ts'
import { scriptedPlans } from './scripted-histories.ts'
import { type SeedRange, violationsOf, WorkerReport } from './worker.ts'

const usage = `Simulates many histories of the protocol that places calls exactly once: several servers share a state
in memory, time is virtual, and a seed decides the faults. Prints the seeds of the histories that
violate a guarantee.

npm run simulate [-- --seeds 10000 --from 1 --minutes 60 --trace --json --help]

  --seeds    number of histories (default 10000)
  --from     first seed (default 1)
  --minutes  time limit; the output says how many histories have run (default 60)
  --trace    prints each history step by step
  --json     prints one JSON document instead of text

Exits with 1 if a history violates a guarantee, with 2 if it cannot run.
`

const { flags } = readScript(usage, {
  seeds: { usual: 10_000, min: 1 },
  from: 1,
  minutes: 60,
  trace: false,
  json: false,
})
const { from, minutes } = flags
const to = from + flags.seeds

/** Maximum failing histories shown. */
const maxShown = 20

const print = (line: string) => void process.stdout.write(`${line}\n`)

async function traceAll(): Promise<number> {
  let failed = 0
  for (let seed = from; seed < to; seed++) {
    const plan = planOf(seed)
    print(`seed ${seed}\n${JSON.stringify(plan)}`)
    const { violations } = await violationsOf(plan, print)
    for (const violation of violations) print(`  ✗ ${violation}`)
    if (violations.length > 0) failed++
  }
  return failed
}

function inWorker(range: SeedRange): Promise<WorkerReport> {
  const { promise, resolve, reject } = Promise.withResolvers<WorkerReport>()
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: range })
  worker.on('message', (report: unknown) => resolve(WorkerReport.parse(report)))
  worker.on('error', reject)
  worker.on('exit', (code) => reject(new Error(`A worker ended with code ${code}`)))
  return promise
}

function merged(reports: readonly WorkerReport[]): WorkerReport {
  const answers: Record<string, number> = {}
  for (const report of reports) {
    for (const [kind, count] of Object.entries(report.answers))
      answers[kind] = (answers[kind] ?? 0) + count
  }
  const sum = (of: (report: WorkerReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0)
  return {
    histories: sum(({ histories }) => histories),
    rung: sum(({ rung }) => rung),
    answers,
    failed: reports.flatMap(({ failed }) => failed).toSorted((one, other) => one.seed - other.seed),
  }
}

/** Scripted histories with violations of guarantees. */
async function failedScripts(): Promise<string[]> {
  const failed: string[] = []
  for (const [name, plan] of scriptedPlans) {
    const { violations } = await violationsOf(plan, flags.trace ? print : undefined)
    failed.push(...violations.map((violation) => `${name}: ${violation}`))
  }
  return failed
}

/** Message for a run that ended before all histories. */
const shortfall = (histories: number) =>
  histories < to - from ? ` of ${to - from} (time was up)` : ''

async function runAll(): Promise<number> {
  const began = process.hrtime.bigint()
  const every = availableParallelism()
  const until = Date.now() + minutes * 60_000
  const reports = await concurrently(every, (nth) =>
    inWorker({ from: from + nth, to, every, until }),
  )
  const report = merged(reports)
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  const scripts = await failedScripts()
  const { histories, rung, answers, failed } = report
  if (flags.json) print(JSON.stringify({ ...report, scripts, seconds }))
  else {
    for (const failure of scripts) print(`✗ ${failure}`)
    for (const { seed, violations } of failed.slice(0, maxShown))
      print(
        `✗ seed ${seed}: ${violations.join('; ')}\n    npm run simulate -- --from ${seed} --seeds 1 --trace`,
      )
    print(
      `${histories} histories${shortfall(histories)} and ${scriptedPlans.size} scripted histories in ${seconds.toFixed(0)} s (${(histories / seconds).toFixed(0)} a second, ${every} at once)`,
    )
    print(`calls that rang: ${rung}; answers: ${JSON.stringify(answers)}`)
    print(`violations: ${failed.length} seeds, ${scripts.length} scripted histories`)
  }
  return failed.length + scripts.length
}

const failures = flags.trace ? await traceAll() : await runAll()
if (failures > 0) process.exitCode = 1
