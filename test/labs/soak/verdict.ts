import { round } from '../measure/report.ts'
import { stillOpen, type Watched } from './watched-server.ts'

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
 * Memory use in the second half of the run, and open resources, with violations of the limits
 * above. 1 MB is 1,000,000 bytes.
 */
export function verdictOf(server: Watched) {
  const half = server.samples.slice(Math.floor(server.samples.length / 2))
  const problems: string[] = []
  const memory = (what: keyof typeof growth) => {
    const slope = slopeOf(half.map((sample) => [sample.at, sample[what]]))
    const mean = half.reduce((sum, sample) => sum + sample[what], 0) / half.length
    const span = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0)
    const { share, bytes, bytesWhenShort } = growth[what]
    if (slope * span > Math.max(mean * share, span < shortMs ? bytesWhenShort : bytes))
      problems.push(`${what} grew by ${round((slope * span) / megabyte, 1)} MB in the second half`)
    return { mb: round(mean / megabyte, 1), kbPerMinute: round((slope * minute) / 1000, 1) }
  }
  const open = (what: 'descriptors' | 'sockets' | 'resources') => ({
    fresh: server.fresh[what],
    idle: server.idle[what],
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
