import type { IncomingMessage, ServerResponse } from 'node:http'
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server'
import type { Exposure } from '../../mcp/exposure.ts'
import type { GetHeader } from '../../mcp/messages.ts'
import type { ExposureOfRequest } from '../../mcp/request-exposure.ts'
import type { Credential } from '../../platform/sessions/session.ts'
import {
  type AddressRange,
  type ClientAddress,
  createClientAddress,
  networkOf,
} from './client-network.ts'
import { refuse, refuseMethod, sendJson } from './http-answers.ts'
import { type ProbeOptions, probes } from './http-probes.ts'
import type { Site, SiteRequest } from './http-site.ts'
import type { Authorization } from './key.ts'
import { type OwnKey, ownKeyCheck, readKey } from './key.ts'
import { hostCheck } from './listen.ts'

export interface AdmissionOptions extends Sources, ProbeOptions {
  /** Which requests without a key are served, with the operator's key or the sandbox's. */
  readonly ownKey: OwnKey
  readonly exposureFor: ExposureOfRequest
  /** `undefined`: there are no access tokens, and requests bring API keys. */
  readonly authorization?: Authorization | undefined
  /** Proxies in front of this server, which tell the addresses of clients; default: none. */
  readonly trustedProxies?: readonly AddressRange[]
  /** `undefined`: there are no pages for people. */
  readonly site?: Site | undefined
}

/** A request to the authorization server. */
export interface AuthorizationRequest {
  readonly authorization: Authorization
  /** The address of the client. */
  readonly address: string
}

/** A POST to /mcp that may be served. */
export interface AdmittedRequest {
  /** The key of the request; `undefined`: it uses the server's own, or has an access token. */
  readonly credential: Credential | undefined
  /** The access token that it brings instead of a key. It is not checked yet. */
  readonly accessToken?: string | undefined
  readonly header: GetHeader
  /** What its headers leave of the tools. An access token may restrict it further. */
  readonly exposure: Exposure
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
): (
  request: IncomingMessage,
  response: ServerResponse,
) => AdmittedRequest | AuthorizationRequest | SiteRequest | undefined {
  const { authorization, site } = options
  const refusalOfSource = sourceCheck(options)
  const refusalOfHost = hostCheck(options)
  const clientAddress = createClientAddress(options.trustedProxies ?? [])
  const admissionOf = admissionCheck(options, clientAddress)
  const isProbe = probes(options)
  return (request, response) => {
    const path = request.url?.split('?')[0]
    if (isProbe(path, request, response)) return undefined
    if ((request.headersDistinct.host?.length ?? 0) > 1) {
      return void refuse(response, 400, 'The request has more than one Host header.')
    }
    const isForAuthorization = authorization?.serves(path ?? '') ?? false
    const isForSite = path !== '/mcp' && (site?.serves(path ?? '', request) ?? false)
    // The authorization server has checks of its own. A page of the site may be opened from any other
    // site: where it needs a secret, its address holds that.
    const refusal =
      isForAuthorization || isForSite
        ? refusalOfHost(request.headers.host)
        : refusalOfSource(request.headers)
    if (refusal) return void refuse(response, 403, refusal)
    if (authorization && isForAuthorization) {
      return { authorization, address: clientAddress(request) }
    }
    if (site && isForSite) return { site, network: networkOf(clientAddress(request)) }
    allowPage(request, response, authorization ? ', www-authenticate' : '')
    if (path !== '/mcp' && path !== '/mcp/') return void sendNotFound(response)
    if (request.method === 'OPTIONS') return void response.writeHead(204, { allow: methods }).end()
    const admission = admissionOf(request)
    if (!admission.ok) {
      const moreFor = (status: number) => (authorization && status === 401 ? oauthHelp : '')
      if (authorization) response.setHeader('www-authenticate', authorization.challenge())
      return void refuse(response, admission.status, admission.message + moreFor(admission.status))
    }
    if (request.method !== 'POST') return void refuseMethod(response, methods)
    return admission
  }
}

/** Checks the key of a request, and which tools it wants. */
function admissionCheck(
  { ownKey, allowedOrigins, exposureFor, authorization }: AdmissionOptions,
  clientAddress: ClientAddress,
) {
  const refusalOfOwnKey = ownKeyCheck(ownKey, allowedOrigins)
  return (request: IncomingMessage): Admission => {
    const { headers, headersDistinct } = request
    const key = readKey(headersDistinct)
    if (!key.ok) return key
    const { credential, tokens, accessToken } = key
    if (accessToken !== undefined && !authorization) return noAccessTokens
    const hasKey = credential !== undefined || accessToken !== undefined
    const keyRefusal = hasKey ? undefined : refusalOfOwnKey({ headers, tokens })
    if (keyRefusal) return { ok: false, ...keyRefusal }
    const header: GetHeader = (name) => headersDistinct[name.toLowerCase()]?.join(', ')
    const requested = exposureFor(header)
    if (!requested.ok) return { ...requested, status: 400 }
    const { exposure } = requested
    const network = networkOf(clientAddress(request))
    const sent = credential && { ...credential, clientNetwork: network }
    return { ok: true, credential: sent, accessToken, header, exposure, network }
  }
}

const oauthHelp =
  ' Clients that use OAuth find where to get a token in the header WWW-Authenticate.'

const noAccessTokens: Admission = {
  ok: false,
  status: 401,
  message:
    'The request holds an access token, but this server runs without --oauth. Send an API key as X-API-Key, or as Authorization: Bearer.',
}

const sendNotFound = (response: ServerResponse) =>
  sendJson(response, 404, {
    error: 'MCP is at /mcp. A browser finds a page at /; else there are only /healthz and /readyz.',
  })

/** Where requests may come from. */
interface Sources {
  /** The address to listen on, as the operator wrote it. */
  readonly host: string
  /** Whether only this machine reaches the address. */
  readonly isLoopback: boolean
  /** Host names that clients may use, besides those of this machine. */
  readonly allowedHosts: readonly string[]
  /** Host names of web pages that may connect, besides those of this machine. */
  readonly allowedOrigins: readonly string[]
}

/** Returns a check of Host and Origin: why a request is refused, or `undefined` if it is not. */
function sourceCheck({ allowedOrigins, ...listening }: Sources) {
  const refusalOfHost = hostCheck(listening)
  const origins = [...localhostAllowedOrigins(), ...allowedOrigins]
  return ({ host, origin }: IncomingMessage['headers']): string | undefined => {
    const refusal = refusalOfHost(host)
    if (refusal) return refusal
    const page = validateOriginHeader(origin, origins)
    return page.ok ? undefined : page.message
  }
}

/** Lets a web page read the answers (CORS). Requests of pages that are not allowed are refused before. */
function allowPage(request: IncomingMessage, response: ServerResponse, moreHeaders = ''): void {
  const { origin } = request.headers
  if (!origin) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS')
  response.setHeader(
    'access-control-allow-headers',
    request.headers['access-control-request-headers'] ?? 'content-type',
  )
  response.setHeader(
    'access-control-expose-headers',
    `mcp-session-id, mcp-protocol-version${moreHeaders}`,
  )
  response.setHeader('access-control-max-age', '600')
}
