import { writeFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { mapConcurrently } from '../../../src/platform/map-concurrently.ts'
import { openSandbox } from '../../../src/sandbox/sandbox.ts'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { scratchFolder } from '../../harness/program.ts'
import { cores, type MeasuredServer } from '../measure/program.ts'
import { median, round, type Section } from '../measure/report.ts'
import { putLoad } from './load.ts'
import { addConversations } from './sandbox.ts'
import {
  getAgentRequest,
  mcpRequest,
  sandboxReply,
  sendToSandbox,
  startCompared,
  startOurs,
} from './servers-and-requests.ts'

/**
 * Measures the processor time of one tools/call, µs. The load is long, so that V8's background work
 * between two loads hardly counts.
 */
async function costOf(server: MeasuredServer, keys?: number): Promise<number> {
  const load = { url: server.url, ...getAgentRequest, connections: 16, keys }
  await putLoad({ ...load, seconds: 4 })
  const costs: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = server.usage().cpu
    const { requests } = await putLoad({ ...load, seconds: 6 })
    costs.push((1e6 * (server.usage().cpu - before)) / requests)
  }
  return median(costs)
}

/** Opens streams that listen for changes. They stay open until the result is disposed of. */
async function listen(url: string, count: number): Promise<Disposable> {
  const listenRequest = mcpRequest('subscriptions/listen', {
    notifications: { resourceSubscriptions: ['voice-agents://catalog/models'] },
  })
  const agent = new Agent({ connections: null, bodyTimeout: 0 })
  const { method, headers, body = '' } = listenRequest
  await mapConcurrently(Array(count).fill(url), 100, async () => {
    const response = await request(url, { method, headers, body, dispatcher: agent })
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}`)
    response.body.on('data', () => undefined).on('error', () => undefined)
  })
  return { [Symbol.dispose]: () => void agent.destroy() }
}

/**
 * Measures the processor time of one page of conversations in a sandbox that stores `conversations`
 * of them, µs.
 */
async function costInSandbox(conversations: number, folder: string): Promise<number> {
  const file = `${folder}/${conversations}.db`
  openSandbox({ file, speed: 1 }).close()
  addConversations(file, conversations)
  const sandbox = openSandbox({ file, speed: 1 })
  const read = () => sendToSandbox(sandbox, 'GET', 'conversations?limit=20')
  for (let times = 0; times < 200; times++) await read()
  const before = process.cpuUsage()
  for (let times = 0; times < 500; times++) await read()
  const { user, system } = process.cpuUsage(before)
  sandbox.close()
  return (user + system) / 500
}

/**
 * Measures the cost of a tool call with more tools, accounts, open streams and stored
 * conversations.
 */
export async function growth(): Promise<Section[]> {
  using folder = scratchFolder()
  const path = folder.path
  const file = `${path}/agent.json`
  writeFileSync(file, await sandboxReply(`agents/${seedIds.supportAgent}`))
  await using platform = await startCompared('platform', file, cores.others)
  const sections: Section[] = []
  const curve = async (
    title: string,
    counts: readonly number[],
    cost: (count: number) => Promise<number>,
  ) => {
    const costs: number[] = []
    for (const count of counts) costs.push(round(await cost(count), 0))
    const [first = Number.NaN, last = Number.NaN] = [costs[0], costs.at(-1)]
    sections.push({
      title: `cost of a tool call by number of ${title}`,
      unit: 'µs of processor time',
      values: Object.fromEntries(counts.map((count, index) => [count, costs[index] ?? Number.NaN])),
      goals: [
        { name: 'ratio of the largest to the smallest', value: round(last / first), atMost: 1.5 },
      ],
    })
  }
  const sets = {
    1: ['TOOLS', 'get_agent'],
    10: ['TOOLSETS', 'agents,phone_numbers'],
    34: ['TOOLS', ''],
  }
  await curve('tools', [1, 10, 34], async (count) => {
    const [kind, names = ''] = sets[count as keyof typeof sets]
    await using server = await startOurs(platform.url, { [`VOICE_AGENT_${kind}`]: names })
    return await costOf(server)
  })
  await curve('accounts, each with its own key', [1, 30, 1000], async (count) => {
    await using server = await startOurs(platform.url)
    return await costOf(server, count)
  })
  await curve('open streams', [1, 100, 10_000], async (count) => {
    await using server = await startOurs(platform.url, {
      VOICE_AGENT_MAX_STREAMS: '20000',
      VOICE_AGENT_MAX_STREAMS_PER_KEY: '0',
      VOICE_AGENT_MAX_STREAMS_PER_ADDRESS: '0',
    })
    using _ = await listen(server.url, count)
    return await costOf(server)
  })
  await curve('stored conversations', [1000, 30_000, 1_000_000], (count) =>
    costInSandbox(count, path),
  )
  return sections
}
