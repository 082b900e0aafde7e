/** Why a document was not fetched. */
export type FetchRefusalCode =
  /** Its address is not https, or has a user name. */
  | 'not_https'
  /** Its host is, or leads to, an address that is not public. */
  | 'not_public'
  /** Its host has no address. */
  | 'unresolved'
  /** The connection failed. */
  | 'unreachable'
  /** The reply is not 200; redirects are not followed. */
  | 'status'
  /** The reply is not JSON. */
  | 'not_json'
  /** The reply is too large. */
  | 'too_large'
  /** The reply was not complete in time. */
  | 'too_slow'
  /** Too many documents were asked for. */
  | 'too_many'

/** The message names the host. What was resolved is not in it: it may be read by strangers. */
export class FetchRefusal extends Error {
  override readonly name = 'FetchRefusal'
  readonly code: FetchRefusalCode

  constructor(code: FetchRefusalCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
