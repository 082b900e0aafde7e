import { commands, settings } from '../../cli/commands/index.ts'
import { configFileSchema } from '../../cli/config/config-file.ts'
import { settingHelp } from '../../cli/config/help.ts'
import { magicDestinations } from '../../sandbox/call-plan.ts'
import { sandboxKeys } from '../../sandbox/small-data.ts'
import { installOptions } from '../release/plugins.ts'
import { code, table } from './markdown.ts'

/** Every setting: flag, variable, meaning, and the commands that take it. */
export const settingTable = (): string =>
  table(
    ['Flag', 'Variable', 'Meaning', 'Commands'],
    Object.entries(settings).map(([name, setting]) => [
      code(`--${name} ${setting.value}`.trim()),
      setting.variable === undefined ? 'none' : code(setting.variable),
      settingHelp(setting),
      commands
        .filter((command) => name in command.settings)
        .map((command) => command.name)
        // They look at the settings of all others.
        .filter(
          (command, _, all) =>
            !['config', 'doctor'].includes(command) ||
            setting.variable === undefined ||
            all.length === 1,
        )
        .join(', '),
    ]),
  )

/** Numbers that a simulated call always handles in the same way. */
export const destinationTable = (): string =>
  table(
    ['Call this', 'and it is'],
    Object.entries(magicDestinations).map(([number, { about }]) => [code(number), about]),
  )

export const sandboxKeyTable = (): string =>
  table(
    ['Key', 'Account'],
    [
      [code(sandboxKeys.main), 'the seeded account; MCP uses it for requests without a key'],
      [code(sandboxKeys.subaccount), 'its subaccount'],
      [code(sandboxKeys.other), 'an unrelated account'],
    ],
  )

/** The JSON Schema of configuration files, as text. */
export const configSchemaText = (): string =>
  `${JSON.stringify(configFileSchema(settings), undefined, 2)}\n`

/** What the clients of the desktop bundle ask for. */
export const installOptionTable = (): string =>
  table(
    ['Option', 'Setting', 'Meaning'],
    Object.values(installOptions).map(({ title, variable, description }) => [
      title,
      code(variable),
      description,
    ]),
  )
