import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server'
import type { Exposure } from '../../mcp/exposure.ts'
import type { GetHeader } from '../../mcp/messages.ts'
import type { ExposureOfRequest } from '../../mcp/request-exposure.ts'
import type { Credential } from '../../platform/sessions/credential.ts'
import { refuse, refuseMethod, sendJson } from './http-answers.ts'
import { type Authorization, type OwnKey, ownKeyCheck, readKey } from './http-authentication.ts'
import { hostCheck } from './listen.ts'
import { networkOf } from './quotas.ts'

export interface AdmissionOptions {
  /** The address to listen on, as the operator wrote it. */
  readonly host: string
  /** True for a loopback address. */
  readonly isLoopback: boolean
  /** Allowed Host names, in addition to those of this machine. */
  readonly allowedHosts: readonly string[]
  /** Allowed Origin host names, in addition to those of this machine. */
  readonly allowedOrigins: readonly string[]
  /** Which requests without an API key may use the server's own key. */
  readonly ownKey: OwnKey
  /** `undefined`: no access tokens. Requests then send API keys. */
  readonly authorization?: Authorization | undefined
  /** Proxies whose X-Forwarded-For is trusted; default: none. */
  readonly trustedProxies?: readonly AddressRange[]
}

/** An admitted POST to /mcp. */
export interface AdmittedRequest {
  /**
   * API key of the request; `undefined`: the request has an access token, or uses the server's own
   * key.
   */
  readonly credential: Credential | undefined
  /** Access token sent instead of an API key. Not verified yet. */
  readonly accessToken: string | undefined
  readonly header: GetHeader
  /**
   * Tools exposed after the restrictions in the headers. An access token may restrict them further.
   */
  readonly exposure: Exposure
  readonly network: string
}

/** True for the path of the MCP endpoint. */
export const isMcp = (path: string): boolean => path === '/mcp' || path === '/mcp/'

/** Methods of /mcp. GET and DELETE are refused: there are no standalone streams and no sessions. */
const methods = 'POST, OPTIONS'

/**
 * Checks everything of a request except its body: Host, Origin, path, API key, headers and method.
 */
export function createAdmission(options: AdmissionOptions, exposureFor: ExposureOfRequest) {
  const { authorization, ownKey, allowedOrigins, trustedProxies = [] } = options
  const refusalOfHost = hostCheck(options)
  const refusalOfOwnKey = ownKeyCheck(ownKey, allowedOrigins)
  const origins = [...localhostAllowedOrigins(), ...allowedOrigins]
  const addressOf = createClientAddress(trustedProxies)
  const exposedHeaders = `mcp-session-id, mcp-protocol-version${authorization ? ', www-authenticate' : ''}`

  /** Refuses a request with a Host header that is not allowed. Returns true if it was refused. */
  function refusesHost({ headersDistinct, headers }: IncomingMessage, response: ServerResponse) {
    if ((headersDistinct.host?.length ?? 0) > 1) {
      refuse(response, 400, 'The request has more than one Host header.')
      return true
    }
    const refusal = refusalOfHost(headers.host)
    if (refusal !== undefined) refuse(response, 403, refusal)
    return refusal !== undefined
  }

  function refuseKey(
    response: ServerResponse,
    status: 400 | 401 | 403,
    message: string,
  ): undefined {
    if (authorization) response.setHeader('www-authenticate', authorization.challenge())
    const help = authorization && status === 401 ? oauthHelp : ''
    refuse(response, status, message + help)
  }

  return {
    /**
     * Admits a request to a page or to the authorization server. Returns the client address;
     * `undefined`: the request was refused and answered. Origin is not checked, because any site
     * may link to a page; a page that needs a secret has it in its URL.
     */
    ofPage: (request: IncomingMessage, response: ServerResponse): string | undefined =>
      refusesHost(request, response) ? undefined : addressOf(request),
    /**
     * Admits a POST to /mcp. `undefined`: the request was refused, or was a preflight; it is
     * answered.
     */
    ofMcp(
      path: string,
      request: IncomingMessage,
      response: ServerResponse,
    ): AdmittedRequest | undefined {
      if (refusesHost(request, response)) return undefined
      const { headers, headersDistinct, method } = request
      const page = validateOriginHeader(headers.origin, origins)
      if (!page.ok) return void refuse(response, 403, page.message)
      if (headers.origin) allowPage(request, response, headers.origin, exposedHeaders)
      if (!isMcp(path)) return void sendNotFound(response)
      if (method === 'OPTIONS') return void response.writeHead(204, { allow: methods }).end()
      const key = readKey(headersDistinct)
      if (!key.ok) return refuseKey(response, key.status, key.message)
      const { credential, tokens, accessToken } = key
      if (accessToken !== undefined && !authorization) return refuseKey(response, 401, withoutOauth)
      const refusal =
        credential || accessToken !== undefined ? undefined : refusalOfOwnKey(headers, tokens)
      if (refusal) return refuseKey(response, refusal.status, refusal.message)
      const header: GetHeader = (name) => headersDistinct[name.toLowerCase()]?.join(', ')
      const requested = exposureFor(header)
      if (!requested.ok) return refuseKey(response, 400, requested.message)
      if (method !== 'POST') return void refuseMethod(response, methods)
      const network = networkOf(addressOf(request))
      const sent = credential && { ...credential, clientNetwork: network }
      return { credential: sent, accessToken, header, exposure: requested.exposure, network }
    },
  }
}

const oauthHelp =
  ' Clients that use OAuth find where to get a token in the header WWW-Authenticate.'

const withoutOauth =
  'The request holds an access token, but this server runs without --oauth. Send an API key as X-API-Key, or as Authorization: Bearer.'

const sendNotFound = (response: ServerResponse) =>
  sendJson(response, 404, {
    error: 'Not found. Endpoints: / (for browsers), /mcp, /healthz, /readyz.',
  })

/** Sets the CORS headers for an allowed origin. Other origins were refused earlier. */
function allowPage(
  { headers }: IncomingMessage,
  response: ServerResponse,
  origin: string,
  exposedHeaders: string,
): void {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS')
  response.setHeader(
    'access-control-allow-headers',
    headers['access-control-request-headers'] ?? 'content-type',
  )
  response.setHeader('access-control-expose-headers', exposedHeaders)
  response.setHeader('access-control-max-age', '600')
}

/** A range of addresses, such as `10.0.0.0/8`, or one address. */
export interface AddressRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** Prefix length, bits. */
  readonly prefix: number
}

/** Returns the client address of a request. */
type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headersDistinct'>) => string

/**
 * Returns the peer address of a request or, behind a trusted proxy, the address from
 * X-Forwarded-For. Each proxy appends the address of its peer. Everything before the last address
 * that is not a trusted proxy may be forged.
 */
export function createClientAddress(proxies: readonly AddressRange[]): ClientAddress {
  if (proxies.length === 0) return ({ socket }) => plainAddress(socket.remoteAddress ?? '')
  const trusted = new BlockList()
  for (const { address, prefix, family } of proxies) trusted.addSubnet(address, prefix, family)
  const isTrusted = (address: string) => {
    const family = isIP(address)
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
  return ({ socket, headersDistinct }) => {
    const forwarded = (headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    let address = plainAddress(socket.remoteAddress ?? '')
    while (isTrusted(address)) {
      const next = plainAddress(forwarded.pop()?.trim() ?? '')
      if (isIP(next) === 0) break
      address = next
    }
    return address
  }
}

/** Strips brackets and port, and unwraps IPv4-mapped IPv6 addresses of dual-stack sockets. */
const plainAddress = (text: string) =>
  text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
