import type { EffectiveSetting } from '../../config/effective-settings.ts'
import { type Check, green } from './check.ts'

/** A setting, and where a person finds it. */
export interface ShownSetting extends EffectiveSetting {
  readonly from: string
}

/** The settings that are set and where they come from, and what is wrong with them. */
export const configurationCheck = (
  settings: readonly ShownSetting[],
  faults: readonly string[],
): Check => ({
  name: 'configuration',
  title: 'Configuration',
  run() {
    const set = settings.filter(({ origin }) => origin !== 'default')
    const nameWidth = Math.max(0, ...set.map(({ name }) => name.length))
    const line = ({ name, value, from }: ShownSetting, shown = value ?? '') =>
      `${name.padEnd(nameWidth)}  ${shown}  (${from})`
    if (faults.length > 0) {
      return {
        light: 'red',
        text: faults.join(' '),
        // A value may be a secret that was put in the wrong place.
        details: set.map((setting) => line(setting, 'set')),
        todo: 'Correct that. The settings are explained by voice-agent-mcp --help.',
      }
    }
    const count = set.length === 1 ? '1 setting is' : `${set.length} settings are`
    return set.length === 0
      ? green('Nothing is set: everything has its default.')
      : green(
          `${count} set; the others have their defaults.`,
          set.map((setting) => line(setting)),
        )
  },
})
