import * as oauth from 'oauth4webapi'
import type { OauthServer } from './oauth-server.ts'
import { allowInSandbox } from './oauth-user-agent.ts'

const insecure = { [oauth.allowInsecureRequests]: true }

/**
 * Registers a client of oauth4webapi, for tests of single steps of the protocol. `more`: redirect
 * URIs beside that of the flow.
 */
export async function registeredClient(
  server: Pick<OauthServer, 'url'>,
  more: readonly string[] = [],
) {
  const issuer = new URL(server.url)
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  )
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { ...metadata, redirect_uris: [redirectUri, ...more] },
      insecure,
    ),
  )
  return new OauthFlow(as, client)
}

const redirectUri = 'http://127.0.0.1:8123/callback'
const metadata = {
  client_name: 'oauth4webapi',
  token_endpoint_auth_method: 'none',
}

export class OauthFlow {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly redirectUri = redirectUri
  readonly resource: string

  constructor(as: oauth.AuthorizationServer, client: oauth.Client) {
    this.as = as
    this.client = client
    this.resource = `${as.issuer}/mcp`
  }

  /**
   * The authorization URL and its PKCE verifier. `more`: added or changed parameters; `null`
   * removes one.
   */
  async authorizationUrl(more: Record<string, string | null> = {}) {
    const verifier = oauth.generateRandomCodeVerifier()
    const url = new URL(this.as.authorization_endpoint ?? '')
    const parameters = {
      client_id: this.client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'read write call',
      state: 'state of the client',
      resource: this.resource,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...more,
    }
    for (const [name, value] of Object.entries(parameters))
      if (value !== null) url.searchParams.set(name, value)
    return { url, verifier }
  }

  /**
   * Allows access in the sandbox and returns the code. The response is checked as a client does:
   * state and issuer.
   */
  async code(fields: Record<string, string | string[]> = {}, more = {}) {
    const { url, verifier } = await this.authorizationUrl(more)
    const sentTo = await allowInSandbox(url, fields)
    const checked = oauth.validateAuthResponse(this.as, this.client, sentTo, 'state of the client')
    return { checked, verifier, code: checked.get('code') ?? '' }
  }

  async exchange({ checked, verifier }: Awaited<ReturnType<OauthFlow['code']>>, more = {}) {
    const response = await oauth.authorizationCodeGrantRequest(
      this.as,
      this.client,
      oauth.None(),
      checked,
      redirectUri,
      verifier,
      { additionalParameters: { resource: this.resource, ...more }, ...insecure },
    )
    return oauth.processAuthorizationCodeResponse(this.as, this.client, response)
  }

  /** Tokens of a new grant. */
  async tokens(fields: Record<string, string | string[]> = {}) {
    return this.exchange(await this.code(fields))
  }

  async refresh(refreshToken: string, as = this.as) {
    const response = await oauth.refreshTokenGrantRequest(
      as,
      this.client,
      oauth.None(),
      refreshToken,
      insecure,
    )
    return oauth.processRefreshTokenResponse(as, this.client, response)
  }

  async revoke(token: string): Promise<void> {
    const response = await oauth.revocationRequest(
      this.as,
      this.client,
      oauth.None(),
      token,
      insecure,
    )
    await oauth.processRevocationResponse(response)
  }
}

/** Sends a tools/call with these headers, for tests of the status and the challenge. */
export const callTool = (mcp: string, name: string, headers: Record<string, string>, args = {}) =>
  fetch(mcp, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  })

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
