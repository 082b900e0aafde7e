import fc from 'fast-check'
import { getCountries } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { type QuietHours, weekdays } from '../../src/policy/dial-policy-config.ts'
import { classifyNumber } from '../../src/policy/number-class.ts'
import { quietAt, quietUntil, wallTime, zonesOfNumber } from '../../src/policy/quiet-hours.ts'
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
    // In summer the same local time is an hour earlier in UTC.
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

  test('in the Australian half-hour zones begins at the local time', () => {
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

test('a period that daylight saving skips is over after the change', () => {
  const skipped: QuietHours = { from: '02:00', to: '03:00' }
  expect(isQuiet('2026-03-29T00:59:00Z', berlin, skipped)).toBe(false)
  expect(isQuiet('2026-03-29T01:00:00Z', berlin, skipped)).toBe(false)
})

test('a period that daylight saving repeats is quiet twice', () => {
  const twice: QuietHours = { from: '02:00', to: '03:00' }
  const begin = Date.parse('2026-10-25T00:00:00Z')
  expect(quietUntil(begin, berlin, [twice])).toBe(begin + 2 * 3_600_000)
})

test('quiet hours that cover all hours have no end', () => {
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
/** Instants in a year, including changes to and from daylight saving time. */
const instants = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 31) })

test('the end of quiet hours is never in quiet hours, and at most an hour late', () => {
  fc.assert(
    fc.property(
      instants,
      zones,
      fc.array(quietHours, { minLength: 1, maxLength: 3 }),
      (at, where, hours) => {
        const until = quietUntil(at, where, hours)
        if (until === undefined) return
        expect(quietAt(until, where, hours)).toBeUndefined()
        // A change to daylight saving time may add an hour.
        for (let then = at; then < until - 3_600_000; then += 60_000) {
          expect(quietAt(then, where, hours)).toBeDefined()
        }
      },
    ),
    tries(150),
  )
})

const countryOf = (number: string) => {
  const facts = classifyNumber(number)
  return facts.kind === 'ordinary' ? facts.country : null
}

test.each([
  ['+12125550123', ['America/New_York']],
  ['+13125550123', ['America/Chicago']],
  ['+13035550123', ['America/Denver']],
  ['+14155550123', ['America/Los_Angeles']],
  ['+16025550123', ['America/Phoenix']],
  ['+18085550123', ['Pacific/Honolulu']],
  ['+18505550123', ['America/Chicago', 'America/New_York']],
  ['+17095550123', ['America/Halifax', 'America/St_Johns']],
  ['+16045550123', ['America/Vancouver']],
  // Orlando, Florida; libphonenumber's own table says Chicago.
  ['+16895550123', ['America/New_York']],
  // Overlay of area code 250, whose east is on Mountain time.
  ['+12575550123', ['America/Edmonton', 'America/Vancouver']],
  ['+12365550123', ['America/Edmonton', 'America/Vancouver']],
  ['+13065550123', ['America/Edmonton', 'America/Regina']],
  ['+5511987654321', ['America/Sao_Paulo']],
  ['+5568987654321', ['America/Rio_Branco']],
  ['+61891234567', ['Australia/Eucla', 'Australia/Perth']],
  ['+61265632000', ['Australia/Lord_Howe', 'Australia/Sydney']],
  ['+61889123456', ['Australia/Adelaide', 'Australia/Darwin']],
  ['+9779812345678', ['Asia/Katmandu']],
  ['+8613912345678', ['Asia/Shanghai']],
  ['+38344123456', ['Europe/Belgrade']],
  ['+17875551234', ['America/Puerto_Rico']],
  ['+80012345678', []],
])('%s may be in %j', (number, zones) => {
  const found = [...zonesOfNumber(number, countryOf(number))].sort()
  // Engines differ in the name of this zone: Asia/Kathmandu or Asia/Katmandu.
  expect(found.map((zone) => zone.replace('Kathmandu', 'Katmandu'))).toEqual(zones)
})

test.each([
  [
    'an Australian mobile',
    '+61491570156',
    ['Australia/Lord_Howe', 'Australia/Perth', 'Australia/Sydney'],
  ],
  ['an American toll-free number', '+18005550199', ['Pacific/Honolulu', 'America/New_York']],
  ['a Russian mobile', '+79161234567', ['Europe/Kaliningrad', 'Asia/Kamchatka']],
  ['a Spanish mobile', '+34612345678', ['Europe/Madrid', 'Atlantic/Canary']],
])('%s may be anywhere in its country', (_, number, zones) => {
  expect(zonesOfNumber(number, countryOf(number))).toEqual(expect.arrayContaining(zones))
})

test('the operator’s zones for a prefix replace the known zones, and the longest prefix counts', () => {
  const zones = {
    '+1': ['America/Chicago'],
    '+1689': ['America/New_York'],
    '+800': ['Europe/Berlin'],
  }
  expect(zonesOfNumber('+16895550123', 'US', zones)).toEqual(['America/New_York'])
  expect(zonesOfNumber('+12125550123', 'US', zones)).toEqual(['America/Chicago'])
  expect(zonesOfNumber('+80012345678', null, zones)).toEqual(['Europe/Berlin'])
  expect(zonesOfNumber('+4930123456', 'DE', zones)).toContain('Europe/Berlin')
})

test('every country that a number can have has time zones', () => {
  for (const country of getCountries()) {
    const zones = zonesOfNumber('+', country)
    expect(zones.length, country).toBeGreaterThan(0)
    for (const zone of zones) wallTime(zone, 0)
  }
})

test('every area code in use has time zones, which are among those of its country', () => {
  const january = Date.UTC(2026, 0, 15, 12)
  const july = Date.UTC(2026, 6, 15, 12)
  const clocks = (zones: readonly string[]) =>
    zones.map((zone) => `${wallTime(zone, january).minute} ${wallTime(zone, july).minute}`)
  const unknown: string[] = []
  for (let area = 200; area < 1000; area++) {
    const number = `+1${area}2345678`
    const country = countryOf(number)
    if (country !== 'US' && country !== 'CA') continue
    const all = zonesOfNumber('+', country)
    const zones = zonesOfNumber(number, country)
    if (zones.length === all.length) unknown.push(String(area))
    // Northern Canada has its own zones with the same offsets, so the test compares local times.
    expect(clocks(all), `${area}`).toEqual(expect.arrayContaining(clocks(zones)))
  }
  // Toll-free and other codes without a place.
  expect(unknown).toEqual(['600', '800', '833', '844', '855', '866', '877', '888'])
})

describe('the local time', () => {
  test.each([
    ['Asia/Kathmandu', '2026-11-02T00:00:00Z', 'mon', '05:45'],
    ['Australia/Lord_Howe', '2026-11-02T13:00:00Z', 'tue', '00:00'],
    ['Australia/Lord_Howe', '2026-07-02T13:30:00Z', 'fri', '00:00'],
    ['Australia/Eucla', '2026-11-01T15:15:00Z', 'mon', '00:00'],
    ['Pacific/Kiritimati', '2026-11-01T10:00:00Z', 'mon', '00:00'],
    ['Pacific/Pago_Pago', '2026-11-01T10:59:00Z', 'sat', '23:59'],
    // Lord Howe moves clocks forward by half an hour at 02:00.
    ['Australia/Lord_Howe', '2026-10-03T15:29:00Z', 'sun', '01:59'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z', 'sun', '02:30'],
    // Berlin skips the hour from 02:00 in spring, and repeats it in autumn.
    ['Europe/Berlin', '2026-03-29T00:59:00Z', 'sun', '01:59'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', 'sun', '03:00'],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', 'sun', '02:30'],
    ['Europe/Berlin', '2026-10-25T01:30:00Z', 'sun', '02:30'],
    // Cairo moves clocks forward at midnight, so that day has no 00:00.
    ['Africa/Cairo', '2026-04-23T22:00:00Z', 'fri', '01:00'],
  ])('in %s at %s shows %s %s', (zone, at, weekday, clock) => {
    const [hours, minutes] = clock.split(':')
    const minute = Number(hours) * 60 + Number(minutes)
    expect(wallTime(zone, Date.parse(at))).toEqual({ weekday, minute })
  })
})
