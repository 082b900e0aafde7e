import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credential, Scope } from '../../platform/sessions/session.ts'
import { networkOf } from './client-network.ts'
import type { AdmittedRequest, AuthorizationRequest } from './http-admission.ts'
import { refuse } from './http-answers.ts'
import { type ActiveHttpLimits, admitsUnkeyed } from './http-limits.ts'
import type { Authorization } from './key.ts'

/** Answers a request to the authorization server, within the limits of requests without a key. */
export async function answerAuthorization(
  request: IncomingMessage,
  response: ServerResponse,
  { authorization, address, limits }: AuthorizationRequest & { readonly limits: ActiveHttpLimits },
): Promise<void> {
  if (!admitsUnkeyed(limits, { to: 'oauth', network: networkOf(address) }, response)) return
  await authorization.serve(request, response, address)
}

/** The key of a request, also one that an access token stands for; `refused`: it is answered. */
export async function credentialIn(
  {
    credential,
    accessToken,
    network,
    options: { authorization },
  }: AdmittedRequest & { readonly options: { readonly authorization?: Authorization | undefined } },
  response: ServerResponse,
): Promise<Credential | undefined | 'refused'> {
  if (accessToken === undefined || !authorization) return credential
  const reading = await authorization.readToken(accessToken)
  if (reading.ok) return { ...reading.credential, clientNetwork: network }
  if (reading.status === 401) {
    response.setHeader('www-authenticate', authorization.challenge({ error: 'invalid_token' }))
  }
  refuse(response, reading.status, reading.message)
  return 'refused'
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
    const reading = await readToken(accessToken)
    // While the state cannot be asked (503), the stream stays.
    if (!reading.ok && reading.status === 401) response.end()
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
