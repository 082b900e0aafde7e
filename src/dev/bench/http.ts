import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedIds } from '../../sandbox/seed.ts'
import { cores, put, type Running, round, scratch } from './processes.ts'
import type { Section } from './report.ts'
import {
  type Asked,
  apiKey,
  asked,
  call,
  compare,
  type Measured,
  other,
  replyTo,
  type Subject,
  served,
} from './subjects.ts'

const list = asked('tools/list')
const catalog = asked('resources/read', { uri: 'voice-agents://catalog/models' })
const direct: Asked = {
  method: 'GET',
  headers: { 'x-api-key': apiKey, accept: 'application/json' },
}

/** Requests a second of one core, beside what else answers them. */
export async function http({
  seconds,
  rounds,
}: {
  seconds: number
  rounds: number
}): Promise<Section[]> {
  using folder = scratch()
  const file = (name: string, text: string) => {
    const path = join(folder.path, name)
    writeFileSync(path, text)
    return path
  }
  const agent = file('agent.json', await replyTo(`accounts/me/agents/${seedIds.supportAgent}`))
  const models = file('models.json', await replyTo('accounts/me/providers/models'))
  await using platform = await other('platform', agent, cores.others)
  await using catalogs = await other('platform', models, cores.others)
  await using ours = await served(platform.url)
  await using reader = await served(catalogs.url)
  await using sdk = await other('sdk', platform.url)
  await using sdkOfOne = await other('sdk-of-one', platform.url)
  await using proxy = await other('proxy', platform.url)
  const answer = await fetch(new URL('/mcp', ours.url), {
    method: 'POST',
    headers: list.headers,
    body: list.body ?? '',
  })
  await using constant = await other('constant', file('list.json', await answer.text()))
  const on = (name: string, server: Running, asked: Asked, path = '/mcp') => ({
    name,
    server,
    asked,
    path,
  })
  const run = (subjects: readonly Subject[], connections: number) =>
    compare(subjects, { connections, seconds, rounds }, folder.path)

  const lists = await run(
    [
      on('ours', ours, list),
      on('sdk', sdk, list),
      on('floor', constant, list),
      on('catalog', reader, catalog),
    ],
    16,
  )
  const calls = [
    on('ours', ours, call),
    on('sdk', sdk, call),
    on('sdk of one', sdkOfOne, call),
    on('floor', proxy, call),
  ]
  const calls16 = await run(calls, 16)
  const calls256 = await run(calls, 256)
  const target = `/v1/accounts/me/agents/${seedIds.supportAgent}`
  // With one connection only one of all these ever runs, so they share a core: otherwise half of
  // what is measured is how long the other core takes to wake up.
  await using near = await served(platform.url, {}, cores.others)
  await using nearProxy = await other('proxy', platform.url, cores.others)
  const single = await run(
    [on('ours', near, call), on('floor', nearProxy, call), on('direct', platform, direct, target)],
    1,
  )
  // Ten times as long as the rest, for what piles up.
  await using loaded = await served(platform.url)
  const memoryWith = async (connections: number, parts: number) => {
    const memory: number[] = []
    for (let part = 0; part < parts; part++) {
      const load = { url: loaded.url, ...call, connections, seconds: 2 * seconds }
      await put(load, folder.path)
      memory.push(loaded.memory())
    }
    return memory
  }
  const memory = await memoryWith(16, 10)
  const [firstMemory = Number.NaN] = memory
  const lastMemory = memory.at(-1) ?? Number.NaN
  const [memoryWithMany = Number.NaN] = await memoryWith(256, 1)
  const of = (all: Map<string, Measured>, name: string) => all.get(name)?.perCpuSecond ?? Number.NaN
  const ratios = (
    title: string,
    all: Map<string, Measured>,
    least: number,
    aim: number,
  ): Section => ({
    title,
    unit: 'requests per second of one core',
    values: Object.fromEntries([...all].map(([name, one]) => [name, Math.round(one.perCpuSecond)])),
    goals: [
      { name: 'times the SDK', value: round(of(all, 'ours') / of(all, 'sdk')), atLeast: least },
      { name: 'of the floor (aim)', value: round(of(all, 'ours') / of(all, 'floor')), aim },
    ],
  })
  const added = (name: 'p50' | 'p99') =>
    round((single.get('ours')?.[name] ?? Number.NaN) - (single.get('direct')?.[name] ?? Number.NaN))
  const ofOne = (title: string, all: Map<string, Measured>) => ({
    name: title,
    value: round(of(all, 'ours') / of(all, 'sdk of one')),
    atLeast: 2.5,
  })
  const sections = [
    ratios('tools/list over HTTP, 16 connections', lists, 6, 0.5),
    ratios('tools/call over HTTP, 16 connections', calls16, 2.5, 0.4),
    ratios('tools/call over HTTP, 256 connections', calls256, 2.5, 0.4),
  ]
  sections[1]?.goals.push(ofOne('times the SDK with that tool alone', calls16))
  sections[2]?.goals.push(ofOne('times the SDK with that tool alone', calls256))
  return [
    ...sections,
    {
      title: 'catalog over HTTP, 16 connections',
      unit: 'requests per second of one core',
      values: {
        catalog: Math.round(of(lists, 'catalog')),
        'tools/list': Math.round(of(lists, 'ours')),
      },
      goals: [
        {
          name: 'of tools/list',
          value: round(of(lists, 'catalog') / of(lists, 'ours')),
          atLeast: 0.8,
        },
      ],
    },
    {
      title: `memory over HTTP, under tools/call for ${20 * seconds} s, 16 connections`,
      unit: 'MB',
      values: { 'at first': round(firstMemory, 0), most: round(Math.max(...memory), 0) },
      goals: [
        { name: 'at last', value: round(lastMemory, 0), atMost: 120 },
        { name: 'times at first', value: round(lastMemory / firstMemory), atMost: 1.1 },
        { name: 'then with 256 connections', value: round(memoryWithMany, 0), atMost: 120 },
      ],
    },
    {
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
    },
  ]
}
