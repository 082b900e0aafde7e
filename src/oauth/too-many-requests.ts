import { errors, Provider } from 'oidc-provider'

/**
 * Error for a rate-limited client: status 429 with Retry-After. oidc-provider's status, 400, would
 * mean that a retry is useless.
 */
export function tooMany(description: string, waitMs = 60_000): Error {
  Provider.ctx?.set('retry-after', String(Math.ceil(waitMs / 1000)))
  const error = new errors.TemporarilyUnavailable(description)
  return Object.assign(error, { status: 429, statusCode: 429 })
}
