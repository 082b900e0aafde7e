import { areaZones } from './area-zones.ts'
import { type PrefixZones, weekdays } from './policy.ts'

/** What Intl knows of no time zone for, or of one that nobody's clock shows. */
const ownZones: Readonly<Record<string, readonly string[]>> = {
  // Ascension and Tristan da Cunha, which libphonenumber tells from Saint Helena; Kosovo.
  AC: ['Atlantic/St_Helena'],
  TA: ['Atlantic/St_Helena'],
  XK: ['Europe/Belgrade'],
  // One time for the whole country; Xinjiang's own is unofficial.
  CN: ['Asia/Shanghai'],
}

/** `getTimeZones` is in ECMA-402 since 2025; engines before it had a property. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[]; timeZones?: string[] }

/**
 * The time zones a number may ring in: what the operator says of the longest of its prefixes, else
 * those of its area code where we know it, else all of its country. Empty when that is unknown, as
 * for +800. A mobile phone may be abroad; nobody can tell.
 */
export function zonesOf(
  number: string,
  country: string | null,
  byPrefix: PrefixZones = {},
): readonly string[] {
  const [longest] = Object.keys(byPrefix)
    .filter((prefix) => number.startsWith(prefix))
    .sort((one, other) => other.length - one.length)
  const told = longest === undefined ? undefined : byPrefix[longest]
  if (told) return told
  if (country === null) return []
  const known = areaZones(number, country) ?? ownZones[country]
  if (known) return known
  const locale: LocaleWithZones = new Intl.Locale(`und-${country}`)
  return locale.getTimeZones?.() ?? locale.timeZones ?? []
}

/** What a clock on the wall shows. */
export interface WallTime {
  readonly weekday: (typeof weekdays)[number]
  /** Minutes since the clock showed 00:00, below 1440. */
  readonly minute: number
}

/** Making a format takes 20 µs and more, and a country may have thirty zones. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** What the clocks of a zone show at an instant (ms since 1970), whatever daylight saving does. */
export function wallTime(zone: string, at: number): WallTime {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const weekday = weekdays.find((day) => day === parts.weekday?.toLowerCase())
  if (!weekday) throw new RangeError(`No weekday in ${zone} at ${at}`)
  return { weekday, minute: Number(parts.hour) * 60 + Number(parts.minute) }
}
