import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GetHeader } from '../mcp/protocol/envelope.ts'
import type { Credential } from '../session/credential.ts'
import { networkOf } from './client-network.ts'
import { refuse, refuseMethod, sendJson } from './http-answers.ts'
import { type ProbeOptions, probes } from './http-probes.ts'
import { allowPage, type Sources, sourceCheck } from './http-source.ts'
import { readKey } from './key.ts'
import { type OwnKey, ownKeyCheck } from './own-key.ts'

export interface AdmissionOptions extends Sources, ProbeOptions {
  /** Which requests without a key are served, with the operator's key or the sandbox's. */
  readonly ownKey: OwnKey
  /** Why a request cannot have what its headers want of the tools; `undefined` where it can. */
  readonly refusalOf: (header: GetHeader) => string | undefined
}

/** A POST to /mcp that may be served. */
export interface AdmittedRequest {
  /** The key of the request; `undefined`: it uses the server's own. */
  readonly credential: Credential | undefined
  readonly header: GetHeader
  /** The network that it came from. */
  readonly network: string
}

type Admission =
  | ({ readonly ok: true } & AdmittedRequest)
  | { readonly ok: false; readonly status: 400 | 401 | 403; readonly message: string }

/** The methods of /mcp. It has no streams to GET and no sessions to DELETE. */
const methods = 'POST, OPTIONS'

/**
 * Checks everything about a request but its body. Answers a request that is not for MCP or may not
 * be served, and returns `undefined` for it.
 */
export function createAdmission(
  options: AdmissionOptions,
): (request: IncomingMessage, response: ServerResponse) => AdmittedRequest | undefined {
  const refusalOfSource = sourceCheck(options)
  const admissionOf = admissionCheck(options)
  const isProbe = probes(options)
  return (request, response) => {
    const path = request.url?.split('?')[0]
    if (isProbe(path, request, response)) return undefined
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      return void refuse(response, 400, 'The request has more than one Host header.')
    }
    const refusal = refusalOfSource(request.headers)
    if (refusal) return void refuse(response, 403, refusal)
    allowPage(request, response)
    if (path !== '/mcp' && path !== '/mcp/') return void sendNotFound(response)
    if (request.method === 'OPTIONS') return void response.writeHead(204, { allow: methods }).end()
    const admission = admissionOf(request)
    if (!admission.ok) return void refuse(response, admission.status, admission.message)
    if (request.method !== 'POST') return void refuseMethod(response, methods)
    return admission
  }
}

/** Checks the key of a request, and which tools it wants. */
function admissionCheck({ ownKey, allowedOrigins, refusalOf }: AdmissionOptions) {
  const refusalOfOwnKey = ownKeyCheck(ownKey, allowedOrigins)
  return ({ headers, headersDistinct, socket }: IncomingMessage): Admission => {
    const key = readKey(headersDistinct)
    if (!key.ok) return key
    const { credential, tokens } = key
    const keyRefusal = credential ? undefined : refusalOfOwnKey({ headers, tokens })
    if (keyRefusal) return { ok: false, ...keyRefusal }
    const header: GetHeader = (name) => headersDistinct[name.toLowerCase()]?.join(', ')
    const message = refusalOf(header)
    if (message !== undefined) return { ok: false, status: 400, message }
    const network = networkOf(socket.remoteAddress ?? '')
    const sent = credential && { ...credential, clientNetwork: network }
    return { ok: true, credential: sent, header, network }
  }
}

const sendNotFound = (response: ServerResponse) =>
  sendJson(response, 404, {
    error: 'MCP is at /mcp. Nothing else is here but /healthz and /readyz.',
  })
