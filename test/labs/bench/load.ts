import { Pool } from 'undici'
import * as z from 'zod'
import { startProcess } from '../../harness/program.ts'
import { repeatFor } from '../measure/concurrency.ts'
import { cores } from '../measure/program.ts'
import { quantile } from '../measure/report.ts'

/** One request, repeated for a time over several connections. */
const Load = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  connections: z.int(),
  seconds: z.number(),
  /** Number of API keys that requests use in turn. Absent: the API key in `headers`. */
  keys: z.int().optional(),
})
export type Load = z.output<typeof Load>

const LoadResult = z.object({
  requests: z.number(),
  /** Median latency of the requests, ms. */
  p50: z.number(),
  /** 99th percentile of their latency, ms. */
  p99: z.number(),
})
export type LoadResult = z.output<typeof LoadResult>

/** Puts a load on a server, from a separate process. */
export async function putLoad(load: Load): Promise<LoadResult> {
  const script = [process.execPath, import.meta.filename, JSON.stringify(load)]
  const loader = startProcess(['taskset', '-c', cores.others, ...script])
  const code = await loader.exited
  if (code !== 0) throw new Error(`The load ended with ${code}: ${loader.stderr()}`)
  return LoadResult.parse(JSON.parse(loader.stdout()))
}

/** Runs the load. This is the code of the separate process. */
async function run(load: Load): Promise<LoadResult> {
  const url = new URL(load.url)
  const pool = new Pool(url.origin, { connections: load.connections, pipelining: 1 })
  let sent = 0
  const nextHeaders = (): Record<string, string> => {
    if (load.keys === undefined) return load.headers
    const key = String(sent++ % load.keys).padStart(6, '0')
    return { ...load.headers, 'x-api-key': `bench-key-of-account-${key}` }
  }
  const { times } = await repeatFor(load.seconds, load.connections, async () => {
    const { statusCode, body } = await pool.request({
      path: url.pathname,
      method: load.method,
      headers: nextHeaders(),
      body: load.body ?? null,
    })
    const text = Buffer.from(await body.arrayBuffer())
    if (statusCode !== 200 || text.includes('"isError":true') || text.includes('"error":{')) {
      throw new Error(`${statusCode}: ${text.subarray(0, 500)}`)
    }
  })
  await pool.destroy()
  return { requests: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

if (import.meta.main) {
  const load = Load.parse(JSON.parse(process.argv[2] ?? ''))
  process.stdout.write(JSON.stringify(await run(load)))
}
