import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server'

export interface Listening {
  /** URL for clients on this machine, without a path, such as http://127.0.0.1:3000. */
  readonly url: string
  /** True if it listens on every address of this machine. */
  readonly isEverywhere: boolean
  /** Stops accepting connections, and closes open ones after `graceMs`, ms. */
  close(graceMs?: number): Promise<void>
}

/** Thrown if the server cannot listen on its address. The message has the remedy. */
class ListenError extends Error {
  override readonly name = 'ListenError'
}

/**
 * Keep-alive timeout, ms. Longer than the timeouts of clients and load balancers, because the side
 * that sends requests must close the connection first.
 */
const keptOpenMs = 65_000

/** Default grace period for open responses on close, ms. */
const shortGraceMs = 2000

/** Interval at which a closing server drops idle connections, ms. Node would keep them open. */
const idleCheckMs = 100

/** Loopback address for each wildcard address. */
const ownAddress = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/**
 * Listens on an address. `setting`: the flag for the port, as error messages name it. Throws
 * ListenError.
 */
export async function listen(
  server: Server,
  { host, port, setting = '--port' }: { host: string; port: number; setting?: string },
): Promise<Listening> {
  server.keepAliveTimeout = keptOpenMs
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, `${host}:${port}`, setting)))
    server.listen(port, host, resolve)
  })
  const bound = server.address() as AddressInfo
  const own = ownAddress.get(bound.address)
  return {
    // The host as the operator wrote it, because the Host header is compared with it.
    url: `http://${hostOf(own ?? host)}:${bound.port}`,
    isEverywhere: own !== undefined,
    close: (graceMs = shortGraceMs) =>
      new Promise((resolve) => {
        const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs)
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearInterval(idle)
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Host name or address in the form of a URL and a Host header. */
const hostOf = (host: string): string => (host.includes(':') ? `[${host}]` : host)

function listenError(error: NodeJS.ErrnoException, at: string, setting: string): ListenError {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(`${at} is in use. Choose another with ${setting}; 0 picks a free one.`)
    case 'EACCES':
      return new ListenError(`${at} needs rights this user does not have. Choose a port over 1023.`)
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EADDRNOTAVAIL':
      return new ListenError(
        `Cannot listen on ${at}: this machine has no such address (${error.code}). Give one that it has with ${setting.replace('port', 'host')}: 127.0.0.1 takes connections of this machine alone, 0.0.0.0 those of every network.`,
      )
    default:
      return new ListenError(`Cannot listen on ${at}: ${error.message}.`)
  }
}

/** Entry of `--allowed-hosts` that allows every host name. */
export const anyHost = '*'

/**
 * Creates a check of the Host header, which returns the reason for a refusal. The check stops DNS
 * rebinding, where a web page makes its own host name resolve to this machine. On an address that
 * other machines reach, it applies only if the operator gives the allowed names.
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
