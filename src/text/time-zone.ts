import { closestWord } from './closest-match.ts'
import { clientText } from './safe-text.ts'

/**
 * True for an IANA time zone that Intl knows. False for an offset such as +02:00, which has no
 * daylight saving time.
 */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** Error text for a time zone that `isTimeZone` refuses, with the zone that was probably meant. */
export function notATimeZone(zone: string): string {
  const cities = new Map(
    Intl.supportedValuesOf('timeZone').map((known) => [known.split('/').at(-1) ?? known, known]),
  )
  const meant =
    zone.length > 64 ? undefined : closestWord(zone.split('/').at(-1) ?? '', [...cities.keys()])
  const hint = meant ? `did you mean ${cities.get(meant)}?` : 'give one such as Europe/Berlin'
  return `not an IANA time zone: ${clientText(zone, 64)}; ${hint}`
}

/** The date in a zone at a time, such as `2026-11-21`. */
export const dateIn = (ms: number, timeZone: string): string =>
  new Date(ms).toLocaleDateString('sv', { timeZone })

/** Date and time in a zone, such as `2026-11-21 09:30`. */
export const timeIn = (ms: number, timeZone: string): string =>
  new Date(ms).toLocaleString('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })

const offsetFormats = new Map<string, Intl.DateTimeFormat>()

/** Offset of local time from UTC at an instant, ms. Historic offsets may include seconds. */
export function offsetAt(timeZone: string, ms: number): number {
  const format =
    offsetFormats.get(timeZone) ??
    new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  offsetFormats.set(timeZone, format)
  // Matches GMT, GMT+05:30 or GMT-00:01:15.
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(format.format(ms)) ?? []
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -size : size
}

/** An instant as ISO 8601 in a zone, with the UTC offset of that moment. */
export function isoInZone(timeZone: string, ms: number): string {
  const offset = offsetAt(timeZone, ms)
  const local = new Date(ms + offset).toISOString().replace(/\.000Z$|Z$/, '')
  if (offset === 0) return `${local}Z`
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

/** Midnight at the start of a day such as `2026-11-21`, Unix ms. */
function startOfDay(isoDay: string, timeZone: string): number {
  const local = Date.parse(isoDay)
  // The offset at UTC midnight gives an approximate time. The offset at that time is correct.
  return local - offsetAt(timeZone, local - offsetAt(timeZone, local))
}

const day = 86_400_000

/** The date `days` days later. Counts dates, because a day in a zone may have 23 or 25 hours. */
export const addDays = (isoDay: string, days: number): string =>
  new Date(Date.parse(isoDay) + days * day).toISOString().slice(0, 10)

/** Midnight in a zone, `days` days before `now`, as ISO 8601 with the UTC offset of that day. */
export const midnightBefore = (now: number, days: number, timeZone: string): string =>
  isoInZone(timeZone, startOfDay(addDays(dateIn(now, timeZone), -days), timeZone)).replace(
    /Z$/,
    '+00:00',
  )

/** The last whole days in a zone, and as many days before them. */
export interface LastDays {
  /**
   * Midnights as ISO 8601 with the UTC offset of each day: start of the earlier days, start and end
   * of the later ones.
   */
  readonly before: string
  readonly from: string
  readonly until: string
  readonly tz: string
}

export function lastDays(now: number, days: number, tz: string): LastDays {
  const midnight = (daysAgo: number) => midnightBefore(now, daysAgo, tz)
  return { before: midnight(2 * days), from: midnight(days), until: midnight(0), tz }
}

/**
 * Start of the period of equal length before a period, Unix ms. If the period begins and ends at
 * midnight in the zone, the length counts in days, otherwise in hours.
 */
export function startBefore(start: number, end: number, timeZone: string): number {
  const [first, last] = [dateIn(start, timeZone), dateIn(end, timeZone)]
  const isMidnight = (ms: number, date: string) => startOfDay(date, timeZone) === ms
  if (!isMidnight(start, first) || !isMidnight(end, last)) return start - (end - start)
  const days = (Date.parse(last) - Date.parse(first)) / day
  return startOfDay(addDays(first, -days), timeZone)
}
