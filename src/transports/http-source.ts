import type { IncomingMessage, ServerResponse } from 'node:http'
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server'
import { hostCheck } from './hosts.ts'

/** Where requests may come from. */
export interface Sources {
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
export function sourceCheck({ allowedOrigins, ...listening }: Sources) {
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
export function allowPage(
  request: IncomingMessage,
  response: ServerResponse,
  moreHeaders = '',
): void {
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
