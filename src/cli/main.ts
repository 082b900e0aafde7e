import type { Server } from '@modelcontextprotocol/server'
import packageJson from '../../package.json' with { type: 'json' }
import { type Config, isLoopback, readConfig } from '../config/config.ts'
import { exposedOf } from '../config/exposed-tools.ts'
import { ConfigError } from '../config/flags.ts'
import { helpText } from '../config/settings.ts'
import { type ConfirmMode, listsToken, withoutToken } from '../mcp/call/confirm-mode.ts'
import { createStdioHandshake } from '../mcp/fast/stdio-handshake.ts'
import type { Exposure } from '../mcp/protocol/exposure.ts'
import { serverInfoOf } from '../mcp/protocol/server-info.ts'
import type { Serving } from '../service/service.ts'
import { type Card, cards, initializedVersions } from '../service/tool-summaries.ts'
import type { LocalToken, OwnKey } from '../transports/own-key.ts'
import { startStdio } from '../transports/stdio.ts'
import type { Connect } from '../transports/stdio-connection.ts'
import { tellAddress } from './banner.ts'
import { descriptorHint } from './descriptors.ts'
import { log } from './log.ts'

const { version } = packageJson

/** Something that runs until it is stopped. */
interface Running {
  /** Resolves when it has nothing more to do. */
  readonly done: Promise<void>
  close(): Promise<void>
}

/** Runs the program to its end and gives the exit code. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const config = readConfig(argv, env)
    if (config.command === 'help') return print(helpText(config.about))
    if (config.command === 'version') return print(`${version}\n`)
    // Listened for before anything starts, so that no signal finds nobody at home.
    const stopped = stopSignal()
    const running = await start(config)
    await Promise.race([running.done, stopped])
    await running.close()
    return 0
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hint = error instanceof ConfigError ? ' See voice-agent-mcp --help.' : ''
    log(`${error.message}${hint}${descriptorHint(error)}`)
    return 1
  }
}

function start(config: Exclude<Config, { command: 'help' | 'version' }>): Promise<Running> {
  switch (config.command) {
    case 'stdio':
      return stdio(config)
    case 'http':
      return http(config)
    case 'sandbox':
      return sandboxApi(config)
  }
}

async function stdio(config: Extract<Config, { command: 'stdio' }>): Promise<Running> {
  const exposure = exposedOf(cards, config.scope.exposure)
  let serving: ReturnType<typeof connecting> | undefined
  const open = () => {
    serving ??= connecting(config).catch((error) => {
      // Whatever was wrong may be mended by the next time.
      serving = undefined
      throw error
    })
    return serving
  }
  // A mistake in a policy is told before anybody is answered.
  if (config.calling.policy !== undefined) await open()
  announce(config, exposure)
  if (process.stdin.isTTY) {
    log(
      'Waiting for an MCP client on standard input. This mode is for clients that start the program; try "voice-agent-mcp http" or --help. Ctrl+C ends it.',
    )
  }
  const { account } = config.scope
  const isSandbox = config.platform.kind === 'sandbox'
  const handshake = createStdioHandshake({
    isSandbox,
    account,
    confirm: config.calling.confirm,
    exposure,
    info: serverInfoOf(isSandbox, version),
    // Tools look different where the account is pinned.
    listed: account === undefined ? listedOf(exposure, config.calling.confirm) : undefined,
    versions: initializedVersions,
  })
  const server = startStdio({ handshake, load: async () => (await open()).connect })
  // All other code is loaded soon after the first answers: later its files may be gone, by an update
  // of the package, or not be opened for want of descriptors. If that fails, it is tried again when
  // the code is needed.
  const loading = setTimeout(() => open().catch(() => undefined), loadAfterMs).unref()
  return {
    done: server.done,
    async close() {
      clearTimeout(loading)
      await server.close()
      await (await serving?.catch(() => undefined))?.close()
    },
  }
}

/** When the rest is loaded, ms: after the first answers, and before the compile cache is written. */
const loadAfterMs = 1500

/** The tools as they are listed, each as JSON text. */
const listedOf = ({ tools }: Exposure<Card>, confirm: ConfirmMode) =>
  tools.map(({ listed }) =>
    listsToken(confirm) ? listed : JSON.stringify(withoutToken(JSON.parse(listed))),
  )

