import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ActiveHttpLimits, admitsUnkeyed } from './http-limits.ts'

/** Pages for people in a browser, beside MCP. */
export interface Site {
  /** Whether it answers a request. `path` has no query. */
  readonly serves: (path: string, request: IncomingMessage) => boolean
  readonly fetch: (request: Request) => Promise<Response>
}

/** A request for a page. */
export interface SiteRequest {
  readonly site: Site
  readonly network: string
}

/** Answers a request for a page, within the limits of requests without a key. */
export async function answerSite(
  request: IncomingMessage,
  response: ServerResponse,
  { site, network, limits }: SiteRequest & { readonly limits: ActiveHttpLimits },
): Promise<void> {
  if (!admitsUnkeyed(limits, { to: 'site', network }, response)) return
  const { getRequestListener, RequestError } = await import('@hono/node-server')
  let failure: unknown
  const listener = getRequestListener(site.fetch, {
    // The global classes stay Node's own.
    overrideGlobalObjects: false,
    errorHandler(error) {
      // The Host header or the target of the request is not valid.
      if (error instanceof RequestError) return new Response(null, { status: 400 })
      failure = error
      return new Response('The page failed.', { status: 500 })
    },
  })
  await listener(request, response)
  if (failure !== undefined) throw failure
}
