import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credential, Scope } from '../../platform/sessions/credential.ts'
import { refuse } from './http-answers.ts'

/** What an access token stands for, or why it cannot be used. */
export type TokenResult =
  | { readonly ok: true; readonly credential: Credential }
  /** 401: it is none of this server's that are valid; 503: that cannot be found out now. */
  | { readonly ok: false; readonly status: 401 | 503; readonly message: string }

/** What is wrong with the access token of a request (RFC 6750 §3.1). */
export type TokenFault =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scopes: readonly Scope[] }

/** The authorization server beside an HTTP server, as that one uses it (src/oauth/). */
export interface Authorization {
  /** Whether it answers the requests to a path, which has no query. */
  readonly serves: (path: string) => boolean
  /** Answers a request to one of its paths, which comes from `address`. Never rejects. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ) => Promise<void>
  /** The API key that an access token stands for. Never rejects. */
  readonly readToken: (token: string) => Promise<TokenResult>
  /** The WWW-Authenticate header: how a client gets a token, or a better one. */
  readonly challenge: (fault?: TokenFault) => string
}

/** The key that an access token stands for; `undefined`: the token is refused, and the request is answered. */
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

/** How often the access token of an open stream is checked, ms: each check reads the state. */
const checkMs = 5000

/** Ends a stream whose access token has expired or was revoked; its client comes back with another. */
export function endWithToken(
  response: ServerResponse,
  accessToken: string,
  { readToken }: Authorization,
): void {
  const check = async () => {
    const result = await readToken(accessToken)
    // While the state cannot be asked (503), the stream stays.
    if (!result.ok && result.status === 401) response.end()
  }
  const timer = setInterval(check, checkMs).unref()
  response.once('close', () => clearInterval(timer))
}

/** Refuses a call that needs more than the access token allows (RFC 6750 §3.1). */
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
    `The access token does not allow this tool: it needs the scopes ${needed}. Connect this server again and allow them.`,
  )
}
