import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuseMethod, sendJson } from './http-answers.ts'

/** Something that requests need: whether it can be used now. */
export type Reachability = 'ok' | 'unreachable'

/** Whether the server can do its work, part by part. */
export interface Readiness {
  readonly platform: Reachability
  readonly state: Reachability
}

export interface ProbeOptions {
  /** Whether the platform and the state can be used now. Never rejects. */
  readonly readiness: () => Promise<Readiness>
  /** Whether the server is about to stop. */
  readonly isDraining: () => boolean
}

/** Whether a path, without a query, is that of a probe. */
export const isProbePath = (path: string | undefined): boolean =>
  path === '/healthz' || path === '/health' || path === '/readyz'

/**
 * Answers the probes of load balancers and orchestrators: `/healthz` (and `/health`) while the process
 * serves, `/readyz` while it should get requests. They may address this machine by any name: the
 * answers tell nothing about anybody, so neither Host nor Origin is checked. False: the request is
 * for something else.
 */
export const probes =
  (options: ProbeOptions) =>
  (path: string | undefined, request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isProbePath(path)) return false
    if (!['GET', 'HEAD'].includes(request.method ?? '')) refuseMethod(response, 'GET, HEAD')
    else if (path === '/readyz') void sendReadiness(request, response, options)
    else sendJson(response, 200, { status: 'ok' })
    return true
  }

/**
 * With `?state=optional` the server is ready without its state: it still reads and changes things, and
 * refuses calls and confirmations.
 */
const requiredParts = ({ url = '' }: IncomingMessage): (keyof Readiness)[] =>
  new URLSearchParams(url.split('?')[1]).get('state') === 'optional'
    ? ['platform']
    : ['platform', 'state']

async function sendReadiness(
  request: IncomingMessage,
  response: ServerResponse,
  { readiness, isDraining }: ProbeOptions,
): Promise<void> {
  if (isDraining()) return sendJson(response, 503, { status: 'stopping' })
  const parts = await readiness()
  const isReady = requiredParts(request).every((part) => parts[part] === 'ok')
  sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', ...parts })
}
