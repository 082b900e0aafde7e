import { writeFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { openSandbox } from '../../sandbox/sandbox.ts'
import { seedIds } from '../../sandbox/seed.ts'
import { cores, median, put, type Running, round, scratch } from './processes.ts'
import type { Section } from './report.ts'
import { fill, send } from './sandbox.ts'
import { asked, call, other, replyTo, served } from './subjects.ts'

/** What one call costs as something grows. */
export interface Curve {
  readonly title: string
  /** How many there are, and the processor time of one call, µs. */
  readonly points: readonly (readonly [count: number, microseconds: number])[]
}

/**
 * Processor time of one tools/call, µs. Asked long enough at a time that what V8 tidies up when it
 * sees nothing to do, between two loads, does not count for much.
 */
async function costOf(server: Running, folder: string, keys = 1): Promise<number> {
  const load = { url: server.url, ...call, connections: 16, keys }
  await put({ ...load, seconds: 4 }, folder)
  const costs: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = server.cpu()
    const { requests } = await put({ ...load, seconds: 6 }, folder)
    costs.push((1e6 * (server.cpu() - before)) / requests)
  }
  return median(costs)
}

/** Opens streams that listen for changes, and keeps them open. */
async function listen(url: string, count: number): Promise<Disposable> {
  const listening = asked('subscriptions/listen', {
    notifications: { resourceSubscriptions: ['voice-agents://catalog/models'] },
  })
  const agent = new Agent({ connections: null, bodyTimeout: 0 })
  const one = async () => {
    const { method, headers, body = '' } = listening
    const response = await request(url, { method, headers, body, dispatcher: agent })
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}`)
    response.body.on('data', () => undefined).on('error', () => undefined)
  }
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - opened) }, one))
  }
  return { [Symbol.dispose]: () => void agent.destroy() }
}

/** Processor time of reading a page of conversations in a sandbox that holds so many, µs. */
async function costInSandbox(conversations: number, folder: string): Promise<number> {
  const file = `${folder}/${conversations}.db`
  openSandbox({ file, speed: 1 }).close()
  fill(file, conversations)
  const sandbox = openSandbox({ file, speed: 1 })
  const read = () => send(sandbox, 'GET', 'conversations?limit=20')
  for (let times = 0; times < 200; times++) await read()
  const before = process.cpuUsage()
  for (let times = 0; times < 500; times++) await read()
  const { user, system } = process.cpuUsage(before)
  sandbox.close()
  return (user + system) / 500
}

/** What a call costs with more tools, accounts, open streams and stored conversations. */
export async function growth(): Promise<{ curves: Curve[]; sections: Section[] }> {
  using folder = scratch()
  const path = folder.path
  const file = `${path}/agent.json`
  writeFileSync(file, await replyTo(`accounts/me/agents/${seedIds.supportAgent}`))
  await using platform = await other('platform', file, cores.others)
  const curves: Curve[] = []
  const curve = async (
    title: string,
    counts: readonly number[],
    cost: (count: number) => Promise<number>,
  ) => {
    const points: [number, number][] = []
    for (const count of counts) points.push([count, round(await cost(count), 0)])
    curves.push({ title, points })
  }
  const sets = {
    1: ['TOOLS', 'get_agent'],
    10: ['TOOLSETS', 'agents,phone_numbers'],
    33: ['TOOLS', ''],
  }
  await curve('tools', [1, 10, 33], async (count) => {
    const [kind, names = ''] = sets[count as keyof typeof sets]
    await using server = await served(platform.url, { [`VOICE_AGENT_${kind}`]: names })
    return await costOf(server, path)
  })
  await curve('accounts, each with a key of its own', [1, 30, 1000], async (count) => {
    await using server = await served(platform.url)
    return await costOf(server, path, count)
  })
  await curve('open streams', [1, 100, 10_000], async (count) => {
    await using server = await served(platform.url, {
      VOICE_AGENT_MAX_STREAMS: '20000',
      VOICE_AGENT_MAX_STREAMS_PER_KEY: '0',
      VOICE_AGENT_MAX_STREAMS_PER_ADDRESS: '0',
    })
    using _ = await listen(server.url, count)
    return await costOf(server, path)
  })
  await curve('stored conversations', [1000, 30_000, 1_000_000], (count) =>
    costInSandbox(count, path),
  )
  const sections = curves.map(({ title, points }) => ({
    title: `a call, by ${title}`,
    unit: 'µs of processor time',
    values: Object.fromEntries(points.map(([count, cost]) => [String(count), cost])),
    goals: [
      {
        name: 'times from the fewest to the most',
        value: round((points.at(-1)?.[1] ?? Number.NaN) / (points[0]?.[1] ?? Number.NaN)),
        atMost: 1.5,
      },
    ],
  }))
  return { curves, sections }
}
