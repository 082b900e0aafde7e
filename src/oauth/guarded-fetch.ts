import type { LookupAddress, LookupOptions } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { Quota, RateLimits } from '../server/transports/quotas.ts'

export interface GuardedFetchOptions {
  /**
   * Proxy for https, and the hosts reached without it. The proxy resolves names itself, so it must
   * also refuse private addresses itself.
   */
  readonly proxy?: { readonly url: string; readonly except: string } | undefined
  /** True if an address may be connected to; default: public addresses. */
  readonly mayReach?: (address: string) => boolean
  readonly resolveHost?: ResolveHost
  /** Timeout of the whole fetch, ms: DNS, connection, reply. */
  readonly timeLimitMs?: number
  /** Maximum body, bytes; the draft recommends 5 kB (§8.7). */
  readonly maxBytes?: number
  /** Requests per minute to one host. */
  readonly perHost?: number
  /** Requests per minute for one client network. */
  readonly perNetwork?: number
  /** Concurrent requests, in total and per client network. */
  readonly concurrency?: { readonly inAll: number; readonly perNetwork: number }
  /** Trusted certificates instead of the system's. */
  readonly ca?: string
}

/** `fetch` for untrusted URLs. */
export interface GuardedFetch {
  /**
   * Fetches a JSON document for a client network, whose quota it counts against. Throws
   * FetchRefusal unless the whole document was received.
   */
  fetch(
    address: string | URL,
    options?: { readonly signal?: AbortSignal | null; readonly network?: string },
  ): Promise<Response>
  close(): Promise<void>
}

/**
 * Fetches documents that clients name (draft-ietf-oauth-client-id-metadata-document §5, §8.6,
 * §8.7): https only, public addresses only, no redirects, bounded size, time and number. Nothing is
 * cached here; the caller decides about that (client-metadata.ts).
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { timeLimitMs = 5000, mayReach = isPublicAddress, maxBytes = 10_240 } = options
  const { perHost = 120, perNetwork = 30, concurrency = { inAll: 64, perNetwork: 4 } } = options
  const dispatcher = openDispatcher({ ...options, timeLimitMs, mayReach, maxBytes })
  const bounds = {
    byHost: new RateLimits(perHost, 10_000),
    byNetwork: new RateLimits(perNetwork, 10_000),
    underWay: new Quota({
      inAll: concurrency.inAll,
      perKey: 0,
      perAddress: concurrency.perNetwork,
    }),
  }
  return {
    async fetch(address, { signal, network = '' } = {}) {
      const url = checkedUrl(address, mayReach)
      takeSlot(url.host, network, bounds)
      try {
        const signals = [AbortSignal.timeout(timeLimitMs), ...(signal ? [signal] : [])]
        return await fetchDocument(url, { dispatcher, maxBytes, signal: AbortSignal.any(signals) })
      } finally {
        bounds.underWay.release('', network)
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function openDispatcher({
  proxy,
  mayReach,
  timeLimitMs,
  maxBytes,
  resolveHost = nameServerLookup(timeLimitMs),
  ca,
}: GuardedFetchOptions &
  Required<Pick<GuardedFetchOptions, 'mayReach' | 'timeLimitMs' | 'maxBytes'>>): Dispatcher {
  const options = {
    maxResponseSize: maxBytes,
    // No keep-alive.
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

/**
 * Parses a URL and checks its scheme and host. The addresses that the host resolves to are checked
 * by `guardedLookup`.
 */
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

/**
 * True for a name of a private network, such as `db` or `nas.local`: a proxy would resolve it
 * without our check.
 */
const isPrivateName = (host: string, mayReach: (address: string) => boolean): boolean =>
  isLocalhost(host)
    ? !mayReach('127.0.0.1')
    : /^[^.]*\.?$|\.(local|internal|home\.arpa)\.?$/.test(host)

interface Limits {
  readonly byHost: RateLimits
  readonly byNetwork: RateLimits
  readonly underWay: Quota
}

/**
 * Counts a fetch against all limits. Throws FetchRefusal, and counts nothing, if one is reached.
 */
function takeSlot(host: string, network: string, { byHost, byNetwork, underWay }: Limits): void {
  const now = performance.now()
  const mustWait = byHost.waitMs(host, now) > 0 || byNetwork.waitMs(network, now) > 0
  if (mustWait || underWay.take('', network) !== undefined) {
    throw new FetchRefusal(
      'too_many',
      `Too many documents were asked for, of ${host} or from one network. Try again in a minute.`,
    )
  }
  byHost.spend(host, 1, now)
  byNetwork.spend(network, 1, now)
}

interface FetchBounds {
  readonly dispatcher: Dispatcher
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** GET of a JSON document, without redirects. */
async function fetchDocument(url: URL, bounds: FetchBounds): Promise<Response> {
  const { dispatcher, maxBytes, signal } = bounds
  try {
    const reply = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { accept: 'application/json', 'user-agent': 'voice-agent-mcp' },
      signal,
    })
    const flaw = flawOf(reply, maxBytes)
    if (!flaw) return await documentOf(reply)
    // The body is skipped and the connection closed.
    reply.body.on('error', () => undefined).destroy()
    throw new FetchRefusal(flaw.code, `${url.host} ${flaw.text}.`)
  } catch (error) {
    throw refusalOf(error, url.host, signal)
  }
}

const isJson = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i

