import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server'
import { hostOf } from './listen.ts'

/** Instead of host names: requests may use any. */
export const anyHost = '*'

/**
 * Returns a check of the Host header: why a request is refused, or `undefined` if it is not. The
 * check stops DNS rebinding, where a web page makes its own host name resolve to this machine. On an
 * address that other machines reach, the check needs names from the operator.
 */
export function hostCheck({
  host: own,
  isLoopback,
  allowedHosts,
}: {
  /** The address to listen on, as the operator wrote it. Requests may use it. */
  host: string
  isLoopback: boolean
  allowedHosts: readonly string[]
}): (host: string | undefined) => string | undefined {
  if (allowedHosts.includes(anyHost)) return () => undefined
  if (!isLoopback && allowedHosts.length === 0) return () => undefined
  const names = [...localhostAllowedHostnames(), hostOf(own).toLowerCase(), ...allowedHosts]
  return (host) => {
    const checked = validateHostHeader(host, names)
    return checked.ok ? undefined : checked.message
  }
}
