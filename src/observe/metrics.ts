import { Counter, Histogram, type Metric, readGauge } from './prometheus.ts'
import type { PlatformTry, Sink } from './records.ts'

/** Numbers of a process for Prometheus. No label holds an id, a key or a text of a client. */
export interface Metrics {
  readonly sink: Sink
  /** All metrics, in the text format of Prometheus. */
  readonly text: () => string
}

export function createMetrics({
  version,
  droppedLogLines,
}: {
  readonly version: string
  readonly droppedLogLines: () => number
}): Metrics {
  const requests = requestMetrics()
  const platform = platformMetrics()
  const all = [
    ...Object.values(requests),
    ...Object.values(platform),
    ...processMetrics(version, droppedLogLines),
  ]
  return {
    sink: sinkOf(requests, platform),
    text: () => `${all.map((metric) => metric.text()).join('\n')}\n`,
  }
}

const own = (name: string) => `voice_agent_mcp_${name}`

const requestMetrics = () => ({
  calls: new Counter({
    name: own('tool_calls_total'),
    help: 'Tool calls that have ended, by how.',
  }),
  callTimes: new Histogram({
    name: own('tool_call_duration_seconds'),
    help: 'How long tool calls took.',
  }),
  inFlight: new Counter({
    name: own('tool_calls_in_flight'),
    help: 'Tool calls under way.',
    type: 'gauge',
  }),
  refusals: new Counter({
    name: own('http_requests_refused_total'),
    help: 'HTTP requests that were not served, by status.',
  }),
})

const platformMetrics = () => ({
  tries: new Counter({
    name: own('platform_requests_total'),
    help: 'Requests to the platform, each try counted, by status class or failure.',
  }),
  retries: new Counter({
    name: own('platform_retries_total'),
    help: 'Requests to the platform that repeated one that had failed.',
  }),
  times: new Histogram({
    name: own('platform_request_duration_seconds'),
    help: 'How long requests to the platform took, each try for itself.',
  }),
  cache: new Counter({
    name: own('cache_reads_total'),
    help: 'Reads of kept replies: hit, stale (kept, and read again in the background), miss.',
  }),
  dials: new Counter({
    name: own('dial_decisions_total'),
    help: 'Decisions of the dial policy: allowed right before a call is sent, refused by a rule, or not placed after it was allowed.',
  }),
})

const sinkOf = (
  { calls, callTimes, inFlight, refusals }: ReturnType<typeof requestMetrics>,
  { tries, retries, times, cache, dials }: ReturnType<typeof platformMetrics>,
): Sink => ({
  toolCallBegan(tool) {
    inFlight.add({ tool })
  },
  toolCallEnded({ tool, outcome, durationMs }) {
    inFlight.add({ tool }, -1)
    calls.add({ tool, outcome })
    callTimes.observe({ tool }, durationMs / 1000)
  },
  requestRefused({ status }) {
    refusals.add({ status: String(status) })
  },
  platformTried(attempt) {
    const { operation, durationMs, isRetry } = attempt
    tries.add({ operation, result: resultOf(attempt) })
    if (isRetry) retries.add({ operation })
    times.observe({ operation }, durationMs / 1000)
  },
  cacheRead(result) {
    cache.add({ result })
  },
  dialDecided(result, rule) {
    dials.add({ result, rule })
  },
})

/** The platform may answer with any status, so they are counted by class; 429 has a meaning of its own. */
function resultOf({ status, failure }: PlatformTry): string {
  if (status === undefined) return failure ?? 'none'
  if (failure !== undefined && failure !== 'rejected') return failure
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`
}

/** What Prometheus names the same for every process. */
function processMetrics(version: string, droppedLogLines: () => number): readonly Metric[] {
  const started = Date.now() / 1000 - process.uptime()
  return [
    readGauge(
      { name: own('info'), help: 'The version of this server.', labels: { version } },
      () => 1,
    ),
    readGauge(
      {
        name: own('log_lines_dropped_total'),
        help: 'Log lines that were dropped because nobody read them.',
        type: 'counter',
      },
      droppedLogLines,
    ),
    readGauge(
      {
        name: 'process_cpu_seconds_total',
        help: 'Processor time of the process.',
        type: 'counter',
      },
      () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    ),
    readGauge(
      { name: 'process_resident_memory_bytes', help: 'Memory of the process.' },
      process.memoryUsage.rss,
    ),
    readGauge(
      { name: 'process_start_time_seconds', help: 'When the process started, s since 1970.' },
      () => started,
    ),
    readGauge(
      { name: 'nodejs_eventloop_utilization', help: 'Part of its time that the process was busy.' },
      () => performance.eventLoopUtilization().utilization,
    ),
  ]
}
