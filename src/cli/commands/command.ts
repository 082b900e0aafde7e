import type { CommandSpec } from '../config/command-line.ts'
import { configFileSettings } from '../config/config-file.ts'
import { exitCodes } from '../config/exit-codes.ts'
import type { Environment, GivenSettings } from '../config/given-settings.ts'

/** A command that has been started. */
export interface Running {
  /** Resolves when the command ends by itself. */
  readonly done: Promise<void>
  close(): Promise<void>
  /** Exit code of a command that has ended by itself; absent: 0. */
  exitCode?(): number
}

/** The given settings and operands of a command. */
export interface CommandInput extends GivenSettings {
  /** All commands of the program. */
  readonly commands: readonly CommandSpec[]
  readonly env: Environment
  readonly operands: readonly string[]
  /** Non-fatal warnings, one sentence each. */
  readonly warnings: readonly string[]
}

interface Definition<Name extends string, Config extends object> extends CommandSpec {
  readonly name: Name
  /** Parses the settings. Throws ConfigError. */
  readonly read: (input: CommandInput) => Config
  /**
   * If true, `read` receives the faults of invalid settings and reads the valid ones. If false, the
   * first fault is thrown.
   */
  readonly readsDespiteFaults?: boolean
  /** Starts the command. Imports its own code lazily, so that other commands start faster. */
  readonly start: (config: Config) => Promise<Running>
}

/** A command: its name, help, settings and start. index.ts lists them. */
export const defineCommand = <Name extends string, Config extends object>({
  read,
  start,
  readsDespiteFaults = false,
  ...spec
}: Definition<Name, Config>) => ({
  ...spec,
  settings: { ...spec.settings, ...configFileSettings },
  readsDespiteFaults,
  configure(input: CommandInput) {
    const config = read(input)
    return {
      command: spec.name,
      // With `readsDespiteFaults`, the command itself reports the warnings.
      warnings: readsDespiteFaults ? [] : input.warnings,
      ...config,
      start: () => start(config),
    }
  },
})

/** Longest delay of a Node.js timer, ms. */
const longestTimerMs = 2 ** 31 - 1

/**
 * A running command that ends by itself. Its exit code is `code`, or that of Ctrl+C after a signal.
 */
export function ending(code: Promise<number>): Running {
  let exitCode: number = exitCodes.interrupted
  // Timers of tools do not keep the process alive, so that servers can stop. This timer keeps it
  // alive until the command has its result.
  const keptRunning = setInterval(() => undefined, longestTimerMs)
  const done = code
    .then((value) => {
      exitCode = value
    })
    .finally(() => clearInterval(keptRunning))
  return { done, exitCode: () => exitCode, close: async () => undefined }
}
