import { areaZones } from './area-zones.ts'
import { type PrefixZones, weekdays } from './dial-policy-config.ts'

/** Countries for which Intl has no time zone, or one that is not in official use. */
const ownZones: Readonly<Record<string, readonly string[]>> = {
  // Ascension and Tristan da Cunha, which libphonenumber distinguishes from Saint Helena; Kosovo.
  AC: ['Atlantic/St_Helena'],
  TA: ['Atlantic/St_Helena'],
  XK: ['Europe/Belgrade'],
  // One official time; Intl also gives the unofficial one of Xinjiang.
  CN: ['Asia/Shanghai'],
}

/** `getTimeZones` is in ECMA-402 since 2025; earlier engines have a property instead. */
type LocaleWithZones = Intl.Locale & { getTimeZones?(): string[]; timeZones?: string[] }

/**
 * The time zones a number may be in: those that the operator gives for its longest matching prefix,
 * else those of its area code if it is known here, else all of its country. Empty when its country is
 * unknown, as for +800. A mobile phone abroad is not recognised.
 */
export function zonesOf(
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

/** The local time in a zone. */
export interface WallTime {
  readonly weekday: (typeof weekdays)[number]
  /** Minutes since the clock showed 00:00, below 1440. */
  readonly minute: number
}

/** Kept, because making one takes 20 µs and more, and a country may have thirty zones. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time in a zone at an instant (ms since 1970), with daylight saving. */
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
