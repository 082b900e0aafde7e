import type { LookupAddress, LookupOptions } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { FetchRefusal } from './fetch-refusal.ts'

/** All addresses of a host. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>

/**
 * Asks the name servers directly. `dns.lookup` would take a thread of Node's pool for each name, so a
 * stranger's slow name server could stop everything else that needs one.
 */
export function nameServerLookup(timeoutMs: number): ResolveHost {
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

/** The names of this machine; no name server is asked for them (RFC 6761 §6.3). */
export const isLocalhost = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host)

const addresses = (result: PromiseSettledResult<string[]>) =>
  result.status === 'fulfilled' ? result.value : []

/**
 * The lookup of a connection: it connects to the very addresses that were checked, so a name server
 * that answers differently the next time (DNS rebinding) changes nothing. A host with one address that
 * is not allowed is refused as a whole.
 */
export function guardedLookup(
  resolveHost: ResolveHost,
  mayReach: (address: string) => boolean,
): LookupFunction {
  return (host, options, callback) => {
    checkedAddresses(host, resolveHost, mayReach).then(
      (found) => answer(found, options, callback),
      (error: Error) => callback(error, []),
    )
  }
}

async function checkedAddresses(
  host: string,
  resolveHost: ResolveHost,
  mayReach: (address: string) => boolean,
): Promise<readonly LookupAddress[]> {
  const found = await resolveHost(host).catch((cause: unknown) => {
    throw new FetchRefusal('unresolved', `${host} has no address.`, { cause })
  })
  if (found.length === 0) throw new FetchRefusal('unresolved', `${host} has no address.`)
  if (!found.every(({ address }) => mayReach(address))) {
    throw new FetchRefusal('not_public', `${host} is not on the public internet.`)
  }
  return found
}

/** As `dns.lookup` answers: all addresses, or the first one, of the family that is wanted. */
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
