import { type QuietHours, weekdays } from './policy.ts'
import { type WallTime, wallTime } from './zones.ts'

const dayMinutes = 24 * 60
const minuteMs = 60_000
const weekMs = 7 * dayMinutes * minuteMs

/** A zone in which it is a quiet time now. */
export interface Quiet {
  readonly zone: string
  readonly hours: QuietHours
  /** What the clock there shows, such as 22:14. */
  readonly clock: string
}

/** The first of the zones in which nobody is to be called at that instant (ms since 1970). */
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
 * The first instant from `at` on that is quiet in none of the zones; `undefined` when there is
 * none within a week. Where clocks go forward meanwhile it may be that much late, never early.
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
    // On to the whole minute at which what lasts longest by now would end; then look again.
    then = (Math.floor(then / minuteMs) + left) * minuteMs
  }
  return undefined
}

/** Minutes by the clock until the quiet time ends that it is now; 0 when it is none. */
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
