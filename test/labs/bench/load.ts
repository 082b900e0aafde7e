import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { Load, type LoadResult } from './load-format.ts'

/*
 * Puts a load on a server and prints the result:
 *   node load.ts FILE      with a Load as JSON in it
 */

const load = Load.parse(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))
const url = new URL(load.url)
const pool = new Pool(url.origin, { connections: load.connections, pipelining: 1 })
const times: number[] = []
const began = performance.now()
const end = began + load.seconds * 1000
let bytes = 0
let sent = 0

const nextHeaders = (): Record<string, string> => {
  if (load.keys === undefined) return load.headers
  const key = String(sent++ % load.keys).padStart(6, '0')
  return { ...load.headers, 'x-api-key': `bench-key-of-account-${key}` }
}

async function send(): Promise<void> {
  const sentAt = performance.now()
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
  bytes = text.length
  times.push(performance.now() - sentAt)
}

async function repeat(): Promise<void> {
  while (performance.now() < end) await send()
}

await Promise.all(Array.from({ length: load.connections }, repeat))
const seconds = (performance.now() - began) / 1000
await pool.destroy()
times.sort((a, b) => a - b)
const quantile = (part: number) => times[Math.floor(part * times.length)] ?? Number.NaN
const result: LoadResult = {
  requests: times.length,
  seconds,
  bytes,
  p50: quantile(0.5),
  p99: quantile(0.99),
}
process.stdout.write(JSON.stringify(result))
