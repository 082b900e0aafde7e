import type { AuthInfo } from '@modelcontextprotocol/server'

/** An API key, and where it comes from, in words for a person. The key is never logged or stored. */
export interface Credential {
  readonly apiKey: string
  readonly source: string
  /** The network of the client that sent it; `undefined` for a key of the server's own. */
  readonly clientNetwork?: string | undefined
  /** Id of the OAuth client that the access token of the request was made for. */
  readonly oauthClient?: string | undefined
  /** What the access token of the request allows; `undefined` for an API key, which allows all. */
  readonly scopes?: readonly Scope[] | undefined
}

/** The parts of access that a person can allow a client: read, change things, place calls. */
export const scopes = ['read', 'write', 'call'] as const
export type Scope = (typeof scopes)[number]

/** True for a text that can be a key: visible ASCII, which a header can hold as it is. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text)

/** The header in which a request brings the local token of the server. */
export const localTokenHeader = 'X-MCP-Local-Token'

/** The beginning of every local token, which distinguishes it from API keys. */
export const localTokenPrefix = 'voice-agent-mcp-local-'

/** True for a text that contains a local token: it must not be sent to the platform as a key. */
export const holdsLocalToken = (text: string): boolean =>
  text.toLowerCase().includes(localTokenPrefix)

/**
 * A part of every token that this server's authorization server makes: access tokens have it at both
 * ends, so that also one that was changed or cut is not taken for an API key.
 */
export const oauthTokenMark = 'voice-agent-mcp'

/** True for a text with a token of an authorization server of this program: it is no API key. */
export const holdsOauthToken = (text: string): boolean =>
  text.toLowerCase().includes(oauthTokenMark) && !holdsLocalToken(text)

/** A request's own key in the form that the SDK passes to the server factory. */
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
