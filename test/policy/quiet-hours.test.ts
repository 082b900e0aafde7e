import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type QuietHours, weekdays } from '../../src/policy/dial-policy-config.ts'
import { quietAt, quietUntil } from '../../src/policy/quiet-hours.ts'
import { tries } from '../harness/property.ts'

const night: QuietHours = { from: '21:00', to: '08:00' }
const berlin = ['Europe/Berlin']
const isQuiet = (at: string, zones: readonly string[], ...hours: QuietHours[]) =>
  quietAt(Date.parse(at), zones, hours) !== undefined

describe('a night', () => {
  test.each([
    ['2026-11-02T19:59:59Z', false],
    ['2026-11-02T20:00:00Z', true],
    ['2026-11-02T23:30:00Z', true],
    ['2026-11-03T06:59:59Z', true],
    ['2026-11-03T07:00:00Z', false],
    // In summer the same clock is an hour earlier.
    ['2026-07-02T19:00:00Z', true],
    ['2026-07-02T18:59:00Z', false],
  ])('at %s in Berlin: %s', (at, quiet) => {
    expect(isQuiet(at, berlin, night)).toBe(quiet)
  })

  test('that begins on Friday lasts into Saturday and begins on no other day', () => {
    const friday: QuietHours = { ...night, days: ['fri'] }
    expect(isQuiet('2026-11-06T21:00:00Z', berlin, friday)).toBe(true)
    expect(isQuiet('2026-11-07T05:00:00Z', berlin, friday)).toBe(true)
    expect(isQuiet('2026-11-07T21:00:00Z', berlin, friday)).toBe(false)
    expect(isQuiet('2026-11-06T05:00:00Z', berlin, friday)).toBe(false)
  })

  test('applies as soon as it is night in one of several zones', () => {
    const zones = ['America/Los_Angeles', 'America/New_York']
    const at = Date.parse('2026-11-03T03:00:00Z')
    expect(quietAt(at, zones, [night])).toMatchObject({ zone: 'America/New_York', clock: '22:00' })
    expect(isQuiet('2026-11-03T15:30:00Z', zones, night)).toBe(true)
    expect(isQuiet('2026-11-03T16:00:00Z', zones, night)).toBe(false)
    expect(quietUntil(at, zones, [night])).toBe(Date.parse('2026-11-03T16:00:00Z'))
  })

  test('in the Australian half-hour zones begins by the local time', () => {
    expect(isQuiet('2026-11-02T09:59:00Z', ['Australia/Lord_Howe'], night)).toBe(false)
    expect(isQuiet('2026-11-02T10:00:00Z', ['Australia/Lord_Howe'], night)).toBe(true)
  })
})

test('a whole day is quiet from its first to its last minute', () => {
  const sunday: QuietHours = { from: '00:00', to: '24:00', days: ['sun'] }
  expect(isQuiet('2026-11-07T22:59:00Z', berlin, sunday)).toBe(false)
  expect(isQuiet('2026-11-07T23:00:00Z', berlin, sunday)).toBe(true)
  expect(isQuiet('2026-11-08T22:59:00Z', berlin, sunday)).toBe(true)
  expect(isQuiet('2026-11-08T23:00:00Z', berlin, sunday)).toBe(false)
})

test('a time that daylight saving skips is over after the change', () => {
  const skipped: QuietHours = { from: '02:00', to: '03:00' }
  expect(isQuiet('2026-03-29T00:59:00Z', berlin, skipped)).toBe(false)
  expect(isQuiet('2026-03-29T01:00:00Z', berlin, skipped)).toBe(false)
})

test('a time that daylight saving repeats is quiet twice', () => {
  const twice: QuietHours = { from: '02:00', to: '03:00' }
  const begin = Date.parse('2026-10-25T00:00:00Z')
  expect(quietUntil(begin, berlin, [twice])).toBe(begin + 2 * 3_600_000)
})

test('quiet hours on all hours have no end', () => {
  const always: QuietHours = { from: '00:00', to: '24:00' }
  expect(quietUntil(Date.parse('2026-11-02T12:00:00Z'), berlin, [always])).toBeUndefined()
})

const clock = fc
  .integer({ min: 0, max: 1439 })
  .map((minute) => [Math.floor(minute / 60), minute % 60])
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
const quietHours = fc
  .record(
    {
      from: clock,
      to: clock,
      days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
    },
    { requiredKeys: ['from', 'to'] },
  )
  .filter(({ from, to }) => from !== to)
const zones = fc.uniqueArray(
  fc.constantFrom('Australia/Lord_Howe', 'Asia/Kathmandu', 'America/New_York', 'Europe/Berlin'),
  { minLength: 1 },
)
/** A year of instants, changes of the clocks among them. */
const instants = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) })

test('the end that is given is never in quiet hours, and at most an hour late', () => {
  fc.assert(
    fc.property(
      instants,
      zones,
      fc.array(quietHours, { minLength: 1, maxLength: 3 }),
      (at, where, hours) => {
        const until = quietUntil(at, where, hours)
        if (until === undefined) return
        expect(quietAt(until, where, hours)).toBeUndefined()
        // A clock that goes forward meanwhile may add an hour.
        for (let then = at; then < until - 3_600_000; then += 60_000) {
          expect(quietAt(then, where, hours)).toBeDefined()
        }
      },
    ),
    tries(150),
  )
})
