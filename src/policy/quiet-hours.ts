import { offsetAt } from '../text/time-zone.ts'
import { northAmericanAreas } from './area-code-time-zones.ts'
import { type PrefixZones, type QuietHours, weekdays } from './dial-policy-config.ts'

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

/*
 * Time zones of a number: quiet hours follow the local time of the called number.
 */

/** Zones of countries for which Intl has no time zone, or an unofficial one. */
const ownZones: Readonly<Record<string, readonly string[]>> = {
  // Ascension and Tristan da Cunha (libphonenumber separates them from Saint Helena), and Kosovo.
  AC: ['Atlantic/St_Helena'],
  TA: ['Atlantic/St_Helena'],
  XK: ['Europe/Belgrade'],
  // China has one official time. Intl also lists the unofficial time of Xinjiang.
  CN: ['Asia/Shanghai'],
}

/** Engines older than ECMA-402 of 2025 have the property `timeZones` in place of `getTimeZones`. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[]; timeZones?: string[] }

/**
 * The time zones that a number may be in: the operator's zones for the longest matching prefix,
 * else the zones of a known area code, else all zones of the country. Empty if the country is
 * unknown, as for +800. The number does not show whether a mobile phone is abroad.
 */
export function zonesOfNumber(
  number: string,
  country: string | null,
  byPrefix: PrefixZones = {},
): readonly string[] {
  const [longest] = Object.keys(byPrefix)
    .filter((prefix) => number.startsWith(prefix))
    .sort((one, other) => other.length - one.length)
  const byOperator = longest === undefined ? undefined : byPrefix[longest]
  if (byOperator) return byOperator
  if (country === null) return []
  const known = areaZones(number, country) ?? ownZones[country]
  if (known) return known
  const locale: LocaleWithZones = new Intl.Locale(`und-${country}`)
  return locale.getTimeZones?.() ?? locale.timeZones ?? []
}

/** Area codes by time zone. A key may name several zones, separated by a space. */
type AreaZones = Readonly<Record<string, string>>

/**
 * Brazil: the two digits of the area code, which mobile numbers have as well (Anatel's numbering
 * plan).
 */
const brazil: AreaZones = {
  'America/Sao_Paulo':
    '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 ' +
    '49 51 53 54 55 61 62 64',
  'America/Bahia': '71 73 74 75 77 79',
  'America/Recife': '82 83 84 85 86 87 88 89 98 99',
  'America/Recife America/Noronha': '81',
  'America/Belem': '63 91 93 94 96',
  'America/Cuiaba': '65 66',
  'America/Campo_Grande': '67',
  'America/Rio_Branco': '68',
  'America/Porto_Velho': '69',
  'America/Manaus': '92',
  'America/Boa_Vista': '95',
  'America/Manaus America/Rio_Branco': '97',
}

/**
 * Australia: the digit of the area code; two digits in the west and centre. Mobile numbers have no
 * area code.
 */
const australia: AreaZones = {
  'Australia/Sydney Australia/Lord_Howe': '2',
  'Australia/Melbourne Australia/Hobart': '3',
  'Australia/Brisbane': '7',
  'Australia/Perth Australia/Eucla': '86 89',
  'Australia/Adelaide Australia/Darwin': '87 88',
}

/** Countries with several time zones, which their area codes tell apart. */
const countries: Readonly<Record<string, { callingCode: string; areas: AreaZones }>> = {
  US: { callingCode: '+1', areas: northAmericanAreas },
  CA: { callingCode: '+1', areas: northAmericanAreas },
  BR: { callingCode: '+55', areas: brazil },
  AU: { callingCode: '+61', areas: australia },
}

/**
 * Time zones of a number's area code; `undefined` for a country that is not listed or an unknown
 * area code.
 */
function areaZones(number: string, country: string): readonly string[] | undefined {
  const known = countries[country]
  if (!known || !number.startsWith(known.callingCode)) return undefined
  const national = number.slice(known.callingCode.length)
  for (const [zones, areas] of Object.entries(known.areas)) {
    if (areas.split(' ').some((area) => national.startsWith(area))) return zones.split(' ')
  }
  return undefined
}
