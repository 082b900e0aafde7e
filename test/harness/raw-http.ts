import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** GETs an address at this machine, with the Host header that the address has. */
export function get(machine: string, url: URL): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = { host: machine, port: url.port, path: url.pathname, headers: { host: url.host } }
    const outgoing = request(asked, async (response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve({ status: response.statusCode ?? 0, body })
    })
    outgoing.on('error', reject).end()
  })
}

/** A connection to the server of an address that asks nothing by itself. */
function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  // A server that closes early may reset what is still being sent.
  return connect(Number(port), hostname).on('error', () => undefined)
}

/** Sends the bytes and reads until the server closes the connection, or breaks it off. */
export function exchange(url: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = open(url)
    const said: Buffer[] = []
    socket.on('data', (chunk: Buffer) => said.push(chunk))
    socket.once('close', () => resolve(Buffer.concat(said).toString()))
    socket.write(bytes)
  })
}

/** As many connections, once each is open or refused. */
export async function crowd(url: string, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => open(url).resume())
  await Promise.all(
    sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])),
  )
  return sockets
}
