import type { Observer } from '../../server/observe/observer.ts'
import type { Service } from '../../server/service.ts'
import { toolSummaries } from '../../server/tool-summaries.ts'
import type { Site } from '../../server/transports/http.ts'
import type { Authorization, OwnKey } from '../../server/transports/http-authentication.ts'
import { readAll } from '../config/config-error.ts'
import {
  httpConfig,
  httpSettings,
  type ListenConfig,
  listenConfig,
  listenSettings,
  metricsConfig,
  metricsSettings,
  oauthConfig,
  oauthSettings,
  requireHosts,
} from '../config/http.ts'
import { isLoopback } from '../config/platform.ts'
import { exposedTools, serviceConfig, serviceSettings } from '../config/service-settings.ts'
import type { HomePageOptions } from '../home-page.ts'
import { log, logFailedRequest, logStart, openObservability, serviceLog } from '../observability.ts'
import { type CommandInput, defineCommand, type Running } from './command.ts'

const defaultPort = 3000

/** Delay before a stopping server logs that it waits for open requests, ms. */
const idleStopMs = 200

export const http = defineCommand({
  name: 'http',
  about: 'Serve MCP over Streamable HTTP at /mcp.',
  examples: [
    'http                 at http://127.0.0.1:3000/mcp',
    'http --port 4000',
    'http --host 0.0.0.0 --allowed-hosts voice.example.com',
  ],
  settings: {
    ...serviceSettings,
    ...listenSettings,
    ...httpSettings,
    ...metricsSettings,
    ...oauthSettings,
  },
  read: httpCommandConfig,
  start,
})

type HttpCommandConfig = ReturnType<typeof httpCommandConfig>

function httpCommandConfig({ texts, env }: CommandInput) {
  const { service, listening, oauth, http, metrics } = readAll({
    service: () => serviceConfig(texts, env, { needsKey: false }),
    listening: () => listenConfig(texts, defaultPort),
    oauth: () => oauthConfig(texts, env),
    http: () => httpConfig(texts),
    metrics: () => metricsConfig(texts),
  })
  const reached = oauth ? reachedAt(oauth.publicUrl, listening) : listening
  if (service.platform.kind === 'sandbox') requireHosts(reached)
  return { ...service, ...reached, ...http, metrics, oauth }
}

async function start(config: HttpCommandConfig): Promise<Running> {
  const exposure = exposedTools(toolSummaries, config.scope.exposure)
  const [{ openService }, { connectHelp, httpStartLines, originFor }] = await Promise.all([
    import('../../server/service.ts'),
    import('../http-start-message.ts'),
  ])
  const shutdown = new AbortController()
  const { observer, close: closeObservability } = await openObservability(config)
  let origin: string | undefined
  const service = await openService(config, {
    ...serviceLog,
    shutdown: shutdown.signal,
    observer,
    webCallPagesAt: () => origin,
  })
  // An error ends the start, because the operator of an HTTP server reads the log. Over stdio, the
  // first tool call reports such errors.
  const warning = await service.prepare()
  if (warning !== undefined) log(warning, 'warn')
  const ownKey = await ownKeyFor(config, service)
  const authorization = config.oauth && (await service.openOauth(config.oauth))
  const server = await listen(config, service, { observer, ownKey, authorization })
  origin = originFor(server, config)
  logStart(config, exposure)
  for (const line of httpStartLines(server, config, ownKey)) log(line)
  // For people only: the text holds the local token, which must not reach log collectors.
  if (config.log.form === 'text') process.stderr.write(connectHelp(server, config, ownKey))
  return {
    done: new Promise(() => {}),
    async close() {
      log('Stopping.')
      shutdown.abort()
      const explained = setTimeout(
        () =>
          log(
            `Requests under way are answered, for up to ${config.drainMs / 1000} s. A second signal ends it.`,
          ),
        idleStopMs,
      )
      await server.close().finally(() => clearTimeout(explained))
      await authorization?.close()
      await service.close()
      await closeObservability()
    },
  }
}

/**
 * Adds the public URL's host to the allowed hosts if the Host header is checked: always on
 * loopback, elsewhere only if the operator has set allowed hosts.
 */
