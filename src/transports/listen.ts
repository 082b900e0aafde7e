import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that accepts connections. */
export interface Listening {
  /** Address without a path by which this machine reaches it, such as http://127.0.0.1:3000. */
  readonly url: string
  /** Whether it listens on every address of this machine. */
  readonly isEverywhere: boolean
  /** Stops accepting, lets open answers finish for so long, then cuts the rest. */
  close(graceMs?: number): Promise<void>
}

/** The address cannot be listened on; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/**
 * How long a connection is kept for the next request, ms: longer than clients and the balancers in
 * between keep theirs, so that it is they who close it and no request meets a closed end.
 */
const keptOpenMs = 65_000

/** How long open answers are given on close where nobody says otherwise, ms. */
const shortGraceMs = 2000

/** How often connections that became idle are closed meanwhile, ms: Node keeps them for the next request. */
const idleCheckMs = 100

/** Listening on every address is no place to connect to: this machine uses its own. */
const ownAddress = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  server.keepAliveTimeout = keptOpenMs
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
  const bound = server.address() as AddressInfo
  const own = ownAddress.get(bound.address)
  return {
    // As the operator wrote it, because that is the name that requests are checked against.
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

/** A name or address as it stands in a URL and in a Host header. */
export const hostOf = (host: string): string => (host.includes(':') ? `[${host}]` : host)

function listenError(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const at = `${host}:${port}`
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(`${at} is in use. Choose another with --port; 0 picks a free one.`)
    case 'EACCES':
      return new ListenError(`${at} needs rights this user does not have. Choose a port over 1023.`)
    default:
      return new ListenError(`Cannot listen on ${at}: ${error.message}.`)
  }
}
