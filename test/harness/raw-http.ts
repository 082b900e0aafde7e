import { request } from 'node:http'

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
