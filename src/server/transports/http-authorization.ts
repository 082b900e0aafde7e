import type { IncomingMessage, ServerResponse } from 'node:http'
import { scopedExposure } from '../../mcp/request-exposure.ts'
import type { Scope } from '../../platform/sessions/session.ts'
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

/**
 * A request with the key that its access token stands for, and what the token allows; `undefined`: the
 * token is refused, and the request is answered.
 */
export async function requestWithToken(
  admitted: AdmittedRequest & {
    readonly options: { readonly authorization?: Authorization | undefined }
  },
  response: ServerResponse,
): Promise<AdmittedRequest | undefined> {
  const { accessToken, network, exposure } = admitted
  const { authorization } = admitted.options
  if (accessToken === undefined || !authorization) return admitted
  const reading = await authorization.readToken(accessToken)
  if (reading.ok) {
    const credential = { ...reading.credential, clientNetwork: network }
    return { ...admitted, credential, exposure: scopedExposure(exposure, credential.scopes) }
  }
  if (reading.status === 401) {
    response.setHeader('www-authenticate', authorization.challenge({ error: 'invalid_token' }))
  }
  return void refuse(response, reading.status, reading.message)
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
