/** The command cannot do what it was asked for; the message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
