import { createServer } from 'node:http'
import { refuseMethod, sendJson } from './http-answers.ts'
import { hostCheck, type Listening, listen } from './listen.ts'

interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  /** True for a loopback address. */
  readonly isLoopback: boolean
  /** Current metrics in the text format of Prometheus. */
  readonly text: () => string
}

const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Serves GET /metrics on its own port, separate from the clients' port. On loopback the Host header
 * must name this machine, which stops DNS rebinding. Throws ListenError.
 */
export function startMetricsServer(options: MetricsServerOptions): Promise<Listening> {
  const refusalOfHost = hostCheck({ ...options, allowedHosts: [] })
  const server = createServer((request, response) => {
    const refusal = refusalOfHost(request.headers.host)
    if (refusal) return sendJson(response, 403, { error: refusal })
    if (request.url?.split('?')[0] !== '/metrics')
      return sendJson(response, 404, { error: 'The metrics are at /metrics.' })
    if (!['GET', 'HEAD'].includes(request.method ?? '')) return refuseMethod(response, 'GET, HEAD')
    response.writeHead(200, { 'content-type': contentType }).end(options.text())
  })
  return listen(server, { ...options, setting: '--metrics-port' })
}
