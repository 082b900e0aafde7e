import type { AuthInfo } from '@modelcontextprotocol/server'

/**
 * An API key, and where it came from in words for a person. The key is never logged. Only a key that
 * a user enters for OAuth is stored, encrypted (oauth/platform-keys.ts).
 */
export interface Credential {
  readonly apiKey: string
  readonly source: string
  /** Network of the client that sent the API key; `undefined` for the server's own key. */
  readonly clientNetwork?: string | undefined
  /** OAuth client id of the request's access token. */
  readonly oauthClient?: string | undefined
  /** Scopes of the request's access token; `undefined` for an API key, which allows everything. */
  readonly scopes?: readonly Scope[] | undefined
}

/** Scopes that a person can grant to a client: read, change, place calls. */
export const scopes = ['read', 'write', 'call'] as const
export type Scope = (typeof scopes)[number]

/** True for a possible API key: visible ASCII, which fits in a header. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text)

/** Header that carries the server's local token. */
export const localTokenHeader = 'X-MCP-Local-Token'

/** Prefix of local tokens, which distinguishes them from API keys. */
export const localTokenPrefix = 'voice-agent-mcp-local-'

/** True if a text contains a local token, which must not be sent to the platform. */
export const holdsLocalToken = (text: string): boolean =>
  text.toLowerCase().includes(localTokenPrefix)

/**
 * Mark in every token of this server's authorization server. Access tokens have it at both ends, so
 * that a changed or cut token is not taken for an API key.
 */
export const oauthTokenMark = 'voice-agent-mcp'

/**
 * True if a text contains a token of this program's authorization server, and so is not an API key.
 */
export const holdsOauthToken = (text: string): boolean =>
  text.toLowerCase().includes(oauthTokenMark) && !holdsLocalToken(text)

/** The API key of a request, in the form in which the MCP SDK passes it to the server factory. */
export function authInfoOf({ apiKey, ...extra }: Credential): AuthInfo {
  return { token: apiKey, clientId: '', scopes: [], extra }
}

export function credentialOf(authInfo: AuthInfo | undefined): Credential | undefined {
  if (!authInfo) return undefined
  const { source, clientNetwork, oauthClient, scopes: allowed } = authInfo.extra ?? {}
  return {
    apiKey: authInfo.token,
    source: typeof source === 'string' ? source : 'the request',
    clientNetwork: typeof clientNetwork === 'string' ? clientNetwork : undefined,
    oauthClient: typeof oauthClient === 'string' ? oauthClient : undefined,
    scopes: Array.isArray(allowed) ? scopes.filter((scope) => allowed.includes(scope)) : undefined,
  }
}
