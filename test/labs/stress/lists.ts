import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { scratchFolder, startProcess } from '../../harness/program.ts'
import { StdioClient } from '../measure/stdio-client.ts'
import { realTime, serveOverHttp } from '../platform/over-http.ts'
import { SimulatedPlatform } from '../platform/simulated-platform.ts'
import type { Turn } from '../platform/turn.ts'
import { agentId, stressAccount } from './faulty-platform.ts'

export interface ListsOptions {
  /** How many numbers to call. */
  readonly numbers: number
  /** How long the platforms take for each request, ms. */
  readonly answerMs: number
  /** How many platforms get the same lists, from programs that share one state directory. */
  readonly origins: number
  /** True: the clock of the programs is set forward by an hour every few seconds. */
  readonly stepsClock: boolean
  /** The built program. */
  readonly program: string
}

/** Calls in one list, and how often a list is sent until it counts as endless. */
const perList = 100
const mostRequests = 100

const ListResult = z.looseObject({ summary: z.record(z.string(), z.int()) })
/** A platform that answers correctly after `answerMs`; every call has ended at once. */
async function startSlowPlatform(answerMs: number) {
  const slowly = (): Turn => ({ acts: 'now', answer: 'well', answerMs, lateness: 0 })
  const platform = new SimulatedPlatform({
    time: realTime,
    lateForMs: 0,
    lastsMs: () => 0,
    onPost: slowly,
    onOther: slowly,
    reply: stressAccount,
  })
  const server = await serveOverHttp(() => platform)
  return Object.assign(server, { platform })
}

const steppingClock = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; const began = performance.now(); Date.now = () => now() + 3600000 * Math.floor((performance.now() - began) / 5000)',
)}`

/** Sends lists of calls until all are placed; gives what was not as promised. */
export async function stressLists(options: ListsOptions): Promise<readonly string[]> {
  using folder = scratchFolder()
  const wrong: string[] = []
  for (let origin = 1; origin <= options.origins; origin++) {
    await using slow = await startSlowPlatform(options.answerMs)
    const held = await placeAll(options, { url: slow.url, stateDir: folder.path })
    if (held > 0) wrong.push(`origin ${origin}: ${held} permits are still held`)
    const counts = Map.groupBy(slow.platform.calls, ({ to_number }) => to_number)
    for (const number of numbersOf(options.numbers)) {
      const times = counts.get(number)?.length ?? 0
      if (times !== 1) wrong.push(`origin ${origin}: ${number} called ${times} times`)
    }
  }
  return wrong
}

const numbersOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `+4915112${String(at).padStart(6, '0')}`)

/** Places all, and gives how many permits are still held when all calls have ended. */
async function placeAll(
  options: ListsOptions,
  { url, stateDir }: { url: string; stateDir: string },
): Promise<number> {
  const nodeOptions = options.stepsClock ? ['--import', steppingClock] : []
  await using program = startProcess([process.execPath, ...nodeOptions, options.program], {
    VOICE_AGENT_BASE_URL: url,
    VOICE_AGENT_API_KEY: 'stress-key-0123456789',
    VOICE_AGENT_CONFIRM: 'never',
    VOICE_AGENT_STATE_DIR: stateDir,
    // Limits calls at once: a call that has ended, or was not placed, holds no permit.
    VOICE_AGENT_DIAL_POLICY: JSON.stringify({ max_at_once: 5 }),
  })
  const client = new StdioClient(program)
  const numbers = numbersOf(options.numbers)
  for (let from = 0; from < numbers.length; from += perList) {
    await placeList(client, numbers.slice(from, from + perList))
  }
  return await heldPermits(stateDir, options.answerMs)
}

async function placeList(client: StdioClient, numbers: readonly string[]): Promise<void> {
  const calls = numbers.map((to_number) => ({ to_number }))
  const list = { agent_id: agentId, from_number: '+12025550110', calls }
  for (let request = 0; request < mostRequests; request++) {
    const { structuredContent } = await client.callTool('place_calls', list)
    const { summary } = ListResult.parse(structuredContent)
    if ((summary.placed ?? 0) + (summary.repeated ?? 0) === calls.length) return
  }
  throw new Error(`The list from ${numbers[0]} on does not end`)
}

const Held = z.object({ held: z.int() })

/** How many permits are held when the program had time to see that all calls have ended. */
async function heldPermits(stateDir: string, answerMs: number): Promise<number> {
  using db = new DatabaseSync(join(stateDir, 'dialled.db'), { readOnly: true, timeout: 5000 })
  const count = db.prepare('SELECT count(*) AS held FROM calls WHERE lease_end > 0')
  const end = performance.now() + 30_000 + 10 * answerMs
  for (;;) {
    const { held } = Held.parse(count.get())
    if (held === 0 || performance.now() > end) return held
    await sleep(500)
  }
}
