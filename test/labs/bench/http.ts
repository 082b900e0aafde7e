import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { scratchFolder } from '../../harness/program.ts'
import { cores, type MeasuredServer, scarceMemory } from '../measure/program.ts'
import { type Goal, median, round, type Section } from '../measure/report.ts'
import { type LoadResult, putLoad } from './load.ts'
import {
  apiKey,
  type BenchRequest,
  getAgentRequest,
  mcpRequest,
  sandboxReply,
  startCompared,
  startOurs,
} from './servers-and-requests.ts'

interface Subject {
  readonly name: string
  readonly server: MeasuredServer
  readonly path: string
  readonly request: BenchRequest
}

interface Measured {
  /** Requests per second of processor time. */
  readonly perCpuSecond: number
  /** Median latency of the requests, ms. */
  readonly p50: number
  /** 99th percentile of their latency, ms. */
  readonly p99: number
}

type Comparison = ReadonlyMap<string, Measured>

interface Effort {
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

const toolsList = mcpRequest('tools/list')
const readCatalog = mcpRequest('resources/read', { uri: 'voice-agents://catalog/models' })
const platformRequest: BenchRequest = {
  method: 'GET',
  headers: { 'x-api-key': apiKey, accept: 'application/json' },
}
const agentPath = `agents/${seedIds.supportAgent}`

/** Measures requests per second of one core and memory, compared with other servers. */
export async function http(effort: Omit<Effort, 'connections'>): Promise<Section[]> {
  using folder = scratchFolder()
  const file = (name: string, text: string) => {
    const path = join(folder.path, name)
    writeFileSync(path, text)
    return path
  }
  const agent = file('agent.json', await sandboxReply(agentPath))
  const models = file('models.json', await sandboxReply('providers/models'))
  await using platform = await startCompared('platform', agent, cores.others)
  await using catalogs = await startCompared('platform', models, cores.others)
  const run = (connections: number, ...subjects: Subject[]) =>
    compare(subjects, { ...effort, connections })
  const calls = { min: 2.5, aim: 0.4 }
  const sections: Section[] = []
  {
    await using ours = await startOurs(platform.url)
    await using reader = await startOurs(catalogs.url)
    await using sdk = await startCompared('sdk', platform.url)
    await using sdkOfOne = await startCompared('sdk-of-one', platform.url)
    await using proxy = await startCompared('proxy', platform.url)
    const { headers, body = '' } = toolsList
    const list = await fetch(ours.url, { method: 'POST', headers, body })
    await using constant = await startCompared('constant', file('list.json', await list.text()))
    const lists = await run(
      16,
      subject('ours', ours, toolsList),
      subject('sdk', sdk, toolsList),
      subject('floor', constant, toolsList),
      subject('catalog', reader, readCatalog),
    )
    const callers = [
      subject('ours', ours, getAgentRequest),
      subject('sdk', sdk, getAgentRequest),
      subject('sdk of one', sdkOfOne, getAgentRequest),
      subject('floor', proxy, getAgentRequest),
    ]
    sections.push(
      againstSdk('tools/list over HTTP, 16 connections', lists, { min: 6, aim: 0.5 }),
      againstSdk('tools/call over HTTP, 16 connections', await run(16, ...callers), calls),
      againstSdk('tools/call over HTTP, 256 connections', await run(256, ...callers), calls),
      catalogReads(lists),
    )
  }
  const seconds = 20 * effort.seconds
  const memory = (options: string, env: Record<string, string>) =>
    memoryUnderLoad(platform.url, env, { options, seconds })
  sections.push(
    await memory('without Node options', {}),
    await memory('with the low-memory options', scarceMemory),
  )
  // With one connection, only one of the two servers works at a time, so they share a core. On two
  // cores, half of the measured time would be the wake-up of the other core.
  await using ours = await startOurs(platform.url, {}, cores.others)
  await using proxy = await startCompared('proxy', platform.url, cores.others)
  const single = await run(
    1,
    subject('ours', ours, getAgentRequest),
    subject('floor', proxy, getAgentRequest),
    subject('direct', platform, platformRequest, `/v1/accounts/me/${agentPath}`),
  )
  return [...sections, addedTime(single)]
}

const subject = (
  name: string,
  server: MeasuredServer,
  request: BenchRequest,
  path = '/mcp',
): Subject => ({ name, server, request, path })

/**
 * Puts the same load on each subject in turn, for several rounds, so that other load on the machine
 * affects all subjects. The first round is a warm-up and does not count.
 */
async function compare(
  subjects: readonly Subject[],
  { connections, seconds, rounds }: Effort,
): Promise<Comparison> {
  const runs: (LoadResult & { name: string; cpu: number })[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const { name, server, path, request } of subjects) {
      const before = server.usage().cpu
      const url = new URL(path, server.url).href
      const result = await putLoad({ url, ...request, connections, seconds })
      if (round > 0) runs.push({ name, ...result, cpu: server.usage().cpu - before })
    }
  }
  const byName = Map.groupBy(runs, ({ name }) => name)
  return new Map([...byName].map(([name, all]) => [name, medianOf(all)]))
}

