import * as z from 'zod/mini'
import packageJson from '../../package.json' with { type: 'json' }
import type { Exposure } from '../mcp/exposure.ts'
import { createLog, type Log, type LogLevel, type LogOptions } from '../server/observe/log.ts'
import type { Tracing } from '../server/observe/observer.ts'
import type { ToolSummary } from '../server/tool-summaries.ts'
import { defectText, errorKind, messageText } from '../text/safe-text.ts'
import type { ListenConfig } from './config/http.ts'
import { isLoopback } from './config/platform.ts'
import type { ServiceConfig } from './config/service-settings.ts'

/** The log in its default form, until the settings are read. */
const defaultLog = createLog({ form: 'text', level: 'notice' }, process.stderr)

/*
 * The log goes to standard error: standard output is for protocol messages only.
 */
let current: Log = defaultLog
let options: LogOptions | undefined

/** Writes one line, such as a warning, to the log. */
export const log = (message: string, level?: LogLevel): void => current.line(message, level)

/** Logs a bug. The message may contain client text, so it is logged at `debug`. */
export function logDefect(error: unknown): void {
  log(defectText(error), 'error')
  log(messageText(String(error)), 'debug')
}

/**
 * Logs a failed request or a broken connection; its message may contain client text, so it is
 * logged at `debug`.
 */
export function logFailedRequest(error: Error): void {
  log(`A request of a client failed: ${errorKind(error)}`, 'error')
  log(messageText(error.message), 'debug')
}

/** Service callbacks that write to the log. */
export const serviceLog = {
  onBug: logDefect,
  onAuditTrouble: (message: string) => log(message, 'error'),
  onStateTrouble: (message: string) => log(message, 'error'),
  onReplyDrift: (message: string) => log(message, 'warn'),
}

/** Sets the configured log format. */
export function setUpLog(wanted: LogOptions): Log {
  current = createLog(wanted, process.stderr)
  // Node's own output would not be JSON.
  if (wanted.form === 'json' && options?.form !== 'json') logOfNode()
  options = wanted
  return current
}

/** Logs why the program ends. `form` applies if the log is not set up yet. */
export function logEnd(message: string, form: 'json' | 'text'): void {
  if (!options) setUpLog({ form, level: 'notice' })
  const written = options?.form === 'off' ? defaultLog : current
  written.line(message, 'error')
}

/** Node 22 warns at every start that SQLite is experimental. All other warnings are shown. */
export function silenceSqliteWarning(): void {
  const shown = process.listeners('warning')
  onWarning((warning) => {
    for (const show of shown) show(warning)
  })
}

/** Receives the warnings of Node.js instead of its default output. */
function onWarning(show: (warning: Error) => void): void {
  const isExpected = ({ name, message }: Error) =>
    name === 'ExperimentalWarning' && /SQLite/.test(message)
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (!isExpected(warning)) show(warning)
  })
}

/** Logs warnings of Node.js and uncaught errors. */
function logOfNode(): void {
  onWarning(({ name, message }) => log(`${name}: ${message}`, 'warn'))
  process.on('uncaughtException', (error) => {
    log(error instanceof Error ? (error.stack ?? error.message) : String(error), 'error')
    process.exit(1)
  })
}

/** Logs what is served: the platform, the account and how many tools. */
export function logStart(
  { platform, scope }: ServiceConfig,
  { all, tools }: Exposure<ToolSummary>,
): void {
  if (platform.kind === 'network') log(`Platform: ${platform.baseUrl.origin}`)
  else logSandbox({ platform })
  if (scope.account !== undefined) log(`Account: ${scope.account}, and no other.`)
  if (tools.length < all.length) log(`Exposing ${tools.length} of ${all.length} tools.`)
}

/**
 * Logs that the platform is simulated, and where its data is. Logs nothing for the real platform.
 */
export function logSandbox({ platform }: Pick<ServiceConfig, 'platform'>): void {
  if (platform.kind !== 'sandbox') return
  log(
    `SANDBOX: no real account, nothing is dialled. Data: ${platform.file}. Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`,
  )
}

/**
 * Sets up the log, and serves the metrics if configured. Loads only the code that is needed. Throws
 * ListenError.
 */
export async function openObservability({
  log: logOptions,
  metrics: address,
}: {
  readonly log: LogOptions
  readonly metrics?: ListenConfig['listen'] | undefined
}) {
  const opened = setUpLog(logOptions)
  const metrics = address && (await openMetrics(address, opened.dropped))
  const sinks = [opened.sink, metrics?.sink].filter((sink) => sink !== undefined)
  const tracing = await openTracing()
  const isRecorded = sinks.length > 0 || tracing !== undefined
  return {
    /** `undefined` without a request log, metrics and traces. */
    observer: isRecorded
      ? (await import('../server/observe/observer.ts')).createObserver(sinks, tracing)
      : undefined,
    close: async () => metrics?.close(),
  }
}

/** Global registry key of the OpenTelemetry API, shared by all copies of its package. */
const registryKey = Symbol.for('opentelemetry.js.api.1')

const Registry = z.object({ version: z.string(), trace: z.unknown() })

/**
 * Sends traces to the OpenTelemetry SDK that `node --import` has loaded. Without an OpenTelemetry
 * SDK, returns `undefined` and loads no tracing code.
 */
async function openTracing(): Promise<Tracing | undefined> {
  if (!(registryKey in globalThis)) return undefined
  const { createTracing } = await import('../server/observe/tracing.ts')
  const tracing = createTracing(packageJson.version)
  const { data: registry } = Registry.safeParse(Reflect.get(globalThis, registryKey))
  if (!tracing && registry?.trace !== undefined) {
    log(
      `There are no traces: the attached OpenTelemetry SDK has version ${registry.version} of @opentelemetry/api, and 1.9 or newer is needed.`,
      'warn',
    )
  }
  return tracing
}

async function openMetrics({ host, port }: ListenConfig['listen'], dropped: () => number) {
  const [{ createMetrics }, { startMetricsServer }] = await Promise.all([
    import('../server/observe/metrics.ts'),
    import('../server/transports/metrics-server.ts'),
  ])
  const { sink, text } = createMetrics(packageJson.version, dropped)
  const server = await startMetricsServer({ host, port, isLoopback: isLoopback(host), text })
  log(`Metrics at ${server.url}/metrics`)
  return { sink, close: () => server.close() }
}
