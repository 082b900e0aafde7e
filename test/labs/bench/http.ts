import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedIds } from '../../../src/sandbox/small-data.ts'
import { scratchFolder } from '../../harness/program.ts'
import { cores, type MeasuredServer } from '../measure/program.ts'
import { type Goal, round, type Section } from '../measure/report.ts'
import { putLoad } from './load.ts'
import {
  apiKey,
  type BenchRequest,
  type Comparison,
  compare,
  getAgentRequest,
  mcpRequest,
  type Subject,
  sandboxReply,
  startCompared,
  startOurs,
} from './subjects.ts'

const toolsList = mcpRequest('tools/list')
const readCatalog = mcpRequest('resources/read', { uri: 'voice-agents://catalog/models' })
const platformRequest: BenchRequest = {
  method: 'GET',
  headers: { 'x-api-key': apiKey, accept: 'application/json' },
}
const agentPath = `accounts/me/agents/${seedIds.supportAgent}`

interface Options {
  readonly seconds: number
  readonly rounds: number
}

/** Requests per second of one core, beside what else can answer them, and the memory they take. */
export async function http(options: Options): Promise<Section[]> {
  using folder = scratchFolder()
  const file = (name: string, text: string) => {
    const path = join(folder.path, name)
    writeFileSync(path, text)
    return path
  }
  const agent = file('agent.json', await sandboxReply(agentPath))
  const models = file('models.json', await sandboxReply('accounts/me/providers/models'))
  await using platform = await startCompared('platform', agent, cores.others)
  await using catalogs = await startCompared('platform', models, cores.others)
  const run = (subjects: readonly Subject[], connections: number) =>
    compare(subjects, { ...options, connections }, folder.path)

  const throughput = await measureThroughput(platform.url, catalogs.url, file, run)
  const single = await measureOneConnection(platform, run)
  const memory = await measureMemory(platform.url, options.seconds, folder.path)
  const small = await measureMemory(platform.url, options.seconds, folder.path, smallMemory)
  const seconds = 20 * options.seconds
  return [
    againstSdk('tools/list over HTTP, 16 connections', throughput.lists, { least: 6, aim: 0.5 }),
    againstSdk('tools/call over HTTP, 16 connections', throughput.calls16, {
      least: 2.5,
      aim: 0.4,
    }),
    againstSdk('tools/call over HTTP, 256 connections', throughput.calls256, {
      least: 2.5,
      aim: 0.4,
    }),
    catalogReads(throughput.lists),
    memoryUnderLoad(memory, { options: 'without Node options', seconds }),
    memoryUnderLoad(small, { options: 'with the options for little memory', seconds }),
    addedTime(single),
  ]
}

type RunComparison = (
  subjects: readonly Subject[],
  connections: number,
) => ReturnType<typeof compare>

const subject = (
  name: string,
  server: MeasuredServer,
  request: BenchRequest,
  path = '/mcp',
): Subject => ({ name, server, request, path })

async function measureThroughput(
  platform: string,
  catalogs: string,
  file: (name: string, text: string) => string,
  run: RunComparison,
) {
  await using ours = await startOurs(platform)
  await using reader = await startOurs(catalogs)
  await using sdk = await startCompared('sdk', platform)
  await using sdkOfOne = await startCompared('sdk-of-one', platform)
  await using proxy = await startCompared('proxy', platform)
  const { headers, body = '' } = toolsList
  const list = await fetch(ours.url, { method: 'POST', headers, body })
  await using constant = await startCompared('constant', file('list.json', await list.text()))
  const lists = await run(
    [
      subject('ours', ours, toolsList),
      subject('sdk', sdk, toolsList),
      subject('floor', constant, toolsList),
      subject('catalog', reader, readCatalog),
    ],
    16,
  )
  const calls = [
    subject('ours', ours, getAgentRequest),
    subject('sdk', sdk, getAgentRequest),
    subject('sdk of one', sdkOfOne, getAgentRequest),
    subject('floor', proxy, getAgentRequest),
  ]
  return { lists, calls16: await run(calls, 16), calls256: await run(calls, 256) }
}

/**
 * With one connection only one of the servers works at a time, so they share a core: on two, half of
 * what is measured is how long the other core takes to wake up.
 */
async function measureOneConnection(platform: MeasuredServer, run: RunComparison) {
  await using ours = await startOurs(platform.url, {}, cores.others)
  await using proxy = await startCompared('proxy', platform.url, cores.others)
  return await run(
    [
      subject('ours', ours, getAgentRequest),
      subject('floor', proxy, getAgentRequest),
      subject('direct', platform, platformRequest, `/v1/${agentPath}`),
    ],
    1,
  )
}

/** The options for little memory that docs/deployment.md gives. */
const smallMemory = {
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
  MALLOC_ARENA_MAX: '1',
}

async function measureMemory(
  platform: string,
  seconds: number,
  folder: string,
  env: Record<string, string> = {},
): Promise<MemoryUnderLoad> {
  await using ours = await startOurs(platform, env)
  const memoryAfter = async (connections: number) => {
    await putLoad({ url: ours.url, ...getAgentRequest, connections, seconds: 2 * seconds }, folder)
    return round(ours.usage().memory, 0)
  }
  const parts: number[] = []
  for (let part = 0; part < 10; part++) parts.push(await memoryAfter(16))
  return { parts, withMany: await memoryAfter(256) }
}

const unit = 'requests per second of one core'

const rateOf = (all: Comparison, name: string) => all.get(name)?.perCpuSecond ?? Number.NaN

const ratio = (all: Comparison, one: string, other: string) =>
  round(rateOf(all, one) / rateOf(all, other))

/** How many times as fast as a server made with the SDK, and how near to the least there can be. */
function againstSdk(
  title: string,
  all: Comparison,
  { least, aim }: { readonly least: number; readonly aim: number },
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
      { name: 'times the SDK', value: ratio(all, 'ours', 'sdk'), atLeast: least },
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

interface MemoryUnderLoad {
  /** After each of ten loads over 16 connections, MB. */
  readonly parts: readonly number[]
  /** After a load over 256 connections, MB. */
  readonly withMany: number
}

/** How much memory there is in the end is reported only: it depends on Node's options. */
function memoryUnderLoad(
  { parts, withMany }: MemoryUnderLoad,
  { options, seconds }: { readonly options: string; readonly seconds: number },
): Section {
  const halfWay = parts[Math.floor(parts.length / 2) - 1] ?? Number.NaN
  const last = parts.at(-1) ?? Number.NaN
  return {
    title: `memory over HTTP ${options}, under tools/call for ${seconds} s, 16 connections`,
    unit: 'MB',
    values: {
      'at first': parts[0] ?? Number.NaN,
      'half-way': halfWay,
      'at last': last,
      most: Math.max(...parts),
      'then with 256 connections': withMany,
    },
    goals: [{ name: 'times half-way', value: round(last / halfWay), atMost: 1.1 }],
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
