import { writeFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { openSandbox } from '../../../src/sandbox/sandbox.ts'
import { seedIds } from '../../../src/sandbox/small-data.ts'
import { scratchFolder } from '../../harness/program.ts'
import { inParallel } from '../measure/load.ts'
import { cores, type MeasuredServer } from '../measure/program.ts'
import { median, round, type Section } from '../measure/report.ts'
import { putLoad } from './load.ts'
import { addConversations, send } from './sandbox.ts'
import { getAgentRequest, mcpRequest, sandboxReply, startCompared, startOurs } from './subjects.ts'

/**
 * Processor time of one tools/call, µs. A load lasts so long that V8's work between two loads, when
 * the server is idle, matters little.
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

/** Opens streams that listen for changes; they stay open until it is disposed of. */
async function listen(url: string, count: number): Promise<Disposable> {
  const listenRequest = mcpRequest('subscriptions/listen', {
    notifications: { resourceSubscriptions: ['voice-agents://catalog/models'] },
  })
  const agent = new Agent({ connections: null, bodyTimeout: 0 })
  const { method, headers, body = '' } = listenRequest
  await inParallel(Array(count).fill(url), 100, async () => {
    const response = await request(url, { method, headers, body, dispatcher: agent })
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}`)
    response.body.on('data', () => undefined).on('error', () => undefined)
  })
  return { [Symbol.dispose]: () => void agent.destroy() }
}

/** Processor time of reading a page of conversations in a sandbox with so many, µs. */
async function costInSandbox(conversations: number, folder: string): Promise<number> {
  const file = `${folder}/${conversations}.db`
  openSandbox({ file, speed: 1 }).close()
  addConversations(file, conversations)
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
  using folder = scratchFolder()
  const path = folder.path
  const file = `${path}/agent.json`
  writeFileSync(file, await sandboxReply(`accounts/me/agents/${seedIds.supportAgent}`))
  await using platform = await startCompared('platform', file, cores.others)
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
    34: ['TOOLS', ''],
  }
  await curve('tools', [1, 10, 34], async (count) => {
    const [kind, names = ''] = sets[count as keyof typeof sets]
    await using server = await startOurs(platform.url, { [`VOICE_AGENT_${kind}`]: names })
    return await costOf(server)
  })
  await curve('accounts, each with a key of its own', [1, 30, 1000], async (count) => {
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

/** What one call costs as something grows. */
export interface Curve {
  readonly title: string
  /** How many there are, and the processor time of one call, µs. */
  readonly points: readonly (readonly [count: number, microseconds: number])[]
}

const size = { width: 360, height: 220, left: 48, right: 16, top: 36, bottom: 34 }

const colours = { line: '#2563eb', axis: '#8b949e', text: '#57606a' }

/** The curves side by side as one SVG: the count on a logarithmic axis, the cost on one from 0. */
export function plot(curves: readonly Curve[], caption: string): string {
  const columns = 2
  const rows = Math.ceil(curves.length / columns)
  const width = columns * size.width
  const height = rows * size.height + 24
  const max = Math.max(...curves.flatMap(({ points }) => points.map(([, cost]) => cost))) * 1.2
  const panels = curves.map((curve, index) => {
    const x = (index % columns) * size.width
    const y = Math.floor(index / columns) * size.height
    return `<g transform="translate(${x} ${y})">${panel(curve, max)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="${colours.text}">
<title>Processor time of one call as things grow</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.join('\n')}
<text x="${width / 2}" y="${height - 8}" text-anchor="middle">${caption}</text>
</svg>
`
}

function panel({ title, points }: Curve, max: number): string {
  const { width, height, left, right, top, bottom } = size
  const logs = points.map(([count]) => Math.log10(count))
  const [first = 0, last = 1] = [logs[0], logs.at(-1)]
  const x = (log: number) => left + ((log - first) / (last - first)) * (width - left - right)
  const y = (cost: number) => height - bottom - (cost / max) * (height - top - bottom)
  const places = points.map(([count, cost], index) => ({
    count,
    cost,
    x: x(logs[index] ?? 0).toFixed(1),
    y: y(cost).toFixed(1),
  }))
  const base = height - bottom
  return [
    `<text x="${width / 2}" y="18" text-anchor="middle" font-weight="600">${title}</text>`,
    `<path d="M${left} ${top}V${base}H${width - right}" fill="none" stroke="${colours.axis}"/>`,
    `<text x="${left - 6}" y="${base}" text-anchor="end">0</text>`,
    `<text x="${left - 6}" y="${top + 4}" text-anchor="end">${Math.round(max)} µs</text>`,
    `<polyline points="${places.map((place) => `${place.x},${place.y}`).join(' ')}" fill="none" stroke="${colours.line}" stroke-width="2"/>`,
    ...places.flatMap((place) => [
      `<circle cx="${place.x}" cy="${place.y}" r="3" fill="${colours.line}"/>`,
      `<text x="${place.x}" y="${(Number(place.y) - 8).toFixed(1)}" text-anchor="middle">${place.cost}</text>`,
      `<text x="${place.x}" y="${base + 16}" text-anchor="middle">${place.count.toLocaleString('en')}</text>`,
    ]),
  ].join('')
}
