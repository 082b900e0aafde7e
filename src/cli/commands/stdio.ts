import type { Server } from '@modelcontextprotocol/server'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Exposure } from '../../mcp/exposure.ts'
import { serverInfoOf } from '../../mcp/server-info.ts'
import { createStdioHandshake } from '../../mcp/stdio-handshake.ts'
import type { Observer } from '../../server/observe/observer.ts'
import type { Service } from '../../server/service.ts'
import {
  initializedVersions,
  type ToolSummary,
  toolSummaries,
} from '../../server/tool-summaries.ts'
import { type Connect, startStdio } from '../../server/transports/stdio.ts'
import type { WatchRequest } from '../../server/transports/stdio-connection.ts'
import { openOnce } from '../../state/state-access.ts'
import { messageOf } from '../../text/safe-text.ts'
import { type ConfirmMode, listsToken, withoutToken } from '../../tool/confirm-mode.ts'
import { commandLine } from '../config/launch-command.ts'
import {
  exposedTools,
  type ServiceConfig,
  serviceConfig,
  serviceSettings,
} from '../config/service-settings.ts'
import { log, logFailedRequest, logStart, openObservability, serviceLog } from '../observability.ts'
import { defineCommand, type Running } from './command.ts'

export const stdio = defineCommand({
  name: 'stdio',
  about: 'Serve MCP on standard input and output (default), for a client that starts it.',
  examples: [
    'stdio --read-only              only tools that change nothing',
    'stdio --toolsets agents,calls  only these tools',
  ],
  settings: serviceSettings,
  read: ({ texts, env }) => serviceConfig(texts, env, { needsKey: true }),
  start,
})

/**
 * Delay before the service is loaded in the background, ms: after the first answers, but before
 * bin.ts writes the compile cache (3 s). Loading only on demand could fail: an update may have
 * replaced the program's files, or file descriptors may have run out.
 */
const loadAfterMs = 1500

/**
 * The handshake gives the first answers without the MCP SDK and the tools. The service is loaded
 * for the first message that the handshake cannot answer, or after `loadAfterMs`.
 */
async function start(config: ServiceConfig): Promise<Running> {
  const { observer } = await openObservability(config)
  const exposure = exposedTools(toolSummaries, config.scope.exposure)
  const connection = openOnce(() => loadConnection(config, observer))
  // An error in the dial policy must be reported before a client gets an answer.
  if (config.calling.policy !== undefined) await connection.get()
  logStart(config, exposure)
  if (process.stdin.isTTY) {
    log(
      `Waiting for an MCP client on standard input: this mode is for clients that start the program. Ctrl+C ends it. To add it to your clients: ${commandLine('install')}. Other commands: http serves it at an address, tools lists what it can do, doctor finds what is wrong. All of them: ${commandLine('--help')}`,
    )
  }
  const server = startStdio({
    handshake: handshakeFor(config, exposure, observer),
    load: async () => (await connection.get()).connect,
  })
  // If loading fails, the next message that needs the service loads it again and reports the error.
  const timer = setTimeout(() => connection.get().catch(() => undefined), loadAfterMs).unref()
  return {
    done: server.done,
    async close() {
      clearTimeout(timer)
      await server.close()
      await connection.close((loaded) => loaded.close())
    },
  }
}

function handshakeFor(
  { platform, scope, calling }: ServiceConfig,
  exposure: Exposure<ToolSummary>,
  observer: Observer | undefined,
) {
  const isSandbox = platform.kind === 'sandbox'
  const { account } = scope
  return createStdioHandshake({
    isSandbox,
    account,
    confirm: calling.confirm,
    exposure,
    info: serverInfoOf(isSandbox, packageJson.version),
    // With a pinned account, only the service can list the tools.
    listed: account === undefined ? listedTools(exposure, calling.confirm) : undefined,
    versions: initializedVersions,
    observer,
  })
}

const listedTools = ({ tools }: Exposure<ToolSummary>, confirm: ConfirmMode) =>
  tools.map(({ listed, view }) => ({
    listed: listsToken(confirm) ? listed : JSON.stringify(withoutToken(JSON.parse(listed))),
    view,
  }))

/** Loads the service and the MCP SDK, for the messages that the handshake does not answer. */
async function loadConnection(config: ServiceConfig, observer: Observer | undefined) {
  const [{ openService }, { connectStdio }] = await Promise.all([
    import('../../server/service.ts'),
    import('../../server/transports/stdio-connection.ts'),
  ])
  /** The MCP SDK's server of the connection, which sends notifications. */
  let current: Server | undefined
  const shutdown = new AbortController()
  const answered = new Set<unknown>()
  const webCalls = createWebCallServer(() => service.showWebCall)
  const service = await openService(config, {
    webCallPagesAt: webCalls.pagesAt,
    ...serviceLog,
    shutdown: shutdown.signal,
    observer,
    isAnswered: (id) => answered.has(id),
  })
  const watch: WatchRequest = (uris, request) => {
    const stop = service.watch(undefined, uris, (uri) => {
      // Sending fails only if the client has disconnected.
      current?.sendResourceUpdated({ uri }).catch(() => undefined)
    })
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const of = { credential: undefined, header: () => undefined, transport: 'stdio' } as const
    service.observeStream(request, of, () => ended)
    return () => {
      stop()
      end()
    }
  }
  const connect: Connect = (before) =>
    connectStdio(
      {
        factory(context) {
          current = service.factory(context)
          return current
        },
        onError: logFailedRequest,
        onShutdown: () => shutdown.abort(),
        onReplay: (id) => answered.add(id),
        watch,
      },
      before,
    )
  return {
    connect,
    async close() {
      await webCalls.close()
      await service.close()
    },
  }
}

/**
 * Serves the pages of the sandbox's web calls on a free port of this machine, because a stdio
 * server has no HTTP server. This server is loaded and started with the first web call. It does not
 * keep the process running.
 */
export function createWebCallServer(showPage: () => Service['showWebCall']) {
  const pages = openOnce(() => openWebCallServer(showPage))
  return {
    /** Origin of the pages; `undefined` if they cannot be served. The next web call tries again. */
    async pagesAt(): Promise<string | undefined> {
      if (!showPage()) return undefined
      try {
        return (await pages.get()).url
      } catch (error) {
        log(`The pages of web calls cannot be served: ${messageOf(error)}`, 'warn')
        return undefined
      }
    },
    close: () =>
      pages.close(({ server }) => {
        server.close()
        server.closeAllConnections()
      }),
  }
}

async function openWebCallServer(showPage: () => Service['showWebCall']) {
  const [{ createServer }, { getRequestListener }, { hostCheck, listen }, { isForWebCall }] =
    await Promise.all([
      import('node:http'),
      import('@hono/node-server'),
      import('../../server/transports/listen.ts'),
      import('../../sandbox/web-calls/answer-web-call.ts'),
    ])
  const host = '127.0.0.1'
  const refusalOf = hostCheck({ host, isLoopback: true, allowedHosts: [] })
  const answer = async (request: Request) => {
    const { host: asked, pathname } = new URL(request.url)
    const refusal = refusalOf(asked)
    if (refusal) return new Response(refusal, { status: 403 })
    const show = isForWebCall(pathname) ? showPage() : undefined
    return show ? show(request) : new Response('Not found', { status: 404 })
  }
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false }))
  const { url } = await listen(server, { host, port: 0 })
  server.unref()
  return { server, url }
}
