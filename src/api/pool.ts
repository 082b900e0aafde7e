import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import type { Limits } from './deadline.ts'
import { defaultTurns, type TurnBounds } from './turns.ts'

export interface PoolOptions extends Pick<Limits, 'headersTimeoutMs'> {
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
    // Also those that are still being made for requests that were given up.
    connections: atOnce.inAll,
    // One deadline of ours covers headers and body; undici's own are coarse and would race it.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Over HTTP/2 a connection that died without a word would be kept: what is given up ends there
    // with its stream only. And undici repeats what it is told was not looked at, of its own accord.
    allowH2: false,
    // Shorter than the deadline, so that "never connected" is known to be that.
    // A proxy reads this name of the setting only; a direct connection reads it, too.
    connectTimeout: Math.max(1, headersTimeoutMs / 2),
  }
  if (!proxy) return new Agent(options)
  const { url: httpsProxy, except: noProxy } = proxy
  return new EnvHttpProxyAgent({ ...options, httpsProxy, noProxy })
}
