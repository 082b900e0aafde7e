import packageJson from '../../../package.json' with { type: 'json' }
import { toolSummaries } from '../../server/tool-summaries.ts'
import { exposedTools, scopeConfig, usableConfig } from '../config/service-settings.ts'
import { jsonSettings, settingReader } from '../config/setting.ts'
import { defineCommand, ending } from './command.ts'
import { originText, serverSettings, shownSettings } from './config.ts'
import { http } from './http.ts'
import { uninstallSettings, usualServerName } from './install.ts'
import { sandbox } from './sandbox.ts'

const ownSettings = { ...jsonSettings, name: uninstallSettings.name }

export const doctor = defineCommand({
  name: 'doctor',
  about:
    'Find out what does not work, and what to do. Exits with 1 on errors only. Prints no secrets.',
  examples: ['doctor', 'doctor --json', 'doctor --config settings.json'],
  settings: { ...serverSettings, ...ownSettings },
  readsDespiteFaults: true,
  read(input) {
    const { texts, env, faults, warnings } = input
    const own = settingReader(ownSettings, texts)
    const usable = usableConfig(texts, env, faults, [
      () => http.configure(input),
      () => sandbox.configure(input),
      () => exposedTools(toolSummaries, scopeConfig(texts).exposure),
    ])
    const checked = {
      ...usable,
      warnings,
      env,
      settings: shownSettings(input).map((setting) => ({
        ...setting,
        from: originText(setting, texts.config),
      })),
      secrets: Object.keys(serverSettings).flatMap(
        (name) => (serverSettings[name]?.isSecret && texts[name]) || [],
      ),
      serverName: own('name') ?? usualServerName,
      wantsJson: own('json'),
      version: packageJson.version,
    }
    return { checked }
  },
  async start({ checked }) {
    const { runDoctor } = await import('../doctor/run.ts')
    return ending(runDoctor(checked))
  },
})
