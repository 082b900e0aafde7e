import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server'
import type { Exposure } from '../../mcp/exposure.ts'
import type { GetHeader } from '../../mcp/messages.ts'
import type { ExposureOfRequest } from '../../mcp/request-exposure.ts'
import type { Credential } from '../../platform/sessions/credential.ts'
import { refuse, refuseMethod, sendJson } from './http-answers.ts'
import type { Authorization } from './http-authorization.ts'
import { type OwnKey, ownKeyCheck, readKey } from './http-key.ts'
import { hostCheck } from './listen.ts'
import { networkOf } from './quotas.ts'

export interface AdmissionOptions {
  /** The address to listen on, as the operator wrote it. */
  readonly host: string
  /** Whether only this machine reaches the address. */
  readonly isLoopback: boolean
  /** Host names that clients may use, besides those of this machine. */
  readonly allowedHosts: readonly string[]
  /** Host names of web pages that may connect, besides those of this machine. */
  readonly allowedOrigins: readonly string[]
  /** Which requests without a key are served, with the operator's key or the sandbox's. */
  readonly ownKey: OwnKey
  readonly exposureFor: ExposureOfRequest
  /** `undefined`: there are no access tokens, and requests bring API keys. */
  readonly authorization?: Authorization | undefined
  /** Proxies whose X-Forwarded-For is trusted; default: none. */
  readonly trustedProxies?: readonly AddressRange[]
}

/** A POST to /mcp that may be served. */
export interface AdmittedRequest {
  /** The key of the request; `undefined`: it uses the server's own, or has an access token. */
  readonly credential: Credential | undefined
  /** The access token that it brings instead of a key. It is not checked yet. */
  readonly accessToken: string | undefined
  readonly header: GetHeader
  /** What its headers leave of the tools. An access token may restrict it further. */
  readonly exposure: Exposure
  /** The network that it came from. */
  readonly network: string
}

/** Checks everything about a request but its body. */
interface Admission {
  /**
   * The address of the client of a request for a page, or to the authorization server; `undefined`:
   * the request is refused, and answered.
   */
  readonly ofPage: (request: IncomingMessage, response: ServerResponse) => string | undefined
  /** `undefined`: the request is not a POST to /mcp, or may not be served; it is answered. */
  readonly ofMcp: (
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ) => AdmittedRequest | undefined
}

/** The methods of /mcp. It has no streams to GET and no sessions to DELETE. */
const methods = 'POST, OPTIONS'

export function createAdmission(options: AdmissionOptions): Admission {
  const { authorization, exposureFor, ownKey, allowedOrigins, trustedProxies = [] } = options
  const refusalOfHost = hostCheck(options)
  const refusalOfOwnKey = ownKeyCheck(ownKey, allowedOrigins)
  const origins = [...localhostAllowedOrigins(), ...allowedOrigins]
  const addressOf = createClientAddress(trustedProxies)
  const exposedHeaders = `mcp-session-id, mcp-protocol-version${authorization ? ', www-authenticate' : ''}`

  /** Refuses a request for its Host header. True: the request is answered. */
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
    // The authorization server has checks of its own. A page may be opened from any other site: where
    // it needs a secret, its address holds that.
    ofPage: (request, response) =>
      refusesHost(request, response) ? undefined : addressOf(request),
    ofMcp(path, request, response) {
      if (refusesHost(request, response)) return undefined
      const { headers, headersDistinct, method } = request
      const page = validateOriginHeader(headers.origin, origins)
      if (!page.ok) return void refuse(response, 403, page.message)
      if (headers.origin) allowPage(request, response, headers.origin, exposedHeaders)
      if (path !== '/mcp' && path !== '/mcp/') return void sendNotFound(response)
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
    error: 'MCP is at /mcp. A browser finds a page at /; else there are only /healthz and /readyz.',
  })

/** Lets a web page read the answers (CORS). Requests of pages that are not allowed are refused before. */
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

/** A range of addresses: `10.0.0.0/8`, or one address. */
export interface AddressRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** How many of its first bits count. */
  readonly prefix: number
}

/** Gives the address of the client that sent a request. */
type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headersDistinct'>) => string

/**
 * The address that a request comes from. If that is a trusted proxy: the address that the proxy names
 * in X-Forwarded-For. Each proxy adds the address that it was reached from at the end; what
 * comes before the last address that is not a proxy may be forged.
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

/** Without brackets and port, and an IPv4 address that a socket for both shows as IPv6 as itself. */
const plainAddress = (text: string) =>
  text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
