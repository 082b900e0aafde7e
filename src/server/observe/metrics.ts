import type { PlatformTry, Sink } from './observer.ts'

/** Metrics of this process for Prometheus. No label contains an id, an API key or client text. */
export function createMetrics(version: string, droppedLogLines: () => number) {
  const metrics = recordedMetrics()
  const all = [...Object.values(metrics), ...processMetrics(version, droppedLogLines)]
  return {
    sink: sinkOf(metrics),
    /** All metrics, in the text format of Prometheus. */
    text: () => `${all.map((metric) => metric.text()).join('\n')}\n`,
  }
}

const own = (name: string) => `voice_agent_mcp_${name}`

const recordedMetrics = () => ({
  calls: counter(own('tool_calls_total'), 'Tool calls that have ended, by how.'),
  callTimes: histogram(own('tool_call_duration_seconds'), 'How long tool calls took.'),
  inFlight: counter(own('tool_calls_in_flight'), 'Tool calls under way.', 'gauge'),
  stateFailures: counter(
    own('state_failures_total'),
    'Requests that could not use the state: away (it answers again by itself) or broken.',
  ),
  refusals: counter(
    own('http_requests_refused_total'),
    'HTTP requests that were not served, by status.',
  ),
  tries: counter(
    own('platform_requests_total'),
    'Requests to the platform, each try counted, by status class or failure.',
  ),
  retries: counter(own('platform_retries_total'), 'Retries of failed requests to the platform.'),
  times: histogram(
    own('platform_request_duration_seconds'),
    'Duration of requests to the platform, per attempt.',
  ),
  cache: counter(
    own('cache_reads_total'),
    'Reads of kept replies: hit, stale (kept, and read again in the background), miss.',
  ),
  dials: counter(
    own('dial_decisions_total'),
    'Decisions of the dial policy: allowed right before a call is sent, refused by a rule, or not placed after it was allowed.',
  ),
})

const sinkOf = (metrics: ReturnType<typeof recordedMetrics>): Sink => ({
  toolCallBegan(tool) {
    metrics.inFlight.add({ tool })
  },
  toolCallEnded({ tool, outcome, durationMs }) {
    metrics.inFlight.add({ tool }, -1)
    metrics.calls.add({ tool, outcome })
    metrics.callTimes.observe({ tool }, durationMs / 1000)
  },
  requestRefused({ status }) {
    metrics.refusals.add({ status: String(status) })
  },
  platformTried(attempt) {
    const { operation, durationMs, isRetry } = attempt
    metrics.tries.add({ operation, result: resultOf(attempt) })
    if (isRetry) metrics.retries.add({ operation })
    metrics.times.observe({ operation }, durationMs / 1000)
  },
  stateFailed(how) {
    metrics.stateFailures.add({ how })
  },
  cacheRead(result) {
    metrics.cache.add({ result })
  },
  dialDecided(result, rule) {
    metrics.dials.add({ result, rule })
  },
})

/**
 * Statuses are counted by class, because the platform may answer with any status. 429 is counted
 * separately.
 */
function resultOf({ status, failure }: PlatformTry): string {
  if (status === undefined) return failure ?? 'none'
  if (failure !== undefined && failure !== 'rejected') return failure
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`
}

/** Metrics of the process, read when Prometheus asks, most under its standard names. */
function processMetrics(version: string, droppedLogLines: () => number): readonly Metric[] {
  const started = Date.now() / 1000 - process.uptime()
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  const utilization = () => performance.eventLoopUtilization().utilization
  return [
    readMetric(own('info'), 'The version of this server.', () => 1, { labels: { version } }),
    readMetric(
      own('log_lines_dropped_total'),
      'Log lines dropped because nobody read them.',
      droppedLogLines,
      { type: 'counter' },
    ),
    readMetric('process_cpu_seconds_total', 'Processor time of the process.', cpuSeconds, {
      type: 'counter',
    }),
    readMetric('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss),
    readMetric(
      'process_start_time_seconds',
      'When the process started, s since 1970.',
      () => started,
    ),
    readMetric(
      'nodejs_eventloop_utilization',
      'Share of time that the process was busy.',
      utilization,
    ),
  ]
}

/*
 * Counters, gauges and histograms in the text format of Prometheus (exposition format 0.0.4). A
 * library would add a tracing API and a statistics package.
 */

type Labels = Readonly<Record<string, string>>

interface Metric {
  /** Lines of the metric, with `# HELP` and `# TYPE`. */
  text(): string
}

/**
 * Maximum label sets per metric, a safeguard: labels come from short lists. Further sets are
 * counted together, as `other`.
 */
const maxSeries = 2000

interface Description {
  readonly name: string
  /** Help text, one line. */
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
}

/** A metric with a value for each set of labels. */
function labelled<T>(
  description: Description,
  create: () => T,
  samples: (labels: string, value: T) => readonly string[],
) {
  const byLabels = new Map<string, T>()
  return {
    of(labels: Labels): T {
      const wanted = labelText(labels)
      const known = byLabels.get(wanted)
      if (known !== undefined) return known
      const others = Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
      const text = byLabels.size < maxSeries ? wanted : labelText(others)
      const value = byLabels.get(text) ?? create()
      byLabels.set(text, value)
      return value
    },
    text: () =>
      metricText(
        description,
        [...byLabels].flatMap(([labels, value]) => samples(labels, value)),
      ),
  }
}

/** A counter, or with `gauge` a value that goes up and down. */
export function counter(name: string, help: string, type: 'counter' | 'gauge' = 'counter') {
  const { of, text } = labelled(
    { name, help, type },
    () => ({ value: 0 }),
    (labels, { value }) => [sample(name, labels, value)],
  )
  return {
    add(labels: Labels = {}, by = 1) {
      of(labels).value += by
    },
    text,
  }
}

/** A metric whose value is read on demand. */
export const readMetric = (
  name: string,
  help: string,
  read: () => number,
  { type = 'gauge', labels = {} }: { type?: 'counter' | 'gauge'; labels?: Labels } = {},
): Metric => ({
  text: () => metricText({ name, help, type }, [sample(name, labelText(labels), read())]),
})

/** Upper bounds of a histogram's buckets, seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** A histogram of durations, seconds. */
export function histogram(name: string, help: string) {
  const { of, text } = labelled(
    { name, help, type: 'histogram' },
    () => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }),
    (labels, { counts, count, sum }) => [
      ...bounds.map((bound, at) =>
        sample(`${name}_bucket`, `${labels},le="${bound}"`, counts[at] ?? 0),
      ),
      sample(`${name}_bucket`, `${labels},le="+Inf"`, count),
      sample(`${name}_sum`, labels, sum),
      sample(`${name}_count`, labels, count),
    ],
  )
  return {
    observe(labels: Labels, seconds: number) {
      const times = of(labels)
      times.count++
      times.sum += seconds
      // Buckets are cumulative.
      for (const [at, bound] of bounds.entries())
        if (seconds <= bound) times.counts[at] = (times.counts[at] ?? 0) + 1
    },
    text,
  }
}

const metricText = ({ name, help, type }: Description, lines: readonly string[]) =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')

const sample = (name: string, labels: string, value: number) =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value}`

const labelText = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapedLabel(value)}"`)
    .join(',')

const escapedLabel = (value: string) =>
  value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))
