import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/**
 * The network of a client, by which its requests are counted: its address, or of an IPv6 address
 * the first 64 bits, which one customer of a provider has at least (RFC 6177).
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  const groups = [...first, ...zeros, ...last]
  return isIpv4(groups) ? groups.join(':') : groups.slice(0, 4).join(':')
}

/** IPv4 in IPv6 (RFC 4291 §2.5.5.2): the last two groups are the address. */
const isIpv4 = (groups: readonly string[]) => groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'

/** Groups of an IPv6 address in one form: proxies write capitals and zeros in front, too (RFC 5952 §2). */
const groupsOf = (part: string): string[] =>
  part
    .split(':')
    .filter(Boolean)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))

/** A range of addresses: `10.0.0.0/8`, or one address. */
export interface AddressRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** How many of its first bits count. */
  readonly prefix: number
}

/** Gives the address of the client that sent a request. */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headersDistinct'>) => string

/**
 * The address that a request comes from. If that is a trusted proxy: the address that the proxy names
 * in X-Forwarded-For. Each proxy adds the address that it was reached from at the end; what
 * comes before the last address that is not a proxy may be forged.
 */
export function createClientAddress(proxies: readonly AddressRange[]): ClientAddress {
  if (proxies.length === 0) return ({ socket }) => plainAddress(socket.remoteAddress ?? '')
  const trusted = new BlockList()
  for (const { address, prefix, family } of proxies) trusted.addSubnet(address, prefix, family)
  const isTrusted = (address: string) => {
    const family = isIP(address)
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
  return ({ socket, headersDistinct }) => {
    const forwarded = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    let address = plainAddress(socket.remoteAddress ?? '')
    while (isTrusted(address)) {
      const next = plainAddress(forwarded.pop()?.trim() ?? '')
      if (isIP(next) === 0) break
      address = next
    }
    return address
  }
}

/** Without brackets and port, and an IPv4 address that a socket for both shows as IPv6 as itself. */
const plainAddress = (text: string) =>
  text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
