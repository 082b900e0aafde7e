import { configFileSettings } from './config-file.ts'
import { settingHelp } from './help.ts'
import type { SettingGroup } from './setting.ts'

/** The JSON Schema of a configuration file, for editors; `readConfigFile` holds files to the same. */
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
