import type { Readiness } from '../server/transports/http-probes.ts'
import type { Site } from '../server/transports/http-site.ts'
import type { OwnKey } from '../server/transports/key.ts'
import type { Access } from './start-page.ts'

export interface SiteOptions {
  readonly version: string
  readonly isSandbox: boolean
  readonly ownKey: OwnKey
  /** The origin under which the server is reached, where the operator has said it. */
  readonly publicUrl: URL | undefined
  readonly readiness: () => Promise<Readiness>
  /** The pages of the sandbox's web calls. */
  readonly showWebCall: ((request: Request) => Promise<Response>) | undefined
}

/** The pages of the HTTP server. What makes them is loaded with the first visit. */
export function createSite({
  version,
  isSandbox,
  ownKey,
  publicUrl,
  readiness,
  showWebCall,
}: SiteOptions): Site {
  const access = publicUrl ? 'oauth' : accessBy(ownKey)
  return {
    // Whoever asks for JSON is told where MCP is, as at every other address.
    serves: (path, { method, headers }) =>
      path === '/'
        ? (method === 'GET' || method === 'HEAD') &&
          (headers.accept?.includes('text/html') ?? false)
        : showWebCall !== undefined && path.startsWith(webCallPath),
    async fetch(request) {
      if (showWebCall && new URL(request.url).pathname !== '/') return showWebCall(request)
      const { startPage, clientSteps } = await import('./start-page.ts')
      const address = { url: `${publicUrl?.origin ?? baseOf(request)}/mcp`, access }
      const clients = clientSteps(address, request.headers.get('user-agent') ?? '')
      const { status, headers, body } = startPage({
        ...{ version, isSandbox, clients, ...address },
        readiness: await readiness(),
      })
      return new Response(request.method === 'HEAD' ? null : body, { status, headers })
    },
  }
}

/** The same path as in src/sandbox/web-calls, which is not loaded for it. */
const webCallPath = '/web-calls/'

function accessBy(ownKey: OwnKey): Access {
  if (ownKey.usedBy === 'none') return 'key'
  return ownKey.usedBy === 'local-user' && ownKey.token ? 'local_token' : 'none'
}

/**
 * The address that the browser has used. What a proxy says of it is taken from anyone: it is shown only
 * to the sender of the request, and the page is not stored.
 */
function baseOf({ url, headers }: Request): string {
  const base = new URL(url)
  const prefix = headers.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  const isSecure = headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https'
  return `${isSecure ? 'https:' : base.protocol}//${base.host}${/^(\/[\w.~-]+)+$/.test(prefix) ? prefix : ''}`
}
