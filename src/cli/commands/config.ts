import { allSettings } from '../config/command-line.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { type EffectiveSetting, effectiveSettings, originText } from '../config/given-settings.ts'
import { jsonSettings, type Setting, settingReader } from '../config/setting.ts'
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
      settings: effectiveSettings(serverSettings, input).map((setting) => ({
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
