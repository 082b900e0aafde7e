import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
import { agentId } from './platform.ts'

export interface ListsOptions {
  /** Numbers to call, all different. */
  readonly names: number
  /** How long the platforms take for each request, ms. */
  readonly answerMs: number
  /** Platforms that get the same lists, from programs that share their memory. */
  readonly origins: number
  /** The clock of the programs is set forward by an hour every few seconds. */
  readonly stepsClock: boolean
  /** The built program. */
  readonly program: string
}

/** Most calls of one list, and how often a list is given again until that is taken for endless. */
const perList = 100
const mostRequests = 100

const Told = z.looseObject({ summary: z.record(z.string(), z.int()) })
const Placing = z.object({ to_number: z.string(), external_id: z.string() })

/** A well-behaved platform that takes its time; all calls have ended at once. */
async function startSlowPlatform(answerMs: number) {
  const rung: { id: string; to_number: string; external_id: string }[] = []
  const answer = (method: string, url: URL, body: string): unknown => {
    if (url.pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
    if (url.pathname.includes('/agents/')) return { id: agentId, name: 'Stress' }
    if (method === 'POST') {
      const call = { id: `call-${rung.length}`, ...Placing.parse(JSON.parse(body)) }
      rung.push(call)
      return { ...call, status: 'completed' }
    }
    const wanted = url.searchParams.get('external_id')
    const items = rung.filter(({ external_id }) => external_id === wanted)
    const one = rung.find(({ id }) => url.pathname.endsWith(`/calls/${id}`))
    return one ? { ...one, status: 'completed' } : { count: items.length, items }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = 'GET', url = '/' } = request
    const reply = answer(method, new URL(url, 'http://platform'), Buffer.concat(chunks).toString())
    await sleep(answerMs)
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, rung, close: () => server.close() }
}

const steppingClock = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; const began = performance.now(); Date.now = () => now() + 3600000 * Math.floor((performance.now() - began) / 5000)',
)}`

/** Gives lists of calls again until all are placed, and tells what was not as promised. */
export async function stressLists(options: ListsOptions): Promise<readonly string[]> {
  const stateDir = mkdtempSync(join(tmpdir(), 'stress-lists-'))
  const wrong: string[] = []
  try {
    for (let origin = 0; origin < options.origins; origin++) {
      const platform = await startSlowPlatform(options.answerMs)
      const left = await placeAll(options, { url: platform.url, stateDir })
      if (left > 0) wrong.push(`origin ${origin + 1}: ${left} permits are left`)
      platform.close()
      const counts = Map.groupBy(platform.rung, ({ to_number }) => to_number)
      for (const number of numbersOf(options.names)) {
        const times = counts.get(number)?.length ?? 0
        if (times !== 1) wrong.push(`origin ${origin + 1}: ${number} rung ${times} times`)
      }
    }
    return wrong
  } finally {
    rmSync(stateDir, { recursive: true, force: true })
  }
}

const numbersOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `+4915112${String(at).padStart(6, '0')}`)

/** Places all, and gives how many permits are still held when all calls have ended. */
async function placeAll(
  options: ListsOptions,
  { url, stateDir }: { url: string; stateDir: string },
): Promise<number> {
  const { names, program, stepsClock } = options
  const client = new Client({ name: 'stress', version: '1.0.0' })
  const env = {
    PATH: process.env.PATH ?? '',
    VOICE_AGENT_BASE_URL: url,
    VOICE_AGENT_API_KEY: 'stress-key-0123456789',
    VOICE_AGENT_CONFIRM: 'never',
    VOICE_AGENT_STATE_DIR: stateDir,
    // Counts calls at once: a call that has ended, or was not placed, holds no permit.
    VOICE_AGENT_DIAL_POLICY: JSON.stringify({ max_at_once: 5 }),
  }
  const args = [...(stepsClock ? ['--import', steppingClock] : []), program]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }),
  )
  const numbers = numbersOf(names)
  for (let from = 0; from < numbers.length; from += perList) {
    const calls = numbers.slice(from, from + perList).map((to_number) => ({ to_number }))
    const list = { agent_id: agentId, from_number: '+12025550110', calls }
    for (let request = 1; ; request++) {
      if (request > mostRequests) throw new Error(`The list from ${from} on does not end`)
      const result = await client.callTool({ name: 'place_calls', arguments: list })
      const { summary } = Told.parse(result.structuredContent)
      if ((summary.placed ?? 0) + (summary.repeated ?? 0) === calls.length) break
    }
  }
  const left = await permitsLeft(stateDir, options.answerMs)
  await client.close()
  return left
}

const Held = z.object({ held: z.int() })

/** How many permits are held when there was time to see that all calls have ended. */
async function permitsLeft(stateDir: string, answerMs: number): Promise<number> {
  using db = new DatabaseSync(join(stateDir, 'dialled.db'), { readOnly: true, timeout: 5000 })
  const count = db.prepare('SELECT count(*) AS held FROM calls WHERE lease_end > 0')
  const end = performance.now() + 30_000 + 10 * answerMs
  for (;;) {
    const { held } = Held.parse(count.get())
    if (held === 0 || performance.now() > end) return held
    await sleep(500)
  }
}
