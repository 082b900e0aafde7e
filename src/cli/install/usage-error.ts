/** What a person has to change before clients can be changed; the message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The name of its exit code; `usage`: the command line names something that there is not. */
  readonly exit: 'failed' | 'usage'

  constructor(message: string, exit: 'failed' | 'usage' = 'failed') {
    super(message)
    this.exit = exit
  }
}
