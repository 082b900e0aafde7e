import { parentPort, workerData } from 'node:worker_threads'
import * as z from 'zod'
import { runHistory } from './history.ts'
import { type Plan, planOf } from './plan.ts'

/** The seeds of one worker: each `every`th seed from `from` on. */
export const SeedRange = z.object({
  from: z.int(),
  /** Exclusive end. */
  to: z.int(),
  every: z.int(),
  /** Time at which the worker stops, ms since 1970. */
  until: z.number(),
})
export type SeedRange = z.output<typeof SeedRange>

export const WorkerReport = z.object({
  histories: z.int(),
  answers: z.record(z.string(), z.int()),
  rung: z.int(),
  failed: z.array(z.object({ seed: z.int(), violations: z.array(z.string()) })),
})
export type WorkerReport = z.output<typeof WorkerReport>

const dateNow = Date.now.bind(Date)

/**
 * Runs a history and returns its violations. An error of the program or of the simulation counts as
 * one.
 */
export async function violationsOf(
  plan: Plan,
  trace?: (line: string) => void,
): Promise<{ violations: readonly string[]; answers: readonly string[]; rung: number }> {
  try {
    return await runHistory(plan, trace)
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { violations: [text], answers: [], rung: 0 }
  }
}

async function runRange({ from, to, every, until }: SeedRange): Promise<WorkerReport> {
  const report: WorkerReport = { histories: 0, answers: {}, rung: 0, failed: [] }
  for (let seed = from; seed < to && dateNow() < until; seed += every) {
    const { violations, answers, rung } = await violationsOf(planOf(seed))
    report.histories++
    report.rung += rung
    for (const kind of answers) report.answers[kind] = (report.answers[kind] ?? 0) + 1
    if (violations.length > 0) report.failed.push({ seed, violations: [...violations] })
  }
  return report
}

if (parentPort) parentPort.postMessage(await runRange(SeedRange.parse(workerData)))
