import ipaddr from 'ipaddr.js'

/**
 * Whether an IP address belongs to the public internet: none of the special-purpose blocks (RFC 6890),
 * and of IPv6 only what is given out (2000::/3). Addresses that carry an IPv4 address (mapped, 6to4,
 * NAT64) do not.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'))
}
