import { isIP } from 'node:net'

const hostName =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * True for a target of SIP calls (RFC 3261 §19.1.1, without a user): a host name or IP address, with an
 * optional `sip:` or `sips:` before it and an optional port and parameters after it.
 */
export function isSipHost(text: string): boolean {
  const match =
    /^(?:sips?:)?(\[[^\]]*\]|[^:;[\]]*)(?::(\d{1,5}))?(?:;[\w.-]+(?:=[\w.%-]+)?)*$/i.exec(text)
  if (!match) return false
  const [, host = '', port] = match
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false
  if (host.startsWith('[')) return isIP(host.slice(1, -1)) === 6
  return isIP(host) === 4 || (hostName.test(host) && !/^[\d.]+$/.test(host))
}
