import type { AuthInfo } from '@modelcontextprotocol/server'

/** An API key, and where it was taken from in words for a person. Never shown, never stored. */
export interface Credential {
  readonly apiKey: string
  readonly source: string
  /** The network of the client that sent it; `undefined` for a key of the server's own. */
  readonly clientNetwork?: string | undefined
}

/** True for what can be a key: visible ASCII, so that it can stand in a header as it is. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text)

/** The header in which a request brings the local token of the server. */
export const localTokenHeader = 'X-MCP-Local-Token'

/** How every local token begins: by that it is told apart from the keys of platforms. */
export const localTokenPrefix = 'voice-agent-mcp-local-'

/** True for a local token, whole or with something around it: it is never passed on as a key. */
export const holdsLocalToken = (text: string): boolean =>
  text.toLowerCase().includes(localTokenPrefix)

/** A request's own key in the form that the SDK hands through to the factory. */
export function authInfoOf({ apiKey, ...extra }: Credential): AuthInfo {
  return { token: apiKey, clientId: '', scopes: [], extra }
}

export function credentialOf(authInfo: AuthInfo | undefined): Credential | undefined {
  if (!authInfo) return undefined
  const { source, clientNetwork } = authInfo.extra ?? {}
  return {
    apiKey: authInfo.token,
    source: typeof source === 'string' ? source : 'the request',
    clientNetwork: typeof clientNetwork === 'string' ? clientNetwork : undefined,
  }
}
