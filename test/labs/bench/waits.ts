import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { openSandbox } from '../../../src/sandbox/sandbox.ts'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { bin, scratchFolder } from '../../harness/program.ts'
import { callBuiltTool } from '../measure/clients.ts'
import { concurrently } from '../measure/concurrency.ts'
import { startServer } from '../measure/program.ts'
import { round, type Section } from '../measure/report.ts'
import { sendToSandbox } from './servers-and-requests.ts'

interface Options {
  /** Number of waiting clients. */
  readonly waits: number
  /** Duration of the measurement, s. It begins 90 s after the first wait. */
  readonly seconds: number
}

/**
 * Cost of waiting: one server over HTTP with its sandbox, on which many clients wait for running
 * telephone calls. First each client waits for its own call, then all for the same one. A client
 * whose request reaches the maximum duration waits again. Memory and processor time are the
 * server's.
 */
export const waits = async (options: Options): Promise<Section[]> => [
  await measure('a call each', options.waits, options),
  await measure('the same call', 1, options),
]

/** Slowest speed of the sandbox, so that telephone calls outlast the measurement. */
const speed = 0.1

/** Longest wait of one request, s. */
const waitSeconds = 55

/** Measures a server on which all clients wait, for this many telephone calls. */
async function measure(
  title: string,
  calls: number,
  { waits, seconds }: Options,
): Promise<Section> {
  using folder = scratchFolder()
  const sandboxFile = join(folder.path, 'sandbox.db')
  const ids = await placeCalls(sandboxFile, calls)
  const env = settings(sandboxFile, folder.path, waits)
  await using server = await startServer([bin, 'http', '--port', '0'], env)
  const stopped = new AbortController()
  const waiting = waitAll(server.url, ids, waits, stopped.signal)
  await Promise.race([sleep(90_000), waiting])
  const before = { ...server.usage(), at: performance.now() }
  await Promise.race([sleep(1000 * seconds), waiting])
  const after = { ...server.usage(), at: performance.now() }
  stopped.abort()
  await waiting
  const ofCore = (100_000 * (after.cpu - before.cpu)) / (after.at - before.at)
  return {
    title: `${waits} clients wait for ${title}`,
    unit: 'MB, % of a core',
    values: { calls, 'peak memory': Math.round(after.peakMemory) },
    goals: [
      { name: 'memory', value: Math.round(after.memory), atMost: 150 },
      { name: 'of a core', value: round(ofCore, 1), atMost: 5 },
    ],
  }
}

const settings = (sandboxFile: string, stateDir: string, waits: number) => ({
  VOICE_AGENT_SANDBOX_DB: sandboxFile,
  VOICE_AGENT_SANDBOX_SPEED: String(speed),
  VOICE_AGENT_STATE_DIR: stateDir,
  VOICE_AGENT_LOCAL_TOKEN: 'off',
  VOICE_AGENT_CONFIRM: 'never',
  // All clients have the same key and address.
  VOICE_AGENT_MAX_REQUESTS: String(2 * waits),
  VOICE_AGENT_MAX_REQUESTS_PER_KEY: '0',
  VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '0',
  VOICE_AGENT_MAX_WAITS: '0',
  VOICE_AGENT_MAX_WAITS_PER_KEY: '0',
  VOICE_AGENT_MAX_WAITS_PER_ADDRESS: '0',
})

const PlacedCall = z.looseObject({ id: z.string() })
const PhoneNumber = z.looseObject({ number: z.string() })

/** Places long telephone calls in a new sandbox. Returns their ids. */
async function placeCalls(file: string, count: number): Promise<string[]> {
  const sandbox = openSandbox({ file, speed })
  const send = async (...request: [method: string, path: string, body?: object]) =>
    JSON.parse(await sendToSandbox(sandbox, ...request))
  const { number } = PhoneNumber.parse(await send('GET', `phone-numbers/${seedIds.mainNumber}`))
  // This destination never hangs up.
  const call = { from_number: number, to_number: '+12025550106' }
  const body = { type: 'phone', agent_id: seedIds.supportAgent, ...call }
  const ids: string[] = []
  while (ids.length < count) {
    ids.push(PlacedCall.parse(await send('POST', 'calls', body)).id)
  }
  sandbox.close()
  return ids
}

const WaitResult = z.looseObject({ ended: z.boolean() })

/** Starts the waits of all clients at different times, and repeats them until the signal fires. */
async function waitAll(
  url: string,
  ids: readonly string[],
  waits: number,
  signal: AbortSignal,
): Promise<void> {
  const wait = async (index: number) => {
    await sleep((index / waits) * waitSeconds * 1000, undefined, { signal })
    const args = { call_id: ids[index % ids.length], timeout_seconds: waitSeconds }
    while (!signal.aborted) {
      const { structuredContent } = await callBuiltTool(url, 'wait_for_call', args, { signal })
      if (WaitResult.parse(structuredContent).ended) throw new Error('A call has ended too early')
    }
  }
  await concurrently(waits, wait).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
