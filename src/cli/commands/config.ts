import { allSettings } from '../config/command-line.ts'
import { exitCodes } from '../config/exit-codes.ts'
import type { GivenSettings, SettingOrigin } from '../config/given-settings.ts'
import { jsonSettings, type Setting, settingLabel, settingReader } from '../config/setting.ts'
import { defineCommand, ending } from './command.ts'
import { http } from './http.ts'
import { sandbox } from './sandbox.ts'
import { stdio } from './stdio.ts'

export const serverSettings = allSettings([stdio, http, sandbox])

export const config = defineCommand({
  name: 'config',
  about: 'Print every setting in effect, and where it comes from. Secrets are not shown.',
  examples: ['config', 'config --config settings.json --json'],
  settings: { ...serverSettings, ...jsonSettings },
  read(input) {
    const { texts } = input
    // Throws the same errors as the commands that use these settings.
    const served = http.configure(input)
    const simulated = sandbox.configure(input)
    const inEffect: Readonly<Record<string, string>> = {
      'state-dir': served.state.dir,
      'sandbox-db': simulated.sandbox.file,
      'log-level': served.log.level,
      port: `${served.listen.port} (http), ${simulated.listen.port} (sandbox)`,
    }
    return {
      wantsJson: settingReader(jsonSettings, texts)('json'),
      settings: effectiveSettings(input).map((setting) => ({
        ...setting,
        value: setting.value ?? inEffect[setting.name] ?? null,
      })),
      file: texts.config,
    }
  },
  async start({ wantsJson, settings, file }) {
    const text = wantsJson ? JSON.stringify(settings, undefined, 2) : settingList(settings, file)
    process.stdout.write(`${text}\n`)
    return ending(Promise.resolve(exitCodes.done))
  },
})

/** One line per setting: name, value and origin. */
function settingList(settings: readonly EffectiveSetting[], file = ''): string {
  const rows = settings.map((setting) => {
    const { name, value } = setting
    return {
      name,
      value: value ?? unsetText(serverSettings[name]),
      from: originText(setting, file),
    }
  })
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  return rows
    .map(({ name, value, from }) => `${name.padEnd(nameWidth)}  ${value.padEnd(32)}  ${from}`)
    .join('\n')
}

/** Effective value if a setting without a fixed default is not set, as its `range` describes it. */
const unsetText = (setting: Setting | undefined) =>
  /^Default: (.+)\.$/.exec(setting?.range ?? '')?.[1] ?? 'not set'

/** A setting in effect. */
interface EffectiveSetting {
  readonly name: string
  /**
   * The value in the form of a command-line argument, wherever it was set; secrets are masked.
   * `null`: not set and without a fixed default; the setting's help says what then applies.
   */
  readonly value: string | null
  readonly origin: SettingOrigin | 'default'
  readonly variable: string
}

/** Shown instead of a secret. */
const masked = '(set, not shown)'

/**
 * Every setting of a configuration file, with its value and origin. Throws ConfigError for an
 * invalid value.
 */
function effectiveSettings(given: GivenSettings): EffectiveSetting[] {
  for (const [name, setting] of Object.entries(serverSettings)) {
    if (setting.variable !== undefined)
      setting.parse(given.texts[name], settingLabel(serverSettings, name))
  }
  return shownSettings(given)
}

/** Every setting with its value and origin, including invalid values. */
export const shownSettings = ({ texts, origins }: GivenSettings): EffectiveSetting[] =>
  Object.entries(serverSettings).flatMap(([name, setting]) => {
    const { variable } = setting
    if (variable === undefined) return []
    const value = shownValue(setting, texts[name])
    return [{ name, value, origin: origins[name] ?? 'default', variable }]
  })

/** Origin of a value, for people. */
export const originText = ({ name, variable, origin }: EffectiveSetting, file = ''): string =>
  ({ flag: `--${name}`, variable, file, default: 'default' })[origin]

function shownValue({ isSecret, json }: Setting, text: string | undefined): string | null {
  if (text === undefined) return json.default === undefined ? null : String(json.default)
  return isSecret ? masked : text
}
