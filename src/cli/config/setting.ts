import { ConfigError } from './config-error.ts'

/**
 * One setting: its command line, help, documentation and parser. To add a setting, add a record to
 * a group.
 */
export interface Setting<T = unknown> {
  /**
   * Environment variable; absent: only a flag can give the setting, not a configuration file
   * either.
   */
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
export const settingLabel = <G extends SettingGroup>(group: G, name: keyof G & string): string =>
  labelOf(name, group[name]?.variable)

const labelOf = (name: string, variable: string | undefined) =>
  variable === undefined ? `--${name}` : `--${name} (${variable})`

/** Returns a typed reader of a group's settings. */
export const settingReader =
  <T extends object>(
    group: { readonly [N in keyof T]: Setting<T[N]> },
    texts: SettingTexts,
  ): (<N extends keyof T & string>(name: N) => T[N]) =>
  (name) =>
    group[name].parse(texts[name], labelOf(name, group[name].variable))

/** Description of a setting and its values. */
export const settingHelp = ({ help, range }: Setting): string =>
  range === '' ? help : `${help} ${range.charAt(0).toUpperCase()}${range.slice(1)}`

type Spec = Pick<Setting, 'help'>
type TextSpec = Spec & Pick<Setting, 'value' | 'variable' | 'blankError' | 'isSecret'>

export const text = (
  spec: TextSpec & { range?: string; json?: SettingJson },
): Setting<string | undefined> => ({
  range: '',
  json: { type: 'string' },
  ...spec,
  parse: (given) => given,
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

/** One of a few words, which `help` explains. */
export const choice = <const T extends string>(
  spec: Spec & { choices: readonly T[]; default: T; value?: string },
): Setting<T> => ({
  ...optionalChoice({ ...spec, range: `Default ${spec.default}.` }),
  json: { type: 'string', enum: spec.choices, default: spec.default },
  parse: (given, label) =>
    given === undefined ? spec.default : parsedChoice(given, spec.choices, label),
})

/** A choice without a fixed default; `range` explains the default. */
export const optionalChoice = <const T extends string>(
  spec: Spec & { choices: readonly T[]; value?: string; range: string },
): Setting<T | undefined> => ({
  help: spec.help,
  value: spec.value ?? 'WHEN',
  range: spec.range,
  json: { type: 'string', enum: spec.choices },
  parse: (given, label) =>
    given === undefined ? undefined : parsedChoice(given, spec.choices, label),
})

function parsedChoice<T extends string>(given: string, choices: readonly T[], label: string): T {
  const found = choices.find((one) => one === given)
  if (found !== undefined) return found
  throw new ConfigError(`${label} takes ${choices.join(', ')}, not ${given}.`)
}

/** `on` or `off`, which `help` explains. The error does not repeat the text, which may be a secret. */
export const onOff = (spec: Spec & { default: 'on' | 'off' }): Setting<boolean> => ({
  help: spec.help,
  value: 'WHEN',
  range: `Default ${spec.default}.`,
  json: { type: 'string', enum: ['on', 'off'], default: spec.default },
  parse(given = spec.default, label) {
    if (given === 'on' || given === 'off') return given === 'on'
    throw new ConfigError(`${label} takes on or off.`)
  },
})

interface Bounds {
  readonly min: number
  readonly max: number
  readonly isWhole?: boolean
}

/** A number within bounds. `value` names the unit. */
export const number = <D extends number | undefined>(
  spec: Spec & Bounds & { value: string; default: D; range: string },
): Setting<number | D> => ({
  help: spec.help,
  value: spec.value,
  range: spec.range,
  json: {
    type: spec.isWhole ? 'integer' : 'number',
    minimum: spec.min,
    maximum: spec.max,
    ...(spec.default !== undefined && { default: spec.default }),
  },
  parse: (given, label) => (given === undefined ? spec.default : parsedNumber(given, spec, label)),
})

function parsedNumber(given: string, { min, max, isWhole }: Bounds, label: string): number {
  const value = Number(given)
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value
  const kind = isWhole ? 'a whole number' : 'a number'
  throw new ConfigError(`${label} takes ${kind} from ${min} to ${max}, not ${given}.`)
}

const longestSeconds = { min: 0.001, max: 3600 }

/** A time, given in seconds. The parsed value is in ms. */
export const seconds = (spec: Spec & { default: number }): Setting<number> => ({
  help: spec.help,
  value: 'SECONDS',
  range: `${longestSeconds.min} to ${longestSeconds.max} seconds; default ${spec.default}.`,
  json: {
    type: 'number',
    minimum: longestSeconds.min,
    maximum: longestSeconds.max,
    default: spec.default,
  },
  parse: (given, label) =>
    1000 * (given === undefined ? spec.default : parsedNumber(given, longestSeconds, label)),
})

const maxCount = 1_000_000

/** A count, at least 1. */
export const count = (spec: Spec & { default: number }): Setting<number> =>
  countFrom(1, spec, `1 to ${maxCount}`)

/** A maximum count; 0 means no limit. */
export const limit = (spec: Spec & { default: number }): Setting<number> =>
  countFrom(0, spec, `0 to ${maxCount}, 0 for no limit`)

const countFrom = (min: 0 | 1, spec: Spec & { default: number }, range: string) =>
  number({
    ...{ ...spec, min, range: `${range}; default ${spec.default}.` },
    value: 'COUNT',
    max: maxCount,
    isWhole: true,
  })

/** The `--json` switch, for commands that print a result. */
export const jsonSettings = {
  json: flag('Print JSON, for programs.'),
}
