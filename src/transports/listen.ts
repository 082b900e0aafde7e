import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that accepts connections. */
export interface Listening {
  /** Address without a path, such as http://127.0.0.1:3000. */
  readonly url: string
  /** Stops accepting, lets open answers finish for a moment, then cuts the rest. */
  close(): Promise<void>
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

/** Longest time that open answers are given on close, ms. */
const graceMs = 2000

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
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return {
    url: `http://${name}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

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
