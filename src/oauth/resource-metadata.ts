import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
} from '@modelcontextprotocol/server'
import type { Scope } from '../session/credential.ts'
import type { TokenFault } from '../transports/authorization.ts'
import { paths } from './paths.ts'

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