/** Reason to refuse a reply by its status or headers; `undefined` if there is none. */
function flawOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  maxBytes: number,
): { readonly code: FetchRefusalCode; readonly text: string } | undefined {
  if (statusCode !== 200) {
    return { code: 'status', text: `answered with status ${statusCode}, not 200` }
  }
  if (
    !isJson.test(headerText(headers, 'content-type')) ||
    headerText(headers, 'content-encoding')
  ) {
    return { code: 'not_json', text: 'answered with something else than plain JSON' }
  }
  return Number(headerText(headers, 'content-length')) > maxBytes ? tooLarge : undefined
}

const tooLarge = { code: 'too_large', text: 'answered with a document that is too large' } as const

const headerText = (headers: Dispatcher.ResponseData['headers'], name: string): string =>
  [headers[name] ?? []].flat().join(', ')

/** The whole body of a reply, with its caching headers. */
async function documentOf({ headers, body }: Dispatcher.ResponseData): Promise<Response> {
  const kept = ['content-type', 'cache-control', 'expires']
    .map((name): [string, string] => [name, headerText(headers, name)])
    .filter(([, text]) => text)
  return new Response(await body.arrayBuffer(), { headers: Object.fromEntries(kept) })
}

/**
 * Converts a network failure to a FetchRefusal. Returns any other error, which is a defect,
 * unchanged.
 */
function refusalOf(error: unknown, host: string, signal: AbortSignal): unknown {
  const chain = causes(error)
  const refusal = chain.find((cause) => cause instanceof FetchRefusal)
  if (refusal) return refusal
  const refuse = (code: FetchRefusalCode, text: string) =>
    new FetchRefusal(code, `${host} ${text}.`, { cause: error })
  if (signal.aborted) return refuse('too_slow', 'took too long')
  const code = chain.map(codeOf).find(Boolean)
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return refuse(tooLarge.code, tooLarge.text)
  if (!code || ourCodes.test(code)) return error
  return refuse('unreachable', 'could not be reached')
}

/** Codes of errors in our own use of undici or Node.js, not of the network. */
const ourCodes = /^(UND_ERR_INVALID_ARG|ERR_(?!TLS|SSL))/

/** An error and its causes, including those in an aggregate error. */
function causes(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  const others: unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  return [error, ...others.flatMap(causes)]
}

const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Why a fetch was refused. */
type FetchRefusalCode =
  /** The URL is not https, or has a user name. */
  | 'not_https'
  /** The host is, or resolves to, a non-public address. */
  | 'not_public'
  /** The host has no address. */
  | 'unresolved'
  /** The connection failed. */
  | 'unreachable'
  /** The reply is not 200; redirects are not followed. */
  | 'status'
  /** The reply is not JSON. */
  | 'not_json'
  | 'too_large'
  /** The deadline passed before the reply was complete. */
  | 'too_slow'
  /** Rate limit exceeded. */
  | 'too_many'

/** The message names the host but no resolved address, because anybody may read it. */
export class FetchRefusal extends Error {
  override readonly name = 'FetchRefusal'
  readonly code: FetchRefusalCode

  constructor(code: FetchRefusalCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>

/**
 * Queries the name servers directly. `dns.lookup` takes a thread of Node's pool for each name, so a
 * stranger's slow name server could block everything else that needs one.
 */
function nameServerLookup(timeoutMs: number): ResolveHost {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 })
  return async (host) => {
    if (isLocalhost(host)) return [{ address: '127.0.0.1', family: 4 }]
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = [
      ...addresses(four).map((address) => ({ address, family: 4 })),
      ...addresses(six).map((address) => ({ address, family: 6 })),
    ]
    if (found.length === 0 && four.status === 'rejected') throw four.reason
    return found
  }
}

/** Names of this machine, never sent to a name server (RFC 6761 §6.3). */
const isLocalhost = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host)

const addresses = (result: PromiseSettledResult<string[]>) =>
  result.status === 'fulfilled' ? result.value : []

/**
 * DNS lookup for a connection. Connections go only to the checked addresses, so a name server with
 * changing answers (DNS rebinding) gains nothing. A host with one forbidden address is refused.
 */
function guardedLookup(
  resolveHost: ResolveHost,
  mayReach: (address: string) => boolean,
): LookupFunction {
  const checkedAddresses = async (host: string) => {
    const found = await resolveHost(host).catch((cause: unknown) => {
      throw new FetchRefusal('unresolved', `${host} has no address.`, { cause })
    })
    if (found.length === 0) throw new FetchRefusal('unresolved', `${host} has no address.`)
    if (!found.every(({ address }) => mayReach(address))) {
      throw new FetchRefusal('not_public', `${host} is not on the public internet.`)
    }
    return found
  }
  return (host, options, callback) => {
    checkedAddresses(host).then(
      (found) => answer(found, options, callback),
      (error: Error) => callback(error, []),
    )
  }
}

/** Answers like `dns.lookup`: all addresses, or the first of the requested family. */
function answer(
  found: readonly LookupAddress[],
  { all, family }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): void {
  const wanted = found.filter(
    (one) => !family || family === one.family || family === `IPv${one.family}`,
  )
  const [first] = wanted
  if (!first) callback(new FetchRefusal('unresolved', 'No address of this family.'), [])
  else if (all) callback(null, [...wanted])
  else callback(null, first.address, first.family)
}

/**
 * True for a public IP address: outside the special-purpose blocks (RFC 6890), and for IPv6 within
 * 2000::/3. Addresses that embed an IPv4 address (mapped, 6to4, NAT64) are not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'))
}