const medianOf = (runs: readonly (LoadResult & { cpu: number })[]): Measured => ({
  perCpuSecond: median(runs.map(({ requests, cpu }) => requests / cpu)),
  p50: median(runs.map(({ p50 }) => p50)),
  p99: median(runs.map(({ p99 }) => p99)),
})

const unit = 'requests per second of one core'

const rateOf = (all: Comparison, name: string) => all.get(name)?.perCpuSecond ?? Number.NaN

const ratio = (all: Comparison, one: string, other: string) =>
  round(rateOf(all, one) / rateOf(all, other))

/**
 * Compares the speed with a server made with the MCP SDK, and with the lower bound for such
 * servers.
 */
function againstSdk(
  title: string,
  all: Comparison,
  { min, aim }: { readonly min: number; readonly aim: number },
): Section {
  const ofOne: Goal[] = all.has('sdk of one')
    ? [
        {
          name: 'times the SDK with that tool alone',
          value: ratio(all, 'ours', 'sdk of one'),
          atLeast: 2.5,
        },
      ]
    : []
  return {
    title,
    unit,
    values: Object.fromEntries([...all].map(([name, one]) => [name, Math.round(one.perCpuSecond)])),
    goals: [
      { name: 'times the SDK', value: ratio(all, 'ours', 'sdk'), atLeast: min },
      { name: 'of the floor (aim)', value: ratio(all, 'ours', 'floor'), aim },
      ...ofOne,
    ],
  }
}

const catalogReads = (lists: Comparison): Section => ({
  title: 'catalog over HTTP, 16 connections',
  unit,
  values: {
    catalog: Math.round(rateOf(lists, 'catalog')),
    'tools/list': Math.round(rateOf(lists, 'ours')),
  },
  goals: [
    { name: 'of the floor of tools/list (aim)', value: ratio(lists, 'catalog', 'floor'), aim: 0.5 },
  ],
})

/**
 * Memory after each of ten loads over 16 connections, then over 256. The final memory depends on
 * Node's options and has no limit here.
 */
async function memoryUnderLoad(
  platform: string,
  env: Record<string, string>,
  { options, seconds }: { readonly options: string; readonly seconds: number },
): Promise<Section> {
  await using ours = await startOurs(platform, env)
  const memoryAfter = async (connections: number) => {
    await putLoad({ url: ours.url, ...getAgentRequest, connections, seconds: seconds / 10 })
    return round(ours.usage().memory, 0)
  }
  const parts: number[] = []
  for (let part = 0; part < 10; part++) parts.push(await memoryAfter(16))
  const [first = Number.NaN, halfWay = Number.NaN, last = Number.NaN] = [
    parts[0],
    parts[4],
    parts[9],
  ]
  return {
    title: `memory over HTTP ${options}, under tools/call for ${seconds} s, 16 connections`,
    unit: 'MB',
    values: {
      'at the start': first,
      'half-way': halfWay,
      'at the end': last,
      max: Math.max(...parts),
      'then with 256 connections': await memoryAfter(256),
    },
    goals: [{ name: 'end, times half-way', value: round(last / halfWay), atMost: 1.1 }],
  }
}

function addedTime(single: Comparison): Section {
  const added = (name: 'p50' | 'p99') =>
    round((single.get('ours')?.[name] ?? Number.NaN) - (single.get('direct')?.[name] ?? Number.NaN))
  return {
    title: 'added by tools/call to the direct request, 1 connection',
    unit: 'ms',
    values: Object.fromEntries(
      [...single].flatMap(([name, one]) => [
        [`${name} p50`, round(one.p50)],
        [`${name} p99`, round(one.p99)],
      ]),
    ),
    goals: [
      { name: 'p50', value: added('p50'), atMost: 0.7 },
      { name: 'p99', value: added('p99'), atMost: 4 },
    ],
  }
}
