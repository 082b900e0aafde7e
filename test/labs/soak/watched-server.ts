import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

const Probe = z.object({
  nth: z.int(),
  heapUsed: z.number(),
  rss: z.number(),
  descriptors: z.int(),
  sockets: z.int(),
  resources: z.int(),
})

/** Memory, bytes, and open resources of a server after a garbage collection. */
export interface Sample extends Omit<z.output<typeof Probe>, 'nth'> {
  /** Time since the soak began, ms. */
  readonly at: number
}

/** Node.js options that preload the probe. */
export const probeOptions = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('resource-probe.ts', import.meta.url)),
]

export const probeEnv = (file: string) => ({ SOAK_PROBE_FILE: file })

/** A server that runs during the whole soak, with its samples. */
export class WatchedServer {
  readonly name: string
  readonly samples: Sample[] = []
  /** Sample before the first request. */
  fresh: Sample | undefined
  /** Sample after all clients have left. */
  idle: Sample | undefined
  readonly #pid: number
  readonly #file: string
  readonly #began = performance.now()
  #looks = 0

  constructor(name: string, pid: number, file: string) {
    this.name = name
    this.#pid = pid
    this.#file = file
  }

  async look(): Promise<Sample> {
    this.#looks++
    process.kill(this.#pid, 'SIGUSR2')
    for (let waited = 0; waited < 10_000; waited += 20) {
      await sleep(20)
      if (!existsSync(this.#file)) continue
      const { nth, ...held } = Probe.parse(JSON.parse(readFileSync(this.#file, 'utf8')))
      if (nth === this.#looks) return { ...held, at: performance.now() - this.#began }
    }
    throw new Error(`${this.name} does not answer its probe`)
  }

  /**
   * Waits until an idle server has closed its open resources, at most `maxMs`. How long this takes
   * depends on the machine. Leaked resources stay open.
   */
  async rest(maxMs: number): Promise<void> {
    const end = performance.now() + maxMs
    do {
      await sleep(2000)
      this.idle = await this.look()
    } while (stillOpen(this).length > 0 && performance.now() < end)
  }
}

const megabyte = 1_000_000
const minute = 60_000

/** Slope of a regression line (least squares), value per ms. */
export function slopeOf(points: readonly (readonly [at: number, value: number])[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanAt, meanValue] = [
    mean(points.map(([at]) => at)),
    mean(points.map(([, value]) => value)),
  ]
  let [above, below] = [0, 0]
  for (const [at, value] of points) {
    above += (at - meanAt) * (value - meanValue)
    below += (at - meanAt) ** 2
  }
  return below === 0 ? 0 : above / below
}

/**
 * Maximum growth in the second half of a run: a share of the mean or a number of bytes, whichever
 * is more. The heap varies with running requests, resident memory with what the allocator retains.
 * In short runs, caches are still being filled and code compiled.
 */
const growth = {
  heapUsed: { share: 0.08, bytes: 3 * megabyte, bytesWhenShort: 12 * megabyte },
  rss: { share: 0.15, bytes: 20 * megabyte, bytesWhenShort: 60 * megabyte },
} as const

/** Length of the second half below which a run is short, ms. */
const shortMs = 5 * minute

/**
 * Maximum open resources of an idle server beyond those of a fresh one, opened on first use of the
 * state and kept: five SQLite databases of three files each (`.db`, `-wal` and `-shm`), or the
 * connections to PostgreSQL.
 */
const keptOpen = { descriptors: 15, sockets: 4, resources: 6 } as const

/**
 * Memory use in the second half of the run, and open resources, with violations of the limits
 * above. 1 MB is 1,000,000 bytes.
 */
export function verdictOf(server: WatchedServer) {
  const half = server.samples.slice(Math.floor(server.samples.length / 2))
  const problems: string[] = []
  const memory = (what: keyof typeof growth) => {
    const slope = slopeOf(half.map((sample) => [sample.at, sample[what]]))
    const mean = half.reduce((sum, sample) => sum + sample[what], 0) / half.length
    const span = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0)
    const { share, bytes, bytesWhenShort } = growth[what]
    if (slope * span > Math.max(mean * share, span < shortMs ? bytesWhenShort : bytes))
      problems.push(`${what} grew by ${round((slope * span) / megabyte)} MB in the second half`)
    return { mb: round(mean / megabyte), kbPerMinute: round((slope * minute) / 1000) }
  }
  const open = (what: keyof typeof keptOpen) => ({
    fresh: countOf(server.fresh, what),
    idle: countOf(server.idle, what),
  })
  const [heap, rss] = [memory('heapUsed'), memory('rss')]
  problems.push(...stillOpen(server))
  return {
    name: server.name,
    ...{ heapMb: heap.mb, heapKbPerMinute: heap.kbPerMinute },
    ...{ rssMb: rss.mb, rssKbPerMinute: rss.kbPerMinute },
    ...{ descriptors: open('descriptors'), sockets: open('sockets'), resources: open('resources') },
    problems,
  }
}

/** Violations of the limit for open resources. */
function stillOpen(server: WatchedServer): string[] {
  return (['descriptors', 'sockets', 'resources'] as const).flatMap((what) => {
    const [fresh, idle] = [countOf(server.fresh, what), countOf(server.idle, what)]
    return idle > fresh + keptOpen[what]
      ? `${idle} ${what} are open when all clients have gone; ${fresh} at the start`
      : []
  })
}

function countOf(sample: Sample | undefined, what: keyof typeof keptOpen): number {
  if (!sample) throw new Error('the server was not looked at')
  return sample[what]
}

const round = (value: number) => Math.round(value * 10) / 10
