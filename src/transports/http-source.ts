import type { IncomingMessage, ServerResponse } from 'node:http'
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server'
import { hostCheck } from './hosts.ts'

/** Where requests may come from. */
export interface Sources {
  /** What the server listens on, as the operator wrote it. */
  readonly host: string
  /** Whether the address is reachable from this machine only. */
  readonly isLoopback: boolean
  /** Host names clients may use, besides those of this machine. */
  readonly allowedHosts: readonly string[]
  /** Host names of web pages that may connect, besides those of this machine. */
  readonly allowedOrigins: readonly string[]
}

/** Why a request is refused for where it comes from; `undefined` where it may come in. */
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

/** Lets an allowed web page read the answers (CORS); others never get this far. */
export function allowPage(request: IncomingMessage, response: ServerResponse): void {
  const { origin } = request.headers
  if (!origin) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS')
  response.setHeader(
    'access-control-allow-headers',
    request.headers['access-control-request-headers'] ?? 'content-type',
  )
  response.setHeader('access-control-expose-headers', 'mcp-session-id, mcp-protocol-version')
  response.setHeader('access-control-max-age', '600')
}
