import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
} from '@modelcontextprotocol/server'
import type { Scope } from '../platform/sessions/credential.ts'
import type { TokenFault } from '../server/transports/http-authorization.ts'

/** The addresses of the authorization server, below the public one. */
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
  /** The same under the name of OpenID Connect, where some clients look. */
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

/** The pages of one authorization request, and where its browser goes on after them. */
const ofRequest = new RegExp(`^(?:${paths.interaction}|${paths.authorize})/([\\w-]+)$`)

/**
 * Whether a path is one of the authorization server, to the letter. oidc-provider's own router ignores
 * case and a slash at the end: such a path would pass by every check that is made here by path.
 */
export const isOauthPath = (path: string): boolean =>
  endpoints.has(path) || ofRequest.test(path) || path.startsWith(`${paths.resourceMetadata}/`)

/** The id of the authorization request that a path of an interaction names. */
export const interactionIn = (path: string): string | undefined =>
  path.startsWith(`${paths.interaction}/`) ? ofRequest.exec(path)?.[1] : undefined

/** The resource that access tokens are for: the address of MCP. */
export const resourceOf = (publicUrl: URL): URL => new URL('/mcp', publicUrl)

/** The metadata of the protected resource (RFC 9728). */
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
 * The challenge to a request without a valid token, or without the scopes that it needs (RFC 6750 §3,
 * RFC 9728 §5.1). The scopes are those of the operation, or all where no token was sent.
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

/** The network of the client whose request is answered: what strangers may use is counted by it. */
export const clientNetwork = new AsyncLocalStorage<string>()

/** Parameters of OpenID Connect (Core §3.1.2.1) that oidc-provider refuses without its scope. */
const ofOpenidConnect = ['nonce', 'max_age', 'id_token_hint']

/**
 * The address of an authorization request with what this server knows. Parameters of OpenID Connect are
 * ignored, as all that are unknown (RFC 6749 §3.1); a person is asked each time, so of its prompts only
 * "none" changes anything. The answer comes in the query: another mode is replaced by one that is
 * refused, because oidc-provider has no setting that leaves its other modes out. So is another response
 * type, because the error of one with a token would come in the fragment. Where it asks for none of the
 * scopes that this server has, it asks for all (RFC 6749 §3.3).
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

/** Asks for refresh tokens (OpenID Connect Core §11); clients get them without asking, too. */
export const offlineAccess = 'offline_access'
