import { httpConfig, type OauthConfig, oauthConfig } from '../../src/cli/config/http.ts'
import { serviceConfig } from '../../src/cli/config/service-settings.ts'
import type { FetchDocument } from '../../src/oauth/client-metadata.ts'
import { openService } from '../../src/server/service.ts'
import { startHttp } from '../../src/server/transports/http.ts'
import { freePort } from './program.ts'

export interface OauthServer extends AsyncDisposable {
  /** Public URL of the server. */
  readonly url: string
  /** URL of the MCP endpoint. */
  readonly mcp: string
  readonly errors: readonly unknown[]
  /** URLs of all client metadata documents that the server has fetched. */
  readonly fetched: readonly string[]
}

/**
 * A server with OAuth in this process, by default on the sandbox. `texts`: settings by flag name.
 * `documents`: JSON documents of clients, by address.
 */
export async function startOauthServer({
  texts = {},
  documents = {},
  publicUrl,
  port: givenPort,
}: {
  texts?: Record<string, string>
  documents?: Record<string, object>
  /** Public URL; default: the URL on which the server listens. */
  publicUrl?: string
  /** Default: any free port. */
  port?: number | undefined
} = {}): Promise<OauthServer> {
  const port = givenPort ?? (await freePort())
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
  const fetched: string[] = []
  const fetchDocument: FetchDocument = async (url) => {
    fetched.push(String(url))
    const document = documents[String(url)]
    if (!document) throw new Error('There is no such document.')
    return Response.json(document)
  }
  const authorization = oauth && (await service.openOauth(oauth, fetchDocument))
  const server = await startHttp(service, {
    ...httpConfig(given),
    host: '127.0.0.1',
    port,
    isLoopback: true,
    allowedHosts: [],
    ownKey: { usedBy: 'none' },
    authorization,
    onError: (error) => void errors.push(error),
  })
  return {
    url: publicUrl ?? own,
    mcp: `${own}/mcp`,
    errors,
    fetched,
    async [Symbol.asyncDispose]() {
      await server.close()
      await authorization?.close()
      await service.close()
    },
  }
}
