import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
} from '@modelcontextprotocol/server'
import { errors, Provider } from 'oidc-provider'
import type { Scope } from '../platform/sessions/credential.ts'
import type { TokenFault } from '../server/transports/http-authentication.ts'

/*
 * The HTTP interface of the authorization server: its paths, the protected resource metadata, the
 * challenges to clients, and the corrections to requests before oidc-provider answers them.
 */

/** Paths of the authorization server, below the public address. */
export const paths = {
  authorize: '/oauth/authorize',
  interaction: '/oauth/interaction',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  jwks: '/oauth/jwks',
  endSession: '/oauth/end',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  serverMetadata: '/.well-known/oauth-authorization-server',
  /** The metadata under OpenID Connect's path, where some clients look. */
  openidMetadata: '/.well-known/openid-configuration',
} as const

const endpoints: ReadonlySet<string> = new Set([
  paths.authorize,
  paths.token,
  paths.register,
  paths.revoke,
  paths.jwks,
  paths.serverMetadata,
  paths.openidMetadata,
  paths.resourceMetadata,
])

/** Paths of one authorization request: its page, and the URL that resumes it after the page. */
const ofRequest = new RegExp(`^(?:${paths.interaction}|${paths.authorize})/([\\w-]+)$`)

/**
 * True for a path of the authorization server. The match is exact: oidc-provider's router ignores
 * case and a trailing slash, so a looser match would bypass every check by path.
 */
export const isOauthPath = (path: string): boolean =>
  endpoints.has(path) || ofRequest.test(path) || path.startsWith(`${paths.resourceMetadata}/`)

/** Id of the authorization request in an interaction's path. */
export const interactionIn = (path: string): string | undefined =>
  path.startsWith(`${paths.interaction}/`) ? ofRequest.exec(path)?.[1] : undefined

/** Resource of access tokens: the MCP endpoint. */
export const resourceOf = (publicUrl: URL): URL => new URL('/mcp', publicUrl)

/** Protected resource metadata (RFC 9728). */
export const resourceMetadata = (publicUrl: URL, scopes: readonly Scope[]) => ({
  ...buildOAuthProtectedResourceMetadata({
    oauthMetadata: {
      issuer: publicUrl.origin,
      authorization_endpoint: new URL(paths.authorize, publicUrl).href,
      token_endpoint: new URL(paths.token, publicUrl).href,
      response_types_supported: ['code'],
    },
    resourceServerUrl: resourceOf(publicUrl),
    scopesSupported: [...scopes],
    resourceName: 'voice-agent-mcp',
    dangerouslyAllowInsecureIssuerUrl: publicUrl.protocol === 'http:',
  }),
  authorization_servers: [publicUrl.origin],
  bearer_methods_supported: ['header'],
})

const descriptions = {
  invalid_token: 'The access token has expired, was revoked, or is not of this server.',
  insufficient_scope: 'The access token does not allow this tool.',
} as const

/**
 * The challenge to a request without a valid token, or without the scopes that it needs (RFC 6750
 * §3, RFC 9728 §5.1). If the token lacks scopes, the challenge names the scopes of the operation;
 * otherwise it names all scopes.
 */
export function bearerChallenge(
  publicUrl: URL,
  scopes: readonly Scope[],
  fault: TokenFault | undefined,
): string {
  const wanted = fault?.error === 'insufficient_scope' ? fault.scopes : scopes
  const parameters = {
    realm: 'voice-agent-mcp',
    ...(fault && { error: fault.error, error_description: descriptions[fault.error] }),
    scope: wanted.join(' '),
    resource_metadata: getOAuthProtectedResourceMetadataUrl(resourceOf(publicUrl)),
  }
  const listed = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`)
  return `Bearer ${listed.join(', ')}`
}

/**
 * Presents a request to oidc-provider as sent to the public address. Behind a proxy Host and
 * forwarding headers differ, and anyone can forge them. `address`: the client's.
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

/** Network of the current request's client. Quotas of unauthenticated requests count by it. */
export const clientNetwork = new AsyncLocalStorage<string>()

/**
 * Error for a rate-limited client: status 429 with Retry-After. oidc-provider's status, 400, would
 * mean that a retry is useless.
 */
export function tooMany(description: string, waitMs = 60_000): Error {
  Provider.ctx?.set('retry-after', String(Math.ceil(waitMs / 1000)))
  const error = new errors.TemporarilyUnavailable(description)
  return Object.assign(error, { status: 429, statusCode: 429 })
}

/**
 * Parameters of OpenID Connect (Core §3.1.2.1). Without the scope `openid`, oidc-provider refuses
 * them.
 */
const ofOpenidConnect = ['nonce', 'max_age', 'id_token_hint']

/**
 * Returns the URL of an authorization request, corrected for oidc-provider:
 * - OpenID Connect parameters that oidc-provider would refuse are dropped. Unknown parameters must
 *   be ignored (RFC 6749 §3.1).
 * - A prompt other than `none` is dropped, because a person is asked each time.
 * - Another response mode or type is replaced by an invalid one, so that it is refused:
 *   oidc-provider cannot disable its other modes, and would send the error of a token response in
 *   the fragment.
 * - A request without a supported scope gets all scopes (RFC 6749 §3.3).
 */
export function knownRequest(address: string, offered: readonly Scope[]): string {
  const [path = '', query = ''] = address.split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  for (const name of ofOpenidConnect) params.delete(name)
  if (params.get('prompt') !== 'none') params.delete('prompt')
  for (const [name, only] of [
    ['response_mode', 'query'],
    ['response_type', 'code'],
  ] as const) {
    if (params.getAll(name).some((value) => value !== only)) params.set(name, 'unsupported')
  }
  const asked = params.getAll('scope').join(' ').split(' ')
  const ours = offered.filter((scope) => asked.includes(scope))
  const scopes = ours.length > 0 ? ours : offered
  const more = asked.includes(offlineAccess) ? [offlineAccess] : []
  params.set('scope', [...scopes, ...more].join(' '))
  return `${path}?${params}`
}

/**
 * Scope that requests refresh tokens (OpenID Connect Core §11). Clients get them without it, too.
 */
export const offlineAccess = 'offline_access'
