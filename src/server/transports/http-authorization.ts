import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credential, Scope } from '../../platform/sessions/credential.ts'
import { refuse } from './http-answers.ts'

/** The API key and scopes behind an access token, or why the token is refused. */
export type TokenResult =
  | { readonly ok: true; readonly credential: Credential }
  /** 401: not a valid token for this server; 503: the token cannot be verified now. */
  | { readonly ok: false; readonly status: 401 | 503; readonly message: string }

/** Why an access token is refused, by the error codes of RFC 6750 §3.1. */
export type TokenFault =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scopes: readonly Scope[] }

/** Interface of the authorization server (src/oauth/) for the HTTP server. */
export interface Authorization {
  /** True if the path, without its query, belongs to the authorization server. */
  readonly serves: (path: string) => boolean
  /**
   * Answers a request to a path of the authorization server. `address`: the client's. Never
   * rejects.
   */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ) => Promise<void>
  /** Returns the API key behind an access token. Never rejects. */
  readonly readToken: (token: string) => Promise<TokenResult>
  /**
   * Value of the WWW-Authenticate header, which tells clients how to get a token or more scopes.
   */
  readonly challenge: (fault?: TokenFault) => string
}

/**
 * Returns the API key behind an access token; `undefined`: the token was refused and the request
 * answered.
 */
export async function credentialOfToken(
  accessToken: string,
  { readToken, challenge }: Authorization,
  response: ServerResponse,
): Promise<Credential | undefined> {
  const result = await readToken(accessToken)
  if (result.ok) return result.credential
  if (result.status === 401)
    response.setHeader('www-authenticate', challenge({ error: 'invalid_token' }))
  return void refuse(response, result.status, result.message)
}

/** Interval of access token checks for an open stream, ms. A check costs one read of the state. */
const checkMs = 5000

/**
 * Ends a stream when its access token expires or is revoked. The client can reconnect with a new
 * token.
 */
export function endWithToken(
  response: ServerResponse,
  accessToken: string,
  { readToken }: Authorization,
): void {
  const check = async () => {
    const result = await readToken(accessToken)
    // The stream survives an unreachable state (503).
    if (!result.ok && result.status === 401) response.end()
  }
  const timer = setInterval(check, checkMs).unref()
  response.once('close', () => clearInterval(timer))
}

/** Refuses a tool call outside the token's scopes (RFC 6750 §3.1). */
export function refuseScopes(
  response: ServerResponse,
  scopes: readonly Scope[],
  { challenge }: Authorization,
): void {
  response.setHeader('www-authenticate', challenge({ error: 'insufficient_scope', scopes }))
  const needed = scopes.join(' ')
  refuse(
    response,
    403,
    `The access token does not allow this tool: it needs the scopes ${needed}. Connect this server again, and tick them on the page.`,
  )
}
