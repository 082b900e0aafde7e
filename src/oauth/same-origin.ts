import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a form was sent from a page of the public address. Browsers say so in Sec-Fetch-Site; those
 * that do not, in Origin. A request that says neither is not from a browser's form, and has no cookie
 * of a person either.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, publicUrl: URL): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  // "null": a page with a strict Referrer-Policy, where Sec-Fetch-Site decides.
  if (origin !== undefined && origin !== 'null' && origin !== publicUrl.origin) return false
  if (site !== undefined) return site === 'same-origin'
  return origin === publicUrl.origin
}
