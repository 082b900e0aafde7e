import { createServer } from 'node:http'
import { refuseMethod, sendJson } from './http-answers.ts'
import { hostCheck, type Listening, listen } from './listen.ts'

export interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  /** Whether only this machine reaches the address. */
  readonly isLoopback: boolean
  /** The metrics as they are now. */
  readonly text: () => string
  readonly contentType: string
}

/**
 * Serves GET /metrics on a port of its own, apart from the port that clients reach. On loopback the
 * Host must be a name of this machine: no web page can read it through a name of its own (DNS
 * rebinding). Throws ListenError.
 */
export function startMetricsServer(options: MetricsServerOptions): Promise<Listening> {
  const refusalOfHost = hostCheck({ ...options, allowedHosts: [] })
  const server = createServer((request, response) => {
    const refusal = refusalOfHost(request.headers.host)
    if (refusal) return sendJson(response, 403, { error: refusal })
    if (request.url?.split('?')[0] !== '/metrics')
      return sendJson(response, 404, { error: 'The metrics are at /metrics.' })
    if (!['GET', 'HEAD'].includes(request.method ?? '')) return refuseMethod(response, 'GET, HEAD')
    response.writeHead(200, { 'content-type': options.contentType }).end(options.text())
  })
  return listen(server, { ...options, setting: '--metrics-port' })
}
