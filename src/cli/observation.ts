import packageJson from '../../package.json' with { type: 'json' }
import { isLoopback } from '../config/loopback.ts'
import type { MetricsConfig } from '../config/metrics.ts'
import type { LogOptions } from '../observe/log.ts'
import type { Observer } from '../observe/observer.ts'
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
  if (sinks.length === 0) return { observer: undefined, close: async () => undefined }
  const { createObserver } = await import('../observe/observer.ts')
  return { observer: createObserver(sinks), close: async () => metrics?.close() }
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
