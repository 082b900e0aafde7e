import { type QuietHours, weekdays } from './dial-policy-config.ts'
import { type WallTime, wallTime } from './number-zones.ts'

const dayMinutes = 24 * 60
const minuteMs = 60_000
const weekMs = 7 * dayMinutes * minuteMs

/** A zone in which quiet hours apply now. */
export interface Quiet {
  readonly zone: string
  readonly hours: QuietHours
  /** The local time, such as 22:14. */
  readonly clock: string
}

/** The first of the zones in which quiet hours apply at an instant (ms since 1970). */
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
 * The first instant from `at` on at which quiet hours apply in none of the zones; `undefined` if there
 * is none within a week. It is never too early; if clocks go forward before it, it is late by that
 * hour.
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
    // On to the minute at which the longest of them ends, and check again: others may apply then.
    then = (Math.floor(then / minuteMs) + left) * minuteMs
  }
  return undefined
}

/** Minutes until these quiet hours end, if they apply now; else 0. */
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
