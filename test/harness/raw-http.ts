import { request } from 'node:http'
import { connect } from 'node:net'

/** Sends a GET for `url` to another machine, with the URL's Host header. */
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

/**
 * Sends bytes on a new connection. Returns all that the server sends until the connection is closed
 * or reset.
 */
export function exchange(url: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    // A server that closes early may reset what is still being sent.
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.write(bytes)
  })
}
