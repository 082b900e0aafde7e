import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { json, type SeenRequest, startFakePlatform } from '../../../test/harness/fake-platform.ts'
import { scratchFolder, startProcess } from '../../../test/harness/program.ts'
import { StdioClient } from '../measure/stdio-client.ts'
import { agentId } from './faulty-platform.ts'

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
const CallRequest = z.object({ to_number: z.string(), external_id: z.string() })

/** A platform that answers correctly after `answerMs`; every call has ended at once. */
async function startSlowPlatform(answerMs: number) {
  const placed: RecordedCall[] = []
  const platform = await startFakePlatform((request, response) => {
    const status = request.method === 'POST' ? 201 : 200
    const reply = replyTo(request, placed)
    setTimeout(() => json(response, status, reply), answerMs)
  })
  return Object.assign(platform, { placed })
}

type RecordedCall = { readonly id: string } & z.output<typeof CallRequest>

/** A call that is to be placed is added to `placed`. */
function replyTo({ method, url, body }: SeenRequest, placed: RecordedCall[]): unknown {
  const { pathname, searchParams } = new URL(url, 'http://platform')
  if (pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
  if (pathname.includes('/agents/')) return { id: agentId, name: 'Stress' }
  if (method === 'POST') {
    const call = { id: `call-${placed.length}`, ...CallRequest.parse(JSON.parse(body)) }
    placed.push(call)
    return { ...call, status: 'completed' }
  }
  const one = placed.find(({ id }) => pathname.endsWith(`/calls/${id}`))
  if (one) return { ...one, status: 'completed' }
  const wanted = searchParams.get('external_id')
  const items = placed.filter(({ external_id }) => external_id === wanted)
  return { count: items.length, items }
}

const steppingClock = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; const began = performance.now(); Date.now = () => now() + 3600000 * Math.floor((performance.now() - began) / 5000)',
)}`

/** Sends lists of calls until all are placed; gives what was not as promised. */
export async function stressLists(options: ListsOptions): Promise<readonly string[]> {
  using folder = scratchFolder()
  const wrong: string[] = []
  for (let origin = 1; origin <= options.origins; origin++) {
    await using platform = await startSlowPlatform(options.answerMs)
    const held = await placeAll(options, { url: platform.url, stateDir: folder.path })
    if (held > 0) wrong.push(`origin ${origin}: ${held} permits are still held`)
    const counts = Map.groupBy(platform.placed, ({ to_number }) => to_number)
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
