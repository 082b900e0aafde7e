import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy extends AsyncDisposable {
  /** Address without user name and password. */
  readonly url: URL
  /** Targets of all CONNECT requests, with the `Proxy-Authorization` header. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[]
  /** Number of requests other than CONNECT. */
  readonly plain: () => number
}

/**
 * An HTTP proxy that supports only CONNECT (RFC 9110 §9.3.6). It resolves no names: every tunnel
 * leads to `port` on this machine.
 */
export async function startConnectProxy(
  port: number,
  {
    credentials,
    tls,
    refuse,
  }: {
    /** Required credentials, `user:password`. */
    credentials?: string
    /** Certificate of the proxy itself, which then uses TLS. */
    tls?: { cert: string; key: string }
    /** Status of the refusal of every tunnel; `close`: the connection is closed instead. */
    refuse?: number | 'close'
  } = {},
): Promise<ConnectProxy> {
  const asked: { target: string; authorization: string | undefined }[] = []
  const sockets = new Set<Socket>()
  let plain = 0
  const server = tls ? createTlsServer(tls) : createServer()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (_, response) => {
    plain++
    response.writeHead(405).end()
  })
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket) => {
    const authorization = headers['proxy-authorization']
    asked.push({ target: url, authorization })
    client.on('error', () => undefined)
    if (refuse === 'close') return void client.destroy()
    const refusal = refuse ?? (authorization === wanted ? undefined : 407)
    if (refusal !== undefined) {
      return void client.end(`HTTP/1.1 ${refusal} Refused\r\nContent-Length: 0\r\n\r\n`)
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    sockets.add(upstream)
    upstream.once('close', () => client.destroy())
    upstream.on('error', () => client.destroy())
    client.once('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address() as AddressInfo
  return {
    url: new URL(`${tls ? 'https://localhost' : 'http://127.0.0.1'}:${bound.port}`),
    asked,
    plain: () => plain,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