function reachedAt(publicUrl: URL, listening: ListenConfig): ListenConfig {
  const { listen, allowedHosts } = listening
  const isChecked = isLoopback(listen.host) || allowedHosts.length > 0
  return isChecked
    ? { ...listening, allowedHosts: [...allowedHosts, publicUrl.hostname] }
    : listening
}

/**
 * Which requests without an API key may use the server's own: local ones, or all in the sandbox.
 */
async function ownKeyFor(
  { platform, oauth, listen, wantsLocalToken }: HttpCommandConfig,
  { hasOwnKey, localToken }: Service,
): Promise<OwnKey> {
  // With OAuth, requests without a key get 401: that makes clients start the authorization.
  if (platform.kind === 'sandbox') return { usedBy: oauth ? 'none' : 'all' }
  if (!isLoopback(listen.host) || !hasOwnKey) return { usedBy: 'none' }
  return { usedBy: 'local-user', token: wantsLocalToken ? await localToken() : undefined }
}

/**
 * Equal to the path in src/sandbox/web-calls, which is not imported here, because a start must not
 * load the sandbox.
 */
const webCallPath = '/web-calls/'

/**
 * Pages for people: the home page, and the sandbox's web calls. Their code is loaded at the first
 * visit.
 */
const siteOf = (
  { platform, oauth }: HttpCommandConfig,
  { readiness, showWebCall }: Service,
  { ownKey, connected }: Pick<HomePageOptions, 'ownKey' | 'connected'>,
): Site => ({
  // Without `text/html` in its Accept header, a request for / gets the 404 that lists the
  // endpoints.
  serves: (path, { method, headers }) =>
    path === '/'
      ? (method === 'GET' || method === 'HEAD') && (headers.accept?.includes('text/html') ?? false)
      : showWebCall !== undefined && path.startsWith(webCallPath),
  async fetch(request) {
    if (showWebCall && new URL(request.url).pathname !== '/') return showWebCall(request)
    const { showHomePage } = await import('../home-page.ts')
    return showHomePage(request, {
      ownKey,
      isSandbox: platform.kind === 'sandbox',
      publicUrl: oauth?.publicUrl,
      readiness: await readiness(),
      connected,
    })
  },
})

/** Minimum time between two log lines about the same client, ms. */
const sameClientMs = 60_000

/**
 * Logs connecting clients and adds them to `connected`. Takes their titles from install/clients.ts,
 * because a client's own name is untrusted.
 */
function createConnectionLog(connected: Set<string>): (name: string) => void {
  const logged = new Map<string, number>()
  return async (name) => {
    const list = await import('../install/clients.ts').catch(() => undefined)
    const title = list?.clientCalled(name)?.title ?? 'A client'
    connected.add(title)
    const now = performance.now()
    if (now - (logged.get(title) ?? -sameClientMs) < sameClientMs) return
    logged.set(title, now)
    log(`${title} has connected.`)
  }
}

interface ServerParts {
  readonly observer: Observer | undefined
  readonly ownKey: OwnKey
  readonly authorization: Authorization | undefined
}

async function listen(
  config: HttpCommandConfig,
  service: Service,
  { observer, ownKey, authorization }: ServerParts,
) {
  const { listen, allowedHosts, allowedOrigins, trustedProxies, limits, drainMs } = config
  const [{ startHttp }, { keyHashOf }] = await Promise.all([
    import('../../server/transports/http.ts'),
    import('../../platform/sessions/session.ts'),
  ])
  const connected = new Set<string>()
  return startHttp(service, {
    ...listen,
    ...{ allowedHosts, allowedOrigins, trustedProxies, limits, drainMs },
    ...{ ownKey, authorization },
    isLoopback: isLoopback(listen.host),
    site: siteOf(config, service, { ownKey, connected }),
    onError: logFailedRequest,
    onConnect: createConnectionLog(connected),
    onRefused:
      observer &&
      (({ apiKey, ...refused }) =>
        observer.requestRefused({ ...refused, keyHash: apiKey && keyHashOf(apiKey) })),
  })
}
