import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import type { RequestTimeLimits } from './request-deadline.ts'
import { defaultTurns, type TurnBounds } from './turns.ts'

export interface PoolOptions extends Pick<RequestTimeLimits, 'headersTimeoutMs'> {
  /** Proxy for https, from the environment; loopback and plain http never use it. */
  readonly proxy?: { readonly url: string; readonly except: string }
  /** Requests under way at once, and so connections, in all and with one key. */
  readonly atOnce?: TurnBounds
}

/** Opens the pool of connections to the platform. */
export function openPool({
  proxy,
  headersTimeoutMs,
  atOnce = defaultTurns,
}: PoolOptions): Dispatcher {
  const options = {
    // This includes connections that are still being opened for requests that have ended.
    connections: atOnce.inAll,
    // request-deadline.ts limits headers and body; undici's own timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    // With HTTP/2, ending a request ends only its stream, so a dead connection would be kept. undici
    // would also repeat by itself every request that the server reports as not processed.
    allowH2: false,
    // Shorter than the deadline, so that a missing connection is reported as that. A proxy reads
    // only this option; a direct connection reads it, too.
    connectTimeout: Math.max(1, headersTimeoutMs / 2),
  }
  if (!proxy) return new Agent(options)
  const { url: httpsProxy, except: noProxy } = proxy
  return new EnvHttpProxyAgent({ ...options, httpsProxy, noProxy })
}
