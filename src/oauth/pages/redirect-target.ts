import { quotedUpTo } from '../../text/dialog-text.ts'

/** Where a person is sent back to, in what differs for them. */
export type RedirectTarget =
  /** A web address on a host. */
  | { readonly kind: 'web'; readonly host: string }
  /** A program that listens on the person's own machine. */
  | { readonly kind: 'this_computer' }
  /** A program that the system starts for addresses of a scheme, such as `cursor:`. */
  | { readonly kind: 'app'; readonly scheme: string }

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export function redirectTarget(redirectUri: string): RedirectTarget {
  const url = URL.parse(redirectUri)
  if (!url) return { kind: 'app', scheme: quotedUpTo(redirectUri, 40) }
  if (!/^https?:$/.test(url.protocol)) return { kind: 'app', scheme: url.protocol }
  return loopback.test(url.hostname) ? { kind: 'this_computer' } : { kind: 'web', host: url.host }
}

/**
 * The source that lets a form end at this address (CSP 3 §6.4.2 checks redirects, too). An IPv6
 * address cannot be written in a policy, and an app has no host: there the scheme is admitted.
 */
export function formActionSource(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri)
  if (!url) return undefined
  const isWeb = /^https?:$/.test(url.protocol)
  return isWeb && !url.hostname.startsWith('[') ? url.origin : url.protocol
}
