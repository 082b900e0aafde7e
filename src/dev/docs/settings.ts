import { type Setting, settings } from '../../config/settings.ts'
import { magicDestinations } from '../../sandbox/call-plan.ts'
import { sandboxKeys } from '../../sandbox/seed.ts'
import { code, table } from './markdown.ts'

/** Every setting: flag, variable, meaning, and the commands that take it. */
export const settingTable = (): string =>
  table(
    ['Flag', 'Variable', 'Meaning', 'Commands'],
    Object.entries<Setting>(settings).map(([name, { value, variable, help, commands }]) => [
      code(`--${name} ${value}`.trim()),
      code(variable),
      help,
      commands.join(', '),
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
