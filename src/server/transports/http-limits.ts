import type { ServerResponse } from 'node:http'
import { WatchLimitError } from '../../platform/sessions/watched-replies.ts'
import { refuse } from './http-answers.ts'
import { Bodies } from './http-bodies.ts'
import { type BoundName, type Bounds, Quota, Rate, type RatedRequest } from './quotas.ts'

/** Limits for clients of the HTTP server. */
export interface HttpLimits {
  /** Concurrent requests. A request counts until the client has read the response. */
  readonly requests: Bounds
  /** Requests per minute on average; a whole minute's requests may come in one burst. */
  readonly rate: Bounds
  /** Concurrent tool calls that wait for telephone calls. */
  readonly waits: Bounds
  /** Open streams (`subscriptions/listen`). */
  readonly streams: Bounds
  /** Maximum resources watched by the streams of one client address; 0: no limit. */
  readonly watchedPerAddress: number
  /** Longest time to send a request, and longest time without reading progress, ms. */
  readonly clientMs: number
}

/**
 * Maximum bytes of unanswered large requests, and separately of unread responses. Parsed values
 * take several times as much memory; a heap of 256 MB has room for them.
 */
export const maxBytes = 32 * 1024 * 1024

/**
 * Retry-After by limit, seconds: requests end soon, waits for telephone calls within a minute,
 * streams late.
 */
const retryAfter = { requests: 1, waits: 5, streams: 30 }

type Limited = keyof typeof retryAfter

/** API key and client network under which a limit counts. `count`: number of units (default 1). */
interface Holder {
  readonly key: string
  readonly network: string
  readonly count?: number
}

export type ActiveHttpLimits = ReturnType<typeof createLimits>

/**
 * Enforces the limits. Refused requests are answered with 429, or 503 for limits of all clients
 * together.
 */
export function createLimits(bounds: HttpLimits) {
  const quotas = {
    requests: new Quota(bounds.requests),
    waits: new Quota(bounds.waits),
    streams: new Quota(bounds.streams),
  }
  const rate = new Rate(bounds.rate)
  /**
   * Counts requests, streams or waits until the response is closed. Returns false if the request
   * was refused.
   */
  function admits(
    what: Limited,
    { key, network, count = 1 }: Holder,
    response: ServerResponse,
  ): boolean {
    const quota = quotas[what]
    const reached = quota.take(key, network, count)
    if (!reached) {
      response.on('close', () => quota.release(key, network, count))
      return true
    }
    const excess = `Too many ${nameOf[what]} at once: ${bounds[what][reached]}`
    refuseBeyond(response, { what, reached, excess, seconds: retryAfter[what] })
    return false
  }
  /** Counts a request against the rate limits. Returns false if it refused the request. */
  function isWithinRate(request: RatedRequest, response: ServerResponse): boolean {
    const exceeded = rate.take(request)
    if (!exceeded) return true
    const { bound: reached, forMs } = exceeded
    const excess = `Too many requests: ${bounds.rate[reached]} a minute`
    const seconds = Math.ceil(forMs / 1000)
    refuseBeyond(response, { what: 'rate', reached, excess, seconds })
    return false
  }
  return {
    bodies: new Bodies({ longestMs: bounds.clientMs, maxBytes }),
    admits,
    isWithinRate,
    /**
     * Counts a request without an API key, to the pages or the authorization server, by its client
     * network. Returns false if it was refused.
     */
    admitsUnkeyed(to: 'site' | 'oauth', network: string, response: ServerResponse): boolean {
      const holder = { key: `${to} ${network}`, network, count: 1 }
      return admits('requests', holder, response) && isWithinRate(holder, response)
    },
    watched: watchedByNetwork(bounds.watchedPerAddress),
  }
}

/** Refuses a stream that would exceed the limit of watched resources. */
export function refuseWatch(response: ServerResponse, { reached, message }: WatchLimitError): void {
  response.setHeader('retry-after', String(retryAfter.streams))
  refuse(response, reached === 'inAll' ? 503 : 429, message)
}

const settingOf: Readonly<Record<BoundName, string>> = {
  inAll: '',
  perKey: '-per-key',
  perAddress: '-per-address',
}
const whose: Readonly<Record<BoundName, string>> = {
  inAll: 'in all',
  perKey: 'for this API key',
  perAddress: 'for this client address',
}

const nameOf: Readonly<Record<Limited, string>> = {
  requests: 'requests',
  waits: 'waits for calls',
  streams: 'streams',
}

/** `excess`: the exceeded limit, such as `Too many requests: 60 a minute`. */
function refuseBeyond(
  response: ServerResponse,
  refusal: {
    readonly what: Limited | 'rate'
    readonly reached: BoundName
    readonly excess: string
    readonly seconds: number
  },
): void {
  const { what, reached, excess, seconds } = refusal
  response.setHeader('retry-after', String(seconds))
  refuse(
    response,
    reached === 'inAll' ? 503 : 429,
    `${excess} ${whose[reached]} (--max-${what}${settingOf[reached]}). Try again in ${seconds} s.`,
  )
}

/** A stream, its owner and the URIs of the watched resources. */
interface WatchingStream {
  readonly key: string
  readonly network: string
  readonly uris: readonly string[]
}

/**
 * Counts the resources that the streams of each client network watch. A resource that several
 * streams of one API key watch is read once, so it counts once. `bound`: maximum resources per
 * network; 0: no limit.
 */
function watchedByNetwork(bound: number) {
  /** For each network, the number of streams that watch each resource. */
  const watched = new Map<string, Map<string, number>>()
  return {
    /** Counts a stream until the returned function is called. Throws WatchLimitError. */
    add({ key, network, uris }: WatchingStream): () => void {
      const counts = watched.get(network) ?? new Map<string, number>()
      const resources = uris.map((uri) => `${key} ${uri}`)
      const added = resources.filter((one) => !counts.has(one)).length
      if (bound > 0 && added > 0 && counts.size + added > bound) {
        throw new WatchLimitError('perAddress', bound)
      }
      for (const one of resources) counts.set(one, (counts.get(one) ?? 0) + 1)
      watched.set(network, counts)
      return () => {
        for (const one of resources) {
          const streams = (counts.get(one) ?? 0) - 1
          if (streams > 0) counts.set(one, streams)
          else counts.delete(one)
        }
        if (counts.size === 0 && watched.get(network) === counts) watched.delete(network)
      }
    },
  }
}
