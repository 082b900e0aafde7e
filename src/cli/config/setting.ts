import * as z from 'zod/mini'
import type { AddressRange } from '../../server/transports/http-admission.ts'
import { ConfigError } from './config-error.ts'

/**
 * One setting: its command line, help, documentation and parser. To add a setting, add a record to
 * a group.
 */
export interface Setting<T = unknown> {
  /** Environment variable; absent: only the flag can give the setting, no variable and no file. */
  readonly variable?: string
  /** The flag's placeholder in the help, one word; empty for a switch. */
  readonly value: string
  /** Effect of the setting. */
  readonly help: string
  /** Values with unit, bounds and default; empty if `help` has them. */
  readonly range: string
  /** JSON Schema in a configuration file, with bounds and default. */
  readonly json: SettingJson
  /** If true, the value is never shown. */
  readonly isSecret?: boolean
  /** Error for a blank value. Other blank settings count as not set. */
  readonly blankError?: string
  /** Parses the text, or returns the default. Throws ConfigError. */
  readonly parse: (text: string | undefined, label: string) => T
}

/** The form of a setting in a configuration file, as JSON Schema. */
interface SettingJson {
  readonly type: SettingType | readonly SettingType[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: { readonly type: 'string' }
  readonly default?: string | number | boolean
}

type SettingType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/** Settings by flag name. */
export type SettingGroup = Readonly<Record<string, Setting>>

/**
 * Lets environment variables and configuration files give the settings, too. A variable is named
 * after the flag: `VOICE_AGENT_BASE_URL` for `--base-url`.
 */
export const withVariables = <G extends SettingGroup>(group: G): G =>
  Object.fromEntries(
    Object.entries(group).map(([name, setting]) => [
      name,
      { variable: `VOICE_AGENT_${name.toUpperCase().replaceAll('-', '_')}`, ...setting },
    ]),
  ) as G

/** Unparsed values of settings, by flag name. */
export type SettingTexts = Readonly<Record<string, string | undefined>>

/** Name of a setting in messages. */
export function settingLabel<G extends SettingGroup>(group: G, name: keyof G & string): string {
  const variable = group[name]?.variable
  return variable === undefined ? `--${name}` : `--${name} (${variable})`
}

/** Returns a typed reader of a group's settings. */
export const settingReader =
  <T extends object>(
    group: { readonly [N in keyof T]: Setting<T[N]> },
    texts: SettingTexts,
  ): (<N extends keyof T & string>(name: N) => T[N]) =>
  (name) =>
    group[name].parse(texts[name], settingLabel(group, name))

/** Description of a setting and its values. */
export const settingHelp = ({ help, range }: Setting): string =>
  range === '' ? help : `${help} ${range.charAt(0).toUpperCase()}${range.slice(1)}`

type Spec = Pick<Setting, 'help'>
type TextSpec = Spec & Pick<Setting, 'value' | 'variable' | 'blankError' | 'isSecret'>

/** A text of at most `maxLength` characters. */
export const text = ({
  maxLength = Number.POSITIVE_INFINITY,
  ...spec
}: TextSpec & {
  range?: string
  json?: SettingJson
  maxLength?: number
}): Setting<string | undefined> => ({
  range: '',
  json: { type: 'string' },
  ...spec,
  parse(given, label) {
    if (given === undefined || given.length <= maxLength) return given
    throw new ConfigError(`${label} takes at most ${maxLength} characters.`)
  },
})

/** Names, separated by commas, as one text; a configuration file may give them as a list. */
export const names = (spec: Spec): Setting<string | undefined> =>
  text({ ...spec, value: 'NAMES', json: { type: ['string', 'array'], items: { type: 'string' } } })

/** A switch. Its variable takes true or false. */
export const flag = (help: string): Setting<boolean> => ({
  help,
  value: '',
  range: '',
  json: { type: 'boolean', default: false },
  parse(given = 'false', label) {
    const word = given.toLowerCase()
    if (['true', '1'].includes(word)) return true
    if (['false', '0'].includes(word)) return false
    throw new ConfigError(`${label} takes true or false.`)
  },
})

/** Names, separated by commas. */
export const list = (spec: Spec): Setting<readonly string[]> => ({
  ...spec,
  value: 'NAMES',
  range: 'Separated by commas.',
  json: { type: 'array', items: { type: 'string' } },
  parse: (given) =>
    (given ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
})

/** Addresses and networks, separated by commas: `10.0.0.0/8, ::1`. */
export const addressRanges = (spec: Spec): Setting<readonly AddressRange[]> => {
  const texts = list(spec)
  return {
    ...texts,
    value: 'ADDRESSES',
    range: 'Addresses and networks such as 10.0.0.0/8, separated by commas.',
    parse: (given, label) => texts.parse(given, label).map((text) => addressRange(text, label)),
  }
}

// zod instead of node:net, which a start over stdio does not load.
const Ipv4Range = z.union([z.ipv4(), z.cidrv4()])
const Ipv6Range = z.union([z.ipv6(), z.cidrv6()])

function addressRange(text: string, label: string): AddressRange {
  const isIpv4 = Ipv4Range.safeParse(text).success
  if (!isIpv4 && !Ipv6Range.safeParse(text).success) {
    throw new ConfigError(
      `${label} takes addresses such as 10.0.0.5 and networks such as 10.0.0.0/8 or fd00::/8, not ${text}.`,
    )
  }
  const [address = '', prefix = isIpv4 ? 32 : 128] = text.split('/')
  return { address, family: isIpv4 ? 'ipv4' : 'ipv6', prefix: Number(prefix) }
}

/** One of a few words, which `help` explains. */
export const choice = <const T extends string>({
  default: usual,
  ...spec
}: Spec & { choices: readonly T[]; default: T; value?: string }): Setting<T> => {
  const setting = optionalChoice({ ...spec, range: `Default ${usual}.` })
  return {
    ...setting,
    json: { ...setting.json, default: usual },
    parse: (given, label) => setting.parse(given, label) ?? usual,
  }
}

/** A choice without a fixed default; `range` explains the default. */
export const optionalChoice = <const T extends string>({
  choices,
  value = 'WHEN',
  ...spec
}: Spec & { choices: readonly T[]; value?: string; range: string }): Setting<T | undefined> => ({
  ...spec,
  value,
  json: { type: 'string', enum: choices },
  parse(given, label) {
    const found = choices.find((one) => one === given)
    if (found !== undefined || given === undefined) return found
    throw new ConfigError(`${label} takes ${choices.join(', ')}, not ${given}.`)
  },
})

/** `on` or `off`, which `help` explains. The error does not repeat the text, which may be a secret. */
export const onOff = (spec: Spec & { default: 'on' | 'off' }): Setting<boolean> => ({
  ...choice({ ...spec, choices: ['on', 'off'] }),
  parse(given = spec.default, label) {
    if (given === 'on' || given === 'off') return given === 'on'
    throw new ConfigError(`${label} takes on or off.`)
  },
})

type NumberSpec<D> = Pick<Setting, 'help' | 'value' | 'range'> & {
  min: number
  max: number
  isWhole?: boolean
  default: D
}

/** A number within bounds. `value` names the unit. */
export const number = <D extends number | undefined>({
  min,
  max,
  isWhole,
  default: usual,
  ...spec
}: NumberSpec<D>): Setting<number | D> => ({
  ...spec,
  json: {
    type: isWhole ? 'integer' : 'number',
    minimum: min,
    maximum: max,
    ...(usual !== undefined && { default: usual }),
  },
  parse(given, label) {
    if (given === undefined) return usual
    const value = Number(given)
    if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value
    const kind = isWhole ? 'a whole number' : 'a number'
    throw new ConfigError(`${label} takes ${kind} from ${min} to ${max}, not ${given}.`)
  },
})

/** A port. */
export const portNumber = (spec: Pick<Setting, 'help' | 'range'>) =>
  number({ ...spec, value: 'PORT', min: 0, max: 65_535, isWhole: true, default: undefined })

const longestSeconds = { min: 0.001, max: 3600 }

/** A time, given in seconds. The parsed value is in ms. */
export const seconds = (spec: Spec & { default: number }): Setting<number> => {
  const range = `${longestSeconds.min} to ${longestSeconds.max} seconds; default ${spec.default}.`
  const setting = number({ ...spec, ...longestSeconds, value: 'SECONDS', range })
  return { ...setting, parse: (given, label) => 1000 * setting.parse(given, label) }
}

/** A point in time, given as a date or as a time before now. The parsed value is in Unix ms. */
export const time = (help: string): Setting<number | undefined> => ({
  value: 'TIME',
  help,
  range: 'A time ago, such as 30m, 12h or 7d, or a date, such as 2026-11-22 or 2026-11-22T08:00Z.',
  json: { type: 'string' },
  parse(given, label) {
    if (given === undefined) return undefined
    const [, amount, unit = ''] = /^(\d{1,6})([a-z])$/.exec(given) ?? []
    if (amount !== undefined && isUnit(unit)) return Date.now() - Number(amount) * unitsMs[unit]
    const at = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
    if (Number.isFinite(at)) return at
    throw new ConfigError(
      `${label} takes a time ago, such as 12h or 7d, or a date, such as 2026-11-22T08:00Z.`,
    )
  },
})

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

const isUnit = (unit: string): unit is keyof typeof unitsMs => Object.hasOwn(unitsMs, unit)

const maxCount = 1_000_000

/** A count, at least 1. */
export const count = (spec: Spec & { default: number }): Setting<number> =>
  countFrom(1, spec, `1 to ${maxCount}`)

/** A maximum count; 0 means no limit. */
export const limit = (spec: Spec & { default: number }): Setting<number> =>
  countFrom(0, spec, `0 to ${maxCount}, 0 for no limit`)

const countFrom = (min: 0 | 1, spec: Spec & { default: number }, range: string) =>
  number({
    ...{ ...spec, min, max: maxCount, isWhole: true, value: 'COUNT' },
    range: `${range}; default ${spec.default}.`,
  })

/** The `--json` switch, for commands that print a result. */
export const jsonSettings = {
  json: flag('Print JSON, for programs.'),
}
