/** What a person has to change before clients can be changed; the message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** 2: the command line names something that there is not, as of most programs. */
  readonly exitCode: 1 | 2

  constructor(message: string, { exitCode = 1 }: { exitCode?: 1 | 2 } = {}) {
    super(message)
    this.exitCode = exitCode
  }
}
