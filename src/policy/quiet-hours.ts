import { offsetAt } from '../text/time-zone.ts'
import { type QuietHours, weekdays } from './dial-policy-config.ts'

const dayMinutes = 24 * 60
const minuteMs = 60_000
const weekMs = 7 * dayMinutes * minuteMs

/** A time zone in which quiet hours are in effect. */
interface Quiet {
  readonly zone: string
  readonly hours: QuietHours
  /** Local time, such as 22:14. */
  readonly clock: string
}

/** The first zone with quiet hours in effect at the instant `at`, ms since 1970. */
export function quietAt(
  at: number,
  zones: readonly string[],
  quietHours: readonly QuietHours[],
): Quiet | undefined {
  for (const zone of zones) {
    const now = wallTime(zone, at)
    const hours = quietHours.find((one) => minutesLeft(one, now) > 0)
    if (hours) return { zone, hours, clock: clockOf(now.minute) }
  }
  return undefined
}

/**
 * The first instant from `at` on that is outside the quiet hours of every zone; `undefined` if
 * there is none within a week. It is never early. It is an hour late if the clocks go forward
 * before it.
 */
export function quietUntil(
  at: number,
  zones: readonly string[],
  quietHours: readonly QuietHours[],
): number | undefined {
  for (let then = at; then <= at + weekMs; ) {
    const left = Math.max(
      ...zones.map((zone) => {
        const now = wallTime(zone, then)
        return Math.max(...quietHours.map((hours) => minutesLeft(hours, now)))
      }),
    )
    if (left <= 0) return then
    // Advances to the end of the longest quiet hours, and checks again: other quiet hours may have
    // begun by then.
    then = (Math.floor(then / minuteMs) + left) * minuteMs
  }
  return undefined
}

/** Minutes until these quiet hours end; 0 if they are not in effect. */
function minutesLeft({ from, to, days }: QuietHours, { weekday, minute }: WallTime): number {
  const start = minuteOf(from)
  const end = minuteOf(to)
  const begins = (day: WallTime['weekday'] | undefined) =>
    !days || (day !== undefined && days.includes(day))
  if (start < end) return begins(weekday) && minute >= start && minute < end ? end - minute : 0
  if (minute >= start && begins(weekday)) return dayMinutes - minute + end
  return minute < end && begins(dayBefore(weekday)) ? end - minute : 0
}

const dayBefore = (day: WallTime['weekday']) => weekdays.at(weekdays.indexOf(day) - 1)

function minuteOf(clock: string): number {
  const [hours, minutes] = clock.split(':')
  return Number(hours) * 60 + Number(minutes)
}

const clockOf = (minute: number) =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':')

/** Weekday and time of day in a zone. */
interface WallTime {
  readonly weekday: (typeof weekdays)[number]
  /** Minutes since 00:00, below 1440. */
  readonly minute: number
}

/** Local time in a zone at an instant (ms since 1970), including daylight saving. */
export function wallTime(zone: string, at: number): WallTime {
  const local = new Date(at + offsetAt(zone, at))
  // `getUTCDay` counts from Sunday, `weekdays` from Monday.
  const weekday = weekdays.at(local.getUTCDay() - 1)
  if (!weekday) throw new RangeError(`No weekday in ${zone} at ${at}`)
  return { weekday, minute: local.getUTCHours() * 60 + local.getUTCMinutes() }
}
