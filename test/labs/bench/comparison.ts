import type { MeasuredServer } from '../measure/program.ts'
import { median } from '../measure/report.ts'
import { type LoadResult, putLoad } from './load.ts'
import type { BenchRequest } from './servers-and-requests.ts'

export interface Subject {
  readonly name: string
  readonly server: MeasuredServer
  readonly path: string
  readonly request: BenchRequest
}

export interface Measured {
  /** Requests per second of processor time. */
  readonly perCpuSecond: number
  /** Median latency of the requests, ms. */
  readonly p50: number
  /** 99th percentile of their latency, ms. */
  readonly p99: number
}

export type Comparison = ReadonlyMap<string, Measured>

export interface Effort {
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/**
 * Puts the same load on each subject in turn, for several rounds, so that other load on the machine
 * affects all subjects. The first round is a warm-up and does not count.
 */
export async function compare(
  subjects: readonly Subject[],
  { connections, seconds, rounds }: Effort,
): Promise<Comparison> {
  const runs = new Map<string, (LoadResult & { cpu: number })[]>()
  for (let round = 0; round <= rounds; round++) {
    for (const { name, server, path, request } of subjects) {
      const before = server.usage().cpu
      const url = new URL(path, server.url).href
      const result = await putLoad({ url, ...request, connections, seconds })
      const run = { ...result, cpu: server.usage().cpu - before }
      if (round > 0) runs.set(name, [...(runs.get(name) ?? []), run])
    }
  }
  return new Map([...runs].map(([name, all]) => [name, medianOf(all)]))
}

const medianOf = (runs: readonly (LoadResult & { cpu: number })[]): Measured => ({
  perCpuSecond: median(runs.map(({ requests, cpu }) => requests / cpu)),
  p50: median(runs.map(({ p50 }) => p50)),
  p99: median(runs.map(({ p99 }) => p99)),
})
