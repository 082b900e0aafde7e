import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { authority, signed } from './private-ca.ts'

export interface DocumentServer extends AsyncDisposable {
  readonly port: number
  /** Address of a document on `platform.example`, which the server's certificate names. */
  readonly address: string
  /** Paths of all requests. */
  readonly asked: string[]
  /** Number of connections: all so far, and those open now. */
  readonly connections: () => { readonly made: number; readonly open: number }
}

/** Certificate of the authority that signed the server's. */
export const trusted = authority

/** An https server on 127.0.0.1 that replies with `answer`. */
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
