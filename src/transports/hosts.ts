import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server'
import { hostOf } from './listen.ts'

/**
 * Why a request with this Host header is refused; `undefined` where it may come in. A web page that
 * gets a name of its own to resolve to this machine is refused for that name. On an address that
 * others reach, only names that were given are checked.
 */
export function hostCheck({
  host: own,
  isLoopback,
  allowedHosts,
}: {
  /** What the server listens on, as the operator wrote it: requests may use that. */
  host: string
  isLoopback: boolean
  allowedHosts: readonly string[]
}): (host: string | undefined) => string | undefined {
  if (!isLoopback && allowedHosts.length === 0) return () => undefined
  const names = [...localhostAllowedHostnames(), hostOf(own).toLowerCase(), ...allowedHosts]
  return (host) => {
    const checked = validateHostHeader(host, names)
    return checked.ok ? undefined : checked.message
  }
}
