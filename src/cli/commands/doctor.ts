import packageJson from '../../../package.json' with { type: 'json' }
import { originText, shownSettings } from '../../config/effective-settings.ts'
import { exposedTools } from '../../config/exposed-tools.ts'
import { uninstallSettings, usualServerName } from '../../config/install.ts'
import { jsonSettings } from '../../config/json-flag.ts'
import { scopeConfig } from '../../config/scope.ts'
import { settingReader } from '../../config/setting.ts'
import { usableConfig } from '../../config/usable-config.ts'
import { toolSummaries } from '../../service/tool-summaries.ts'
import { wrapped } from '../../text/wrapped.ts'
import { textWidth } from '../text-width.ts'
import { defineCommand, ending } from './command.ts'
import { serverSettings } from './config.ts'
import { http } from './http.ts'
import { sandbox } from './sandbox.ts'

const ownSettings = { ...jsonSettings, name: uninstallSettings.name }

export const doctor = defineCommand({
  name: 'doctor',
  about: 'Check the configuration, the connection, the API key, the state and the clients.',
  examples: ['doctor', 'doctor --json', 'doctor --config settings.json'],
  settings: { ...serverSettings, ...ownSettings },
  readsDespiteFaults: true,
  read(texts, env, origins, _, faults) {
    const given = { texts, origins }
    const own = settingReader(ownSettings, texts)
    const usable = usableConfig(texts, env, faults, [
      () => http.configure(given, env),
      () => sandbox.configure(given, env),
      () => exposedTools(toolSummaries, scopeConfig(texts).exposure),
    ])
    const checked = {
      ...usable,
      env,
      settings: shownSettings(serverSettings, given).map((setting) => ({
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
    const [{ inspection }, { runDoctor }] = await Promise.all([
      import('../../service/service.ts'),
      import('../doctor/run.ts'),
    ])
    return ending(
      runDoctor(checked, inspection, { width: textWidth(checked.env) ?? 100, wrap: wrapped }),
    )
  },
})
