import { readFileSync } from 'node:fs'
import { closestWord } from '../../text/closest-match.ts'
import { isObject, parseJsonText } from '../../text/json.ts'
import { ConfigError, faultsOf, readFault } from './config-error.ts'
import {
  type Setting,
  type SettingGroup,
  type SettingTexts,
  settingHelp,
  text,
  withVariables,
} from './setting.ts'

/** The setting that names the configuration file; every command takes it. */
export const configFileSettings = withVariables({
  config: text({
    value: 'FILE',
    help: 'JSON file of settings, named like their flags; flags and variables override it (see docs/configuration.md).',
  }),
})

/** Field with the schema's URL, for editors. Not a setting. */
const schemaKey = '$schema'

/** The valid settings of a configuration file, unparsed. */
interface FileSettings {
  readonly texts: SettingTexts
  /**
   * At most one fault, which names all faulty settings. It makes the whole file invalid, because an
   * ignored setting may be a restriction; only `doctor` reads the rest.
   */
  readonly faults: readonly ConfigError[]
}

/**
 * Reads the settings of a configuration file. Error messages do not repeat values of the wrong
 * type, which may be secrets. Throws ConfigError for a file that is not a JSON object.
 */
export function readConfigFile(path: string, settings: SettingGroup): FileSettings {
  const { [schemaKey]: _, ...given } = parsed(path)
  const faults: string[] = []
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
    const isOfFiles = setting?.variable !== undefined && !Object.hasOwn(configFileSettings, name)
    if (!setting || !isOfFiles) {
      faults.push(unknownSetting(name, settings))
      continue
    }
    const settingText = textOf(value, setting)
    const fault =
      settingText === undefined ? wrongType(name, setting) : faultOf(settingText, name, setting)
    if (fault !== undefined) faults.push(fault)
    else if (settingText !== undefined && value !== null) texts[name] = settingText
  }
  if (faults.length === 0) return { texts, faults: [] }
  return { texts, faults: [new ConfigError(`Configuration file ${path}: ${faults.join(' ')}`)] }
}

/**
 * Why a value is invalid for its setting; `undefined` if it is valid. Blank values and unfilled
 * placeholders pass: given-settings.ts handles them.
 */
function faultOf(given: string, name: string, setting: Setting): string | undefined {
  if (/^\s*(\$\{.*\}\s*)?$/.test(given)) return undefined
  return faultsOf([() => setting.parse(given, name)])[0]
}

function parsed(path: string): Record<string, unknown> {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`Configuration file ${path}: ${readFault(error)}.`)
  }
  try {
    const value = parseJsonText(content)
    if (isObject(value)) return value
  } catch (error) {
    const { message } = error as Error
    // V8 quotes a part of the file, which may be a secret.
    const reason = error instanceof SyntaxError ? syntaxFault(message) : message
    throw new ConfigError(`Configuration file ${path}: ${reason}.`)
  }
  throw new ConfigError(`Configuration file ${path}: it must hold one JSON object of settings.`)
}

function syntaxFault(message: string): string {
  const where = /\(line \d+ column \d+\)/.exec(message)?.[0]
  return where === undefined ? 'it is not JSON' : `it is not JSON ${where}`
}

/** The value as a flag would take it; `undefined` for a wrong type. `null` means not set. */
function textOf(value: unknown, { json }: Setting): string | undefined {
  if (value === null) return ''
  const type = Array.isArray(value) ? 'array' : typeof value
  const taken: readonly string[] = [json.type].flat()
  if (!taken.includes(type) && !(type === 'number' && taken.includes('integer'))) return undefined
  if (Array.isArray(value)) return listText(value)
  return type === 'object' ? JSON.stringify(value) : String(value)
}

/** A list as a flag would take it: names, separated by commas. */
const listText = (items: readonly unknown[]): string | undefined =>
  items.every((item) => typeof item === 'string' && !item.includes(','))
    ? items.join(',')
    : undefined

function unknownSetting(name: string, settings: SettingGroup): string {
  if (Object.hasOwn(configFileSettings, name)) return `a file cannot name another with ${name}.`
  const inFiles = Object.keys(settings).filter((one) => settings[one]?.variable !== undefined)
  const meant = closestWord(name, inFiles)
  const hint = meant === undefined ? '.' : `; is ${meant} meant?`
  return `there is no setting ${JSON.stringify(name.slice(0, 64))}${hint}`
}

function wrongType(name: string, { json }: Setting): string {
  const words = [json.type].flat().map((type) => typeWords[type])
  const wanted = json.enum ? json.enum.map((one) => `"${one}"`).join(', ') : words.join(' or ')
  return `${name} takes ${wanted}.`
}

/** The types of values, in words. */
export const typeWords = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list of texts without commas',
  object: 'an object',
} satisfies Record<string, string>

/**
 * The JSON Schema of a configuration file, for editors. `readConfigFile` enforces the same rules.
 */
export function configFileSchema(settings: SettingGroup): Readonly<Record<string, unknown>> {
  const properties = Object.entries(settings).flatMap(([name, setting]) =>
    Object.hasOwn(configFileSettings, name) || setting.variable === undefined
      ? []
      : [[name, { description: settingHelp(setting), ...setting.json }] as const],
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of voice-agent-mcp',
    type: 'object',
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(properties) },
    additionalProperties: false,
  }
}
