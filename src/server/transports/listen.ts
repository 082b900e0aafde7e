import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server'

/** A server that accepts connections. */
export interface Listening {
  /** The address for clients on this machine, without a path, such as http://127.0.0.1:3000. */
  readonly url: string
  /** Whether it listens on every address of this machine. */
  readonly isEverywhere: boolean
  /** Accepts no more connections, and cuts the open ones after this time. */
  close(graceMs?: number): Promise<void>
}

/** The server cannot listen on the address. The message says what to do. */
class ListenError extends Error {
  override readonly name = 'ListenError'
}

/**
 * How long a connection stays open for the next request, ms. It is longer than clients and load
 * balancers keep theirs: the side that closes a connection must be the one that sends requests.
 */
const keptOpenMs = 65_000

/** How long answers under way may take on close by default, ms. */
const shortGraceMs = 2000

/** Time between two checks for idle connections on close, ms: Node keeps them open. */
const idleCheckMs = 100

/** The loopback address for a server that listens on every address. */
const ownAddress = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** `setting` is the flag that an error names. */
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
    // As the operator wrote it: the Host header of requests is compared with that.
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

/** A host name or address as it is written in a URL and in a Host header. */
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