/** Loads what answers everything that the handshake does not. */
async function connecting(config: Extract<Config, { command: 'stdio' }>) {
  const [{ openServing }, { connectStdio }, { watchResources }, { bugText, refusalText }] =
    await Promise.all([
      import('../service/service.ts'),
      import('../transports/stdio-connection.ts'),
      import('../mcp/protocol/watched-resources.ts'),
      import('../text/error-text.ts'),
    ])
  const logBug = (error: unknown) => log(bugText(error))
  const logRefusal = (error: Error) => log(refusalText(error))
  let current: Server | undefined
  const shutdown = new AbortController()
  const { factory, readingFor, close } = await openServing(config, {
    onBug: logBug,
    shutdown: shutdown.signal,
    onServer(server) {
      current = server
    },
  })
  const connect: Connect = (before) =>
    connectStdio(
      {
        factory,
        onError: logRefusal,
        onShutdown: () => shutdown.abort(),
        watch: (uris) =>
          watchResources(readingFor(undefined), uris, (uri) => {
            // Who has gone needs no news.
            current?.sendResourceUpdated({ uri }).catch(() => undefined)
          }),
      },
      before,
    )
  return { connect, close }
}

async function http(config: Extract<Config, { command: 'http' }>): Promise<Running> {
  const exposure = exposedOf(cards, config.scope.exposure)
  const [{ openServing }, { startHttp }, { watchResources }, { bugText, refusalText }] =
    await Promise.all([
      import('../service/service.ts'),
      import('../transports/http.ts'),
      import('../mcp/protocol/watched-resources.ts'),
      import('../text/error-text.ts'),
    ])
  const logBug = (error: unknown) => log(bugText(error))
  const logRefusal = (error: Error) => log(refusalText(error))
  const shutdown = new AbortController()
  const watchers = { onBug: logBug, shutdown: shutdown.signal }
  const serving = await openServing(config, watchers)
  const { exposureFor, readingFor, faultOfKey, hasKey, localToken, prepare, close, ...service } =
    serving
  // Whoever starts a server is there to read why it cannot work; on stdio the first tool says it.
  await prepare()
  const local = isLoopback(config.listen.host)
  const ownKey = await ownKeyOf(config, local && hasKey ? localToken : undefined)
  const server = await startHttp(service, {
    ...config.listen,
    isLoopback: local,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    ownKey,
    limits: config.limits,
    refusalOf(header) {
      const selected = exposureFor(header)
      return selected.ok ? undefined : selected.message
    },
    faultOfKey,
    watch: (credential, uris, onUpdate) => watchResources(readingFor(credential), uris, onUpdate),
    onError: logRefusal,
  })
  announce(config, exposure)
  tellAddress(server, config, { isLoopback: local, ownKey })
  return {
    done: new Promise(() => {}),
    async close() {
      log('Stopping: requests under way are answered, for up to a minute. A second signal ends it.')
      shutdown.abort()
      await server.close()
      await close()
    },
  }
}

/** Who may use the key of the server itself; `localToken` is there where requests may do so at all. */
async function ownKeyOf(
  { platform, wantsLocalToken }: Extract<Config, { command: 'http' }>,
  localToken: (() => Promise<LocalToken>) | undefined,
): Promise<OwnKey> {
  if (platform.kind === 'sandbox') return { usedBy: 'anybody' }
  if (!localToken) return { usedBy: 'nobody' }
  return { usedBy: 'owner', token: wantsLocalToken ? await localToken() : undefined }
}

async function sandboxApi(config: Extract<Config, { command: 'sandbox' }>): Promise<Running> {
  const [{ startSandbox }, { bugText }] = await Promise.all([
    import('./commands/sandbox.ts'),
    import('../text/error-text.ts'),
  ])
  const { listen, allowedHosts, sandbox, faultsFile } = config
  const server = await startSandbox({
    ...listen,
    isLoopback: isLoopback(listen.host),
    allowedHosts,
    sandbox,
    faultsFile,
    onBug: (error) => log(bugText(error)),
  })
  log(`Sandbox data: ${sandbox.file}`)
  if (faultsFile) log(`Misbehaving by ${faultsFile}`)
  log(`Serving the sandbox API at ${server.url}/v1 (X-API-Key: sandbox-key)`)
  log(`OpenAPI document: ${server.url}/v1/openapi.json`)
  return { done: new Promise(() => {}), close: () => server.close() }
}

function announce({ platform, scope }: Serving, { all, tools: exposed }: Exposure<Card>): void {
  log(
    platform.kind === 'sandbox'
      ? `SANDBOX: no real account, nothing is dialled. Data: ${platform.file}. Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`
      : `Platform: ${platform.baseUrl.origin}`,
  )
  if (scope.account !== undefined) log(`Account: ${scope.account}, and no other.`)
  if (exposed.length < all.length) log(`Exposing ${exposed.length} of ${all.length} tools.`)
}

/** Resolves with the first signal to stop; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const on = (signal: 'SIGINT' | 'SIGTERM', exitCode: number) =>
    process.on(signal, () => {
      if (isStopping) process.exit(exitCode)
      isStopping = true
      resolve()
    })
  // As a shell reports a process that a signal has ended.
  on('SIGINT', 130)
  on('SIGTERM', 143)
  return promise
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
