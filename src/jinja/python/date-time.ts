import type { Runtime } from './runtime.ts'
import { repr } from './to-text.ts'
import { Callable, PyObject, textOf, type Value } from './values.ts'

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

const pad = (value: number, width = 2, fill = '0'): string => String(value).padStart(width, fill)

/** Steps per two characters of a pattern: `%c` writes nine more. */
const stepsPerDirective = 8

/** Steps for looking up a time zone. */
const newZone = 2000

/** A date and time of day, with its UTC offset if that is known (`datetime.datetime`). */
export class DateTime extends PyObject {
  readonly typeName = 'datetime.datetime'
  /** Local date and time, stored as if it were UTC. */
  private readonly wall: Date
  private readonly offsetMinutes: number | null
  private readonly zone: string | null
  /** Cached, because lookups in time zone tables are slow. */
  private nameOfZone: string | undefined

  constructor(wall: Date, offsetMinutes: number | null, zone: string | null = null) {
    super()
    this.wall = wall
    this.offsetMinutes = offsetMinutes
    this.zone = zone
  }

  /** The same instant in an IANA time zone; null if the zone is unknown. */
  inZone(runtime: Runtime, zone: string): DateTime | null {
    runtime.spend(newZone)
    const moment = this.wall.getTime() - (this.offsetMinutes ?? 0) * 60_000
    const offset = zoneOffset(zone, moment)
    return offset === null ? null : new DateTime(new Date(moment + offset * 60_000), offset, zone)
  }

  /** `strftime(pattern)`, in English like Python's C locale. */
  format(runtime: Runtime, pattern: string): string {
    runtime.spend(stepsPerDirective * (pattern.length >> 1))
    const text = this.expand(pattern)
    runtime.allowLength(text.length)
    return text
  }

  private expand(pattern: string): string {
    return pattern.replace(/%(-?)([a-zA-Z%])/g, (whole, dash: string, letter: string) => {
      const text = this.directive(letter)
      if (text === null) return whole
      return dash === '' ? text : text.replace(/^0+(?=\d)/, '')
    })
  }

  private directive(letter: string): string | null {
    const { wall } = this
    const composed = composites[letter]
    if (composed !== undefined) return this.expand(composed)
    const read = fields[letter]
    if (read !== undefined) return read(wall)
    if (letter === 'z') return this.offsetText('')
    if (letter === 'Z') return this.offsetMinutes === 0 ? 'UTC' : this.zoneName()
    return letter === '%' ? '%' : null
  }

  private zoneName(): string {
    this.nameOfZone ??= this.findZoneName()
    return this.nameOfZone
  }

  private findZoneName(): string {
    if (this.zone === null) return this.offsetMinutes === null ? '' : `UTC${this.offsetText(':')}`
    const moment = this.wall.getTime() - (this.offsetMinutes ?? 0) * 60_000
    const format = new Intl.DateTimeFormat('en-US', { timeZone: this.zone, timeZoneName: 'short' })
    const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')
    return name?.value ?? this.zone
  }

  private offsetText(separator: string): string {
    if (this.offsetMinutes === null) return ''
    const minutes = Math.abs(this.offsetMinutes)
    const sign = this.offsetMinutes < 0 ? '-' : '+'
    return `${sign}${pad(Math.floor(minutes / 60))}${separator}${pad(minutes % 60)}`
  }

  private iso(separator: string): string {
    const millis = this.wall.getUTCMilliseconds()
    const fraction = millis === 0 ? '' : `.${pad(millis, 3)}000`
    return this.expand(`%Y-%m-%d${separator}%H:%M:%S`) + fraction + this.offsetText(':')
  }

  override attribute(name: string, runtime: Runtime): Value | undefined {
    const number = numbers.get(name)?.(this.wall)
    if (number !== undefined) return BigInt(number)
    if (name === 'isoformat') return new Callable(name, () => this.iso('T'))
    if (name !== 'strftime') return undefined
    return new Callable(name, (_, { positional: [pattern = ''] }) =>
      this.format(
        runtime,
        textOf(pattern) ?? runtime.fail('TypeError: strftime() argument must be str'),
      ),
    )
  }

  override repr(): string {
    return this.iso(' ')
  }
}

