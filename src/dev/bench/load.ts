import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import * as z from 'zod'

/*
 * Sends the same request again and again over as many connections as wanted, for as long as
 * wanted, and prints how many answers came and how long they took:
 *   node load.ts FILE      with a Load as JSON in it
 */

const Load = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  connections: z.int(),
  seconds: z.number(),
  /** As many API keys as wanted, in turn. */
  keys: z.int().default(1),
})

const load = Load.parse(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))
const url = new URL(load.url)
const pool = new Pool(url.origin, { connections: load.connections, pipelining: 1 })
const took: number[] = []
const end = performance.now() + load.seconds * 1000
let bytes = 0
let sent = 0

const headers = (): Record<string, string> => {
  if (load.keys === 1) return load.headers
  const key = String(sent++ % load.keys).padStart(6, '0')
  return { ...load.headers, 'x-api-key': `bench-key-of-account-${key}` }
}

async function sendOn(): Promise<void> {
  while (performance.now() < end) {
    const began = performance.now()
    const { statusCode, body } = await pool.request({
      path: url.pathname,
      method: load.method,
      headers: headers(),
      body: load.body ?? null,
    })
    const text = Buffer.from(await body.arrayBuffer())
    if (statusCode !== 200 || text.includes('"isError":true') || text.includes('"error":{')) {
      throw new Error(`${statusCode}: ${text.subarray(0, 500)}`)
    }
    bytes = text.length
    took.push(performance.now() - began)
  }
}

const began = performance.now()
await Promise.all(Array.from({ length: load.connections }, sendOn))
const seconds = (performance.now() - began) / 1000
await pool.destroy()
took.sort((a, b) => a - b)
const quantile = (part: number) => took[Math.floor(part * took.length)] ?? Number.NaN
process.stdout.write(
  JSON.stringify({
    requests: took.length,
    seconds,
    bytes,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }),
)
