/** The configuration cannot be used; the message says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The command line names something that there is not. The exit code is 2, as of most programs. */
export class CommandLineError extends ConfigError {}
