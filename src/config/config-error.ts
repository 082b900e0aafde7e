import { exitCodes } from './exit-codes.ts'

/** The configuration cannot be used; the message says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly exitCode: number = exitCodes.failed
}

/** The command line names something that there is not. */
export class CommandLineError extends ConfigError {
  override readonly exitCode = exitCodes.usage
}
