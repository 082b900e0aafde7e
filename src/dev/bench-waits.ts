import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as z from 'zod'
import { openSandbox } from '../sandbox/sandbox.ts'
import { sandboxKeys, seedIds } from '../sandbox/seed.ts'
import { round, usage } from './bench/processes.ts'

/*
 * What waiting costs: one server over HTTP, with the sandbox in it, on which many clients wait for
 * running calls, each for a call of its own, then all for the same; each waits anew when its
 * request has lasted as long as one may. Memory and processor time are the server's alone.
 *   npm run bench:waits [-- --waits 1000 --seconds 30 --warm-up 90 --json]
 * The server's profile: --node-options="--cpu-prof --cpu-prof-dir=/tmp".
 */

const { values: flags } = parseArgs({
  options: {
    waits: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    'warm-up': { type: 'string', default: '90' },
    program: {
      type: 'string',
      default: join(import.meta.dirname, '../../dist/voice-agent-mcp.js'),
    },
    'node-options': { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
})
const waits = Number(flags.waits)

/** Most memory, MB, and most of a core, percent. */
const limits = { memory: 150, core: 5 }

/** The slowest the sandbox goes, so that its calls outlive the measurement. */
const speed = 0.1

/** The longest that one request waits, s. */
const waitSeconds = 55

type Figures = Awaited<ReturnType<typeof measure>>

function isOver(one: Figures): boolean {
  return one['memory, MB'] > limits.memory || one['of a core, %'] > limits.core
}

/** A server on which as many wait as wanted, for that many calls. */
async function measure(calls: number) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-waits-'))
  const file = join(folder, 'sandbox.db')
  const ids = await placed(file, calls)
  const server = startServer(file, folder)
  try {
    const client = await connect(await addressOf(server))
    const stopped = new AbortController()
    const waiting = waitAll(client, ids, stopped.signal)
    await Promise.race([sleep(Number(flags['warm-up']) * 1000), waiting])
    const before = { ...usage(server), at: performance.now() }
    await Promise.race([sleep(Number(flags.seconds) * 1000), waiting])
    const after = { ...usage(server), at: performance.now() }
    stopped.abort()
    await waiting
    await client.close()
    return {
      waits,
      calls,
      'memory, MB': Math.round(after.memory),
      'most memory, MB': Math.round(after.mostMemory),
      'of a core, %': round((100_000 * (after.cpu - before.cpu)) / (after.at - before.at), 1),
    }
  } finally {
    server.kill('SIGINT')
    await once(server, 'close')
    rmSync(folder, { recursive: true, force: true })
  }
}

const Placed = z.looseObject({ id: z.string() })

/** Places calls that go on for long, in a new sandbox; gives their ids. */
async function placed(file: string, count: number): Promise<string[]> {
  const sandbox = openSandbox({ file, speed })
  const headers = { 'x-api-key': sandboxKeys.main }
  const send = async (path: string, init: RequestInit) => {
    const url = `http://sandbox/v1/accounts/me/${path}`
    const response = await sandbox.fetch(new Request(url, { headers, ...init }))
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  const path = `phone-numbers/${seedIds.mainNumber}`
  const { number } = z.looseObject({ number: z.string() }).parse(await send(path, {}))
  // This destination talks for as long as it is let.
  const call = { from_number: number, to_number: '+12025550106' }
  const body = JSON.stringify({ type: 'phone', agent_id: seedIds.supportAgent, ...call })
  const ids: string[] = []
  while (ids.length < count) {
    ids.push(Placed.parse(await send('calls', { method: 'POST', body })).id)
  }
  sandbox.close()
  return ids
}

function startServer(file: string, stateDir: string): ChildProcess {
  const options = flags['node-options'].split(' ').filter(Boolean)
  return spawn(process.execPath, [...options, flags.program, 'http', '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      VOICE_AGENT_SANDBOX_DB: file,
      VOICE_AGENT_SANDBOX_SPEED: String(speed),
      VOICE_AGENT_STATE_DIR: stateDir,
      VOICE_AGENT_CONFIRM: 'never',
      // All wait with one key and from one address.
      VOICE_AGENT_MAX_REQUESTS: String(2 * waits),
      VOICE_AGENT_MAX_REQUESTS_PER_KEY: '0',
      VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '0',
    },
  })
}

async function addressOf({ stderr }: ChildProcess): Promise<URL> {
  if (!stderr) throw new Error('The server has no standard error')
  for await (const line of createInterface(stderr)) {
    const url = /Serving MCP at (\S+)/.exec(line)?.[1]
    if (url) return new URL(url)
  }
  throw new Error('The server did not start')
}

async function connect(url: URL): Promise<Client> {
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  await client.connect(new StreamableHTTPClientTransport(url))
  return client
}

const Report = z.looseObject({ ended: z.boolean() })

/** Has everybody wait, at different moments, and wait anew until the signal fires. */
async function waitAll(client: Client, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const wait = async (index: number) => {
    await sleep((index / waits) * waitSeconds * 1000, undefined, { signal })
    const call = {
      name: 'wait_for_call',
      arguments: { call_id: ids[index % ids.length], timeout_seconds: waitSeconds },
    }
    while (!signal.aborted) {
      const { structuredContent } = await client.callTool(call, { signal, timeout: 90_000 })
      if (Report.parse(structuredContent).ended) throw new Error('A call has ended too early')
    }
  }
  const all = Array.from({ length: waits }, (_, index) => wait(index))
  await Promise.all(all).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

async function main(): Promise<void> {
  const figures = {
    'each its own call': await measure(waits),
    'all the same call': await measure(1),
  }
  if (flags.json)
    process.stdout.write(`${JSON.stringify({ waits, limits, ...figures }, null, 2)}\n`)
  else console.table(figures)
  if (Object.values(figures).some(isOver)) process.exitCode = 1
}

await main()
