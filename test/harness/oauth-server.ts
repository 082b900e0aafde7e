import { httpConfig } from '../../src/config/http.ts'
import { type OauthConfig, oauthConfig } from '../../src/config/oauth.ts'
import { serviceConfig } from '../../src/config/service.ts'
import type { FetchDocument } from '../../src/oauth/client-documents.ts'
import { openService } from '../../src/service/service.ts'
import { startHttp } from '../../src/transports/http.ts'
import { freePort } from './program.ts'

export interface OauthServer extends AsyncDisposable {
  /** The public address. */
  readonly url: string
  /** The address of MCP. */
  readonly mcp: string
  readonly errors: readonly unknown[]
}

/**
 * A server with OAuth in this process, by default on the sandbox. `texts` are settings by the names of
 * their flags; `documents` are what clients serve at their addresses.
 */
export async function startOauthServer({
  texts = {},
  documents = {},
  publicUrl,
}: {
  texts?: Record<string, string>
  documents?: Record<string, object>
  /** Where it differs from the own address. */
  publicUrl?: string
} = {}): Promise<OauthServer> {
  const port = await freePort()
  const own = `http://127.0.0.1:${port}`
  const given = {
    oauth: 'true',
    'public-url': publicUrl ?? own,
    'sandbox-db': ':memory:',
    'state-dir': ':memory:',
    confirm: 'never',
    ...texts,
  }
  const oauth: OauthConfig | undefined = oauthConfig(given, {})
  const config = serviceConfig(given, {}, { needsKey: false })
  const errors: unknown[] = []
  const service = await openService(config, { onBug: (error) => void errors.push(error) })
  const fetchDocument: FetchDocument = async (url) =>
    documents[String(url)]
      ? Response.json(documents[String(url)])
      : new Response('not found', { status: 404 })
  const authorization = oauth && (await service.openOauth(oauth, fetchDocument))
  const server = await startHttp(service, {
    ...httpConfig(given),
    host: '127.0.0.1',
    port,
    isLoopback: true,
    allowedHosts: [],
    ownKey: { usedBy: 'none' },
    authorization,
    readiness: service.readiness,
    refusalOf(header) {
      const selected = service.exposureFor(header)
      return selected.ok ? undefined : selected.message
    },
    faultOfKey: service.faultOfKey,
    watch: () => () => undefined,
    onError: (error) => void errors.push(error),
  })
  return {
    url: publicUrl ?? own,
    mcp: `${own}/mcp`,
    errors,
    async [Symbol.asyncDispose]() {
      await server.close()
      await authorization?.close()
      await service.close()
    },
  }
}
