import type { Granularity } from '../contract/usage.ts'
import { offsetAt } from '../text/time-zone.ts'

/*
 * Calendar buckets in a time zone, with Intl only. A binary search finds the changes of a zone's
 * offset; between two changes, arithmetic gives the bucket starts. A bucket starts where the local
 * hour, day or month changes. A change of the offset starts a new hour, so a repeated hour has two
 * buckets with different offsets: a day has 25 hours when clocks go back, 23 when they go forward.
 */

const hour = 3_600_000
const day = 24 * hour

/** Ranges of constant offset that together cover [from, to). */
function* stretches(zone: string, from: number, to: number) {
  let start = from
  let offset = offsetAt(zone, from)
  for (let probe = from; probe < to; ) {
    const next = Math.min(probe + day, to)
    const offsetThen = offsetAt(zone, next)
    if (offsetThen === offset) {
      probe = next
      continue
    }
    const change = firstChange(zone, probe, next, offset)
    yield { start, end: change, offset }
    start = change
    probe = change
    offset = offsetAt(zone, change)
  }
  if (start < to) yield { start, end: to, offset }
}

/** First instant in (from, to] at which the offset is no longer `offset`. */
function firstChange(zone: string, from: number, to: number, offset: number): number {
  let before = from
  let after = to
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(zone, middle) === offset) before = middle
    else after = middle
  }
  return after
}

/** Local time of the bucket start at or before a local time. */
function floorLocal(local: number, granularity: Granularity): number {
  if (granularity === 'hour') return Math.floor(local / hour) * hour
  if (granularity === 'day') return Math.floor(local / day) * day
  const date = new Date(local)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

function nextLocal(floor: number, granularity: Granularity): number {
  if (granularity === 'hour') return floor + hour
  if (granularity === 'day') return floor + day
  const date = new Date(floor)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** Bucket starts in (from, to), Unix ms, oldest first. */
export function bucketStarts(
  zone: string,
  granularity: Granularity,
  from: number,
  to: number,
): number[] {
  const starts: number[] = []
  let current = floorLocal(from + offsetAt(zone, from), granularity)
  for (const { start, end, offset } of stretches(zone, from, to)) {
    const floor = floorLocal(start + offset, granularity)
    // The zone's offset changes at `start`. A new hour begins; a new day or month, only if the
    // local date changes, too.
    if (start > from && (granularity === 'hour' || floor !== current)) starts.push(start)
    current = floor
    for (;;) {
      const next = nextLocal(current, granularity)
      if (next - offset >= end) break
      starts.push(next - offset)
      current = next
    }
  }
  return starts
}

export function bucketStart(zone: string, granularity: Granularity, ms: number): number {
  const span = granularity === 'month' ? 33 * day : 2 * day
  return bucketStarts(zone, granularity, ms - span, ms + 1).at(-1) ?? ms
}
