import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { authority, signed } from './private-ca.ts'

export interface DocumentServer extends AsyncDisposable {
  readonly port: number
  /** Address of a document on `platform.example`, which the server's certificate names. */
  readonly address: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Connections that were made, and those that are open. */
  readonly connections: () => { readonly made: number; readonly open: number }
}

/** The authority that signed the server's certificate. */
export const trusted = authority

/** A web server on 127.0.0.1 that publishes whatever `answer` writes. */
export async function startDocumentServer(answer: RequestListener): Promise<DocumentServer> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let made = 0
  const server = createServer(signed, (request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  server.on('connection', (socket: Socket) => {
    made++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    address: `https://platform.example:${port}/client.json`,
    asked,
    connections: () => ({ made, open: sockets.size }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
