/**
 * What outlives a request cannot be read or written. The message names what cannot be used and says
 * what to do. Nothing that depends on it is done.
 */
export class StateError extends Error {
  override readonly name: string = 'StateError'
  /** It will be usable again without a change by anybody here: it cannot be reached at the moment. */
  readonly isTemporary: boolean

  constructor(message: string, options: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options)
    this.isTemporary = options.isTemporary ?? false
  }
}
