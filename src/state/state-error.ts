/**
 * What outlives a request cannot be read or written. The message names what cannot be used and says
 * what to do. Nothing that depends on it is done.
 */
export class StateError extends Error {
  override readonly name: string = 'StateError'
}
