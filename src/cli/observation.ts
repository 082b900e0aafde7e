import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { isLoopback } from '../config/loopback.ts'
import type { MetricsConfig } from '../config/metrics.ts'
import type { LogOptions } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
import type { Tracing } from '../observe/tracing.ts'
import { log, setUpLog } from './stderr-log.ts'

/** What records the requests of a process. */
export interface Observation {
  /** `undefined`: nobody wants to know of them. */
  readonly observer: Observer | undefined
  close(): Promise<void>
}

/**
 * Sets up the log, and serves the metrics if they are wanted. Code that is not needed is not loaded.
 * Throws ListenError.
 */
export async function openObservation({
  log: logOptions,
  metrics: address,
}: Partial<MetricsConfig> & { readonly log: LogOptions }): Promise<Observation> {
  const opened = setUpLog(logOptions)
  const metrics = address && (await openMetrics(address, opened.dropped))
  const sinks = [opened.sink, metrics?.sink].filter((sink) => sink !== undefined)
  const tracing = await openTracing()
  if (sinks.length === 0 && !tracing) return { observer: undefined, close: async () => undefined }
  const { createObserver } = await import('../observe/observer.ts')
  return { observer: createObserver(sinks, tracing), close: async () => metrics?.close() }
}

/** Where the API of OpenTelemetry keeps what is registered: the same for every copy of the API. */
const registryKey = Symbol.for('opentelemetry.js.api.1')

const Registry = z.object({ version: z.string(), trace: z.unknown() })

/** Traces go to the SDK that was attached (`node --import`); without one nothing is loaded. */
async function openTracing(): Promise<Tracing | undefined> {
  if (!(registryKey in globalThis)) return undefined
  const { createTracing } = await import('../observe/tracing.ts')
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

async function openMetrics(
  { host, port }: NonNullable<MetricsConfig['metrics']>,
  droppedLogLines: () => number,
) {
  const [{ createMetrics }, { metricsContentType }, { startMetricsServer }] = await Promise.all([
    import('../observe/metrics.ts'),
    import('../observe/prometheus.ts'),
    import('../transports/metrics.ts'),
  ])
  const { sink, text } = createMetrics({ version: packageJson.version, droppedLogLines })
  const server = await startMetricsServer({
    ...{ host, port, text },
    isLoopback: isLoopback(host),
    contentType: metricsContentType,
  })
  log(`Metrics at ${server.url}/metrics`)
  return { sink, close: () => server.close() }
}
