/** The configuration cannot be used; the message says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
