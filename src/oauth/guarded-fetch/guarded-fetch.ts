import { isIP } from 'node:net'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { Allowances } from '../../transports/rate.ts'
import { fetchDocument } from './fetch-document.ts'
import { FetchRefusal } from './fetch-refusal.ts'
import { guardedLookup, isLocalhost, nameServerLookup, type ResolveHost } from './guarded-lookup.ts'
import { isPublicAddress } from './public-address.ts'

export interface GuardedFetchOptions {
  /**
   * Proxy for https and the hosts that are reached without it. It resolves names itself, so it has to
   * refuse private addresses itself, too.
   */
  readonly proxy?: { readonly url: string; readonly except: string } | undefined
  /** Which addresses may be connected to; by default the public ones. */
  readonly mayReach?: (address: string) => boolean
  readonly resolveHost?: ResolveHost
  /** For everything together: names, connection, reply. */
  readonly timeLimitMs?: number
  /** Largest body, in bytes; §8.7 of the draft recommends to read 5 kB. */
  readonly mostBytes?: number
  /** Requests a minute to one host. */
  readonly perHost?: number
  /** Requests at the same time, in all. */
  readonly atOnce?: number
  /** Certificates that are trusted, instead of the system's. */
  readonly ca?: string
}

/** `fetch` for addresses that strangers choose. */
export interface GuardedFetch {
  /** A GET of a JSON document. Throws a `FetchRefusal` for everything but a whole document. */
  fetch(address: string | URL, options?: { signal?: AbortSignal | null }): Promise<Response>
  close(): Promise<void>
}

/**
 * Fetches the documents that clients name (draft-ietf-oauth-client-id-metadata-document §5, §8.6,
 * §8.7): https only, public addresses only, no redirects, within bounds of size, time and number.
 * Nothing is cached here: failures must not be (§5.2), and documents are by the caller.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { timeLimitMs = 5000, perHost = 120, atOnce = 16, mayReach = isPublicAddress } = options
  const { mostBytes = 10_240 } = options
  const dispatcher = openDispatcher({ ...options, timeLimitMs, mayReach, mostBytes })
  const allowances = new Allowances(perHost, 10_000)
  let underWay = 0
  return {
    async fetch(address, { signal } = {}) {
      const url = checkedUrl(address, mayReach)
      takeTurn(url.host, allowances, underWay < atOnce)
      underWay++
      try {
        const signals = [AbortSignal.timeout(timeLimitMs), ...(signal ? [signal] : [])]
        return await fetchDocument(url, { dispatcher, mostBytes, signal: AbortSignal.any(signals) })
      } finally {
        underWay--
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function openDispatcher({
  proxy,
  mayReach,
  timeLimitMs,
  resolveHost = nameServerLookup(timeLimitMs),
  mostBytes = 10_240,
  ca,
}: GuardedFetchOptions &
  Required<Pick<GuardedFetchOptions, 'mayReach' | 'timeLimitMs'>>): Dispatcher {
  const options = {
    maxResponseSize: mostBytes,
    // No connection is kept.
    pipelining: 0,
    allowH2: false,
    connectTimeout: timeLimitMs,
    connect: { lookup: guardedLookup(resolveHost, mayReach), ...(ca && { ca }) },
  }
  if (!proxy) return new Agent(options)
  return new EnvHttpProxyAgent({
    ...options,
    ...(ca && { requestTls: { ca }, proxyTls: { ca } }),
    httpsProxy: proxy.url,
    noProxy: proxy.except,
  })
}

/** The address, if it may be fetched as far as can be seen without asking for its host. */
function checkedUrl(address: string | URL, mayReach: (address: string) => boolean): URL {
  const url = URL.parse(String(address))
  if (url?.protocol !== 'https:' || url.username || url.password) {
    throw new FetchRefusal(
      'not_https',
      'The address must start with https://, without a user name.',
    )
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isRefused = isIP(host) ? !mayReach(host) : isPrivateName(host, mayReach)
  if (isRefused) {
    throw new FetchRefusal('not_public', `${host} is not on the public internet.`)
  }
  return url
}

/** A name that only a private network has. A proxy would resolve it. */
const isPrivateName = (host: string, mayReach: (address: string) => boolean): boolean =>
  isLocalhost(host)
    ? !mayReach('127.0.0.1')
    : /^[^.]*\.?$|\.(local|internal|home\.arpa)\.?$/.test(host)

function takeTurn(host: string, allowances: Allowances, hasRoom: boolean): void {
  const now = performance.now()
  if (!hasRoom || allowances.waitMs(host, now) > 0) {
    throw new FetchRefusal(
      'too_many',
      `Too many documents of ${host} were asked for. Try again in a minute.`,
    )
  }
  allowances.spend(host, 1, now)
}
