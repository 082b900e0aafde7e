import type { HostContext } from './host.ts'

interface FixedOptions {
  readonly decimals?: number
  readonly isSigned?: boolean
  /** The value is in hundredths: 5.5 is `5.5%`. */
  readonly isPercent?: boolean
}

/** Numbers and times in English, like the words of the views, as the user's region writes them. */
export type Formats = ReturnType<typeof createFormats>

export function createFormats({ locale, timeZone }: Pick<HostContext, 'locale' | 'timeZone'>) {
  const language = englishOf(locale ?? navigator.language)
  const zone = isZone(timeZone) ? timeZone : undefined
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const exact = new Intl.NumberFormat(language, { maximumFractionDigits: 12 })
  const instant = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(language, { ...options, timeZone: zone })
    return (iso: string): string => {
      const ms = Date.parse(iso)
      return Number.isNaN(ms) ? iso : format.format(ms)
    }
  }
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
  const day = wallFormat(language, { year: 'numeric', month: 'short', day: 'numeric' })
  const languages = new Intl.DisplayNames(language, { type: 'language' })
  const walls = {
    month: wallFormat(language, { year: 'numeric', month: 'short' }),
    day: wallFormat(language, { weekday: 'short', day: 'numeric', month: 'short' }),
    date: wallFormat(language, { day: 'numeric', month: 'short' }),
    time: wallFormat(language, { hour: '2-digit', minute: '2-digit' }),
    hour: wallFormat(language, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
    }),
  }
  return {
    number: number.format,
    /** A number that is not rounded. */
    exact: exact.format,
    /** A number with a fixed count of decimals. */
    fixed: (
      value: number,
      { decimals = 0, isSigned = false, isPercent = false }: FixedOptions = {},
    ) =>
      new Intl.NumberFormat(language, {
        ...{ minimumFractionDigits: decimals, maximumFractionDigits: decimals },
        ...(isSigned && { signDisplay: 'exceptZero' }),
        ...(isPercent && { style: 'unit', unit: 'percent' }),
      })
        .format(value)
        .replace('-', '\u2212'),
    /**
     * A wall-clock time as written, whatever its zone. `date`: the day without its weekday. Invalid
     * text is returned unchanged.
     */
    wall: (iso: string, precision: keyof typeof walls) => walls[precision](iso),
    /**
     * A range of two instants, in the user's time zone or in another. Whole days have no times of
     * day: `1–20 Nov 2026`.
     */
    range(start: string, end: string, other?: string): string {
      const [from, until] = [Date.parse(start), Date.parse(end)]
      if (!(from < until)) return `${start} – ${end}`
      const timeZone = other !== undefined && isZone(other) ? other : zone
      return rangeText(from, until, { locale: language, timeZone })
    },
    /** An instant in the user's time zone. */
    moment: instant({ dateStyle: 'medium', timeStyle: 'short' }),
    /** An instant in the user's time zone, with the zone's name. */
    momentInZone: instant({
      ...{ year: 'numeric', month: 'short', day: 'numeric' },
      ...{ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
    }),
    /** The time of day of an instant, in the user's time zone. */
    time: instant({ timeStyle: 'short' }),
    /** A duration such as `1:23` or `1:02:03`. */
    length(seconds: number): string {
      const whole = Math.max(0, Math.round(seconds))
      const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
      const shown = parts[0] ? parts : parts.slice(1)
      return shown.map((part, at) => (at ? String(part).padStart(2, '0') : part)).join(':')
    },
    /** A date without a time, such as `20 Nov 2026`. */
    date: (iso: string) => day(`${iso}T00:00`),
    /** A duration in one line, such as `5 min 30 s`. */
    duration(seconds: number): string {
      if (!(seconds >= 60)) return `${exact.format(seconds)}\u00a0s`
      const whole = Math.round(seconds)
      const parts = {
        h: Math.floor(whole / 3600),
        min: Math.floor(whole / 60) % 60,
        s: whole % 60,
      }
      return Object.entries(parts)
        .flatMap(([unit, value]) => (value > 0 ? [`${value}\u00a0${unit}`] : []))
        .join('\u00a0')
    },
    /** A ratio, such as `50%` for 0.5. */
    percent: percent.format,
    /** Name of a language code, such as `British English`; unknown codes are returned unchanged. */
    language: (code: string): string => attempt(() => languages.of(code)) ?? code,
  }
}

/** English of the region that a language tag names or implies: `en-DE` for `de`. */
function englishOf(locale: string): string {
  try {
    const english = `en-${new Intl.Locale(locale).maximize().region}`
    // The browser knows no English of this region.
    return new Intl.NumberFormat(english).resolvedOptions().locale === 'en' ? 'en-GB' : english
  } catch {
    return 'en-GB'
  }
}

/** Formats a time in the zone that it was given in, whatever the user's zone. */
function wallFormat(locale: string | undefined, options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  return (iso: string): string => {
    const [wall] = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.exec(iso) ?? []
    return wall ? format.format(Date.parse(`${wall}Z`)) : iso
  }
}

/** Minimum length of a range that is shown without times of day, ms. */
const longRange = 2 * 24 * 3_600_000

/** Formats a range. Whole days end with the last day, not with the midnight after it. */
function rangeText(
  from: number,
  until: number,
  { locale, timeZone }: { locale: string | undefined; timeZone: string | undefined },
): string {
  const clock = new Intl.DateTimeFormat('en', { timeZone, timeStyle: 'medium', hourCycle: 'h23' })
  const isMidnight = (ms: number) => clock.format(ms) === '00:00:00'
  const isDays = until - from >= longRange || (isMidnight(from) && isMidnight(until))
  const format = new Intl.DateTimeFormat(locale, {
    ...{ timeZone, dateStyle: 'medium' },
    ...(!isDays && { timeStyle: 'short' }),
  })
  return format.formatRange(from, isDays ? until - 1 : until)
}

const isZone = (timeZone: string | undefined) =>
  attempt(() => new Intl.DateTimeFormat('en', { timeZone })) !== undefined

/** A value that Intl makes; `undefined` if it refuses. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
