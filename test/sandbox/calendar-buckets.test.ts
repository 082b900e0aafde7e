import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { granularities } from '../../src/contract/usage.ts'
import { bucketStart, bucketStarts } from '../../src/sandbox/calendar-buckets.ts'
import { isoInZone } from '../../src/text/time-zone.ts'
import { tries } from '../harness/property.ts'

/** Expected bucket starts, computed with another time zone database. */
const { cases } = z
  .object({
    cases: z.array(
      z.object({
        zone: z.string(),
        kind: z.string(),
        frm: z.int(),
        to: z.int(),
        hour: z.array(z.int()).optional(),
        day: z.array(z.int()).optional(),
        month: z.array(z.int()).optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'zone-buckets.json'), 'utf8')))

describe.each(cases)('$zone ($kind)', ({ zone, frm, to, ...expected }) => {
  const known = granularities.filter((granularity) => expected[granularity])

  test.each(known)('%s buckets start where they should', (granularity) => {
    expect(bucketStarts(zone, granularity, frm, to)).toEqual(expected[granularity])
  })
})

const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/St_Johns']

test('an instant lies in exactly the bucket that starts last before it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...granularities),
      fc.integer({ min: 0, max: 2_000_000_000_000 }),
      (zone, granularity, ms) => {
        const start = bucketStart(zone, granularity, ms)
        expect(start).toBeLessThanOrEqual(ms)
        expect(bucketStarts(zone, granularity, start, ms)).toEqual([])
        expect(bucketStart(zone, granularity, start)).toBe(start)
      },
    ),
    tries(200),
  )
})

test('an instant is written with the offset in force', () => {
  const at = Date.UTC(2026, 6, 1, 12)
  expect(isoInZone('UTC', at)).toBe('2026-07-01T12:00:00Z')
  expect(isoInZone('Europe/Berlin', at)).toBe('2026-07-01T14:00:00+02:00')
  expect(isoInZone('Asia/Kathmandu', at)).toBe('2026-07-01T17:45:00+05:45')
  expect(isoInZone('America/St_Johns', at)).toBe('2026-07-01T09:30:00-02:30')
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 2_000_000_000_000 }),
      (zone, ms) => Date.parse(isoInZone(zone, ms)) === ms,
    ),
    tries(100),
  )
})
