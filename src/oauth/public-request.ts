import type { IncomingMessage } from 'node:http'
import type { Scope } from '../session/credential.ts'

/**
 * Lets oidc-provider see a request as it was made to the public address, whatever Host and forwarding
 * headers it came with: behind a proxy they differ, and anyone can write them. `address`: the client's.
 */
export function asPublicRequest(
  request: IncomingMessage,
  { publicUrl, address }: { readonly publicUrl: URL; readonly address: string },
): void {
  for (const name of Object.keys(request.headers)) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete request.headers[name]
  }
  request.headers.host = publicUrl.host
  request.headers['x-forwarded-proto'] = publicUrl.protocol.slice(0, -1)
  request.headers['x-forwarded-for'] = address
}

/** Parameters of OpenID Connect (Core §3.1.2.1) that oidc-provider refuses without its scope. */
const ofOpenidConnect = ['nonce', 'max_age', 'id_token_hint']

/**
 * The address of an authorization request with what this server knows. Parameters of OpenID Connect are
 * ignored, as all that are unknown (RFC 6749 §3.1); a person is asked each time, so of its prompts only
 * "none" changes anything. The answer comes in the query: another mode is replaced by one that is
 * refused, because oidc-provider has no setting that leaves its other modes out.
 */
export function withKnownParameters(address: string): string {
  const [path = '', query = ''] = address.split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  for (const name of ofOpenidConnect) params.delete(name)
  if (params.get('prompt') !== 'none') params.delete('prompt')
  const modes = params.getAll('response_mode')
  if (modes.some((mode) => mode !== 'query')) params.set('response_mode', 'unsupported')
  return `${path}?${params}`
}

/**
 * The address of an authorization request with the scopes that this server has; where it asks for none
 * of ours, it asks for all (RFC 6749 §3.3).
 */
export function withScopes(address: string, offered: readonly Scope[]): string {
  const [path = '', query = ''] = address.split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  const asked = params.getAll('scope').join(' ').split(' ')
  const ours = offered.filter((scope) => asked.includes(scope))
  const scopes = ours.length > 0 ? ours : offered
  const more = asked.includes(offlineAccess) ? [offlineAccess] : []
  params.set('scope', [...scopes, ...more].join(' '))
  return `${path}?${params}`
}

/** Asks for refresh tokens (OpenID Connect Core §11); clients get them without asking, too. */
export const offlineAccess = 'offline_access'