/** A map, not an object, because the template supplies the names to look up. */
const numbers: ReadonlyMap<string, (wall: Date) => number> = new Map([
  ['year', (wall: Date) => wall.getUTCFullYear()],
  ['month', (wall: Date) => wall.getUTCMonth() + 1],
  ['day', (wall: Date) => wall.getUTCDate()],
  ['hour', (wall: Date) => wall.getUTCHours()],
  ['minute', (wall: Date) => wall.getUTCMinutes()],
  ['second', (wall: Date) => wall.getUTCSeconds()],
])

const dayOfYear = (wall: Date): number =>
  Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / 86_400_000)

const fields: Readonly<Record<string, (wall: Date) => string>> = {
  Y: (wall) => String(wall.getUTCFullYear()),
  y: (wall) => pad(wall.getUTCFullYear() % 100),
  m: (wall) => pad(wall.getUTCMonth() + 1),
  d: (wall) => pad(wall.getUTCDate()),
  e: (wall) => pad(wall.getUTCDate(), 2, ' '),
  H: (wall) => pad(wall.getUTCHours()),
  I: (wall) => pad(wall.getUTCHours() % 12 || 12),
  M: (wall) => pad(wall.getUTCMinutes()),
  S: (wall) => pad(wall.getUTCSeconds()),
  f: (wall) => `${pad(wall.getUTCMilliseconds(), 3)}000`,
  p: (wall) => (wall.getUTCHours() < 12 ? 'AM' : 'PM'),
  A: (wall) => weekdays[wall.getUTCDay()] ?? '',
  a: (wall) => (weekdays[wall.getUTCDay()] ?? '').slice(0, 3),
  B: (wall) => months[wall.getUTCMonth()] ?? '',
  b: (wall) => (months[wall.getUTCMonth()] ?? '').slice(0, 3),
  h: (wall) => (months[wall.getUTCMonth()] ?? '').slice(0, 3),
  j: (wall) => pad(dayOfYear(wall) + 1, 3),
  w: (wall) => String(wall.getUTCDay()),
  u: (wall) => String(wall.getUTCDay() || 7),
  U: (wall) => pad(Math.floor((dayOfYear(wall) + 7 - wall.getUTCDay()) / 7)),
  W: (wall) => pad(Math.floor((dayOfYear(wall) + 7 - ((wall.getUTCDay() + 6) % 7)) / 7)),
}

const composites: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  T: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
}

/** UTC offset of a zone at an instant, minutes; null if the zone is unknown. */
function zoneOffset(zone: string, moment: number): number | null {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    const part = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')
    const match = /([+-])(\d\d):(\d\d)/.exec(part?.value ?? '')
    if (match === null) return 0
    const minutes = Number(match[2]) * 60 + Number(match[3])
    return match[1] === '-' ? -minutes : minutes
  } catch {
    return null
  }
}

const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d:?\d\d)?$/

/** Parses an ISO 8601 date, optionally with time and offset; null if it is invalid. */
function parseIsoDate(text: string): DateTime | null {
  const match = isoPattern.exec(text.trim())
  if (match === null) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match
  const time = [Number(hour), Number(minute), Number(second)] as const
  const millis = Number(fraction.padEnd(3, '0').slice(0, 3))
  const wall = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day), ...time, millis))
  // Date.UTC accepts 30 February and minute 70; the comparison detects both.
  const same = wall.getUTCMonth() === Number(month) - 1 && wall.getUTCDate() === Number(day)
  if (!same || time[0] > 23 || time[1] > 59 || time[2] > 59) return null
  return new DateTime(wall, offset === undefined ? null : offsetMinutes(offset))
}

function offsetMinutes(offset: string): number {
  if (offset === 'Z' || offset === 'z') return 0
  const digits = offset.replace(':', '')
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3))
  return digits.startsWith('-') ? -minutes : minutes
}

/** An instant in UTC, from ms since 1970; null outside the range of dates. */
export function fromEpoch(milliseconds: number): DateTime | null {
  const wall = new Date(milliseconds)
  return Number.isNaN(wall.getTime()) ? null : new DateTime(wall, 0)
}

/** The instant of an ISO date, of seconds since 1970, or of a date; fails for other values. */
export function toDateTime(runtime: Runtime, value: Value): DateTime {
  if (value instanceof DateTime) return value
  const text = textOf(value)
  const numeric = typeof value === 'bigint' || typeof value === 'number'
  const found =
    text !== null ? parseIsoDate(text) : numeric ? fromEpoch(Number(value) * 1000) : null
  return found ?? runtime.fail(`ValueError: not a date: ${repr(runtime, value)}`)
}
