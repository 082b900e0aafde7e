import type { PlatformTry, Sink } from './request-records.ts'

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
  const metrics = recordedMetrics()
  const all = [...Object.values(metrics), ...processMetrics(version, droppedLogLines)]
  return {
    sink: sinkOf(metrics),
    text: () => `${all.map((metric) => metric.text()).join('\n')}\n`,
  }
}

const own = (name: string) => `voice_agent_mcp_${name}`

const recordedMetrics = () => ({
  calls: new Counter(own('tool_calls_total'), 'Tool calls that have ended, by how.'),
  callTimes: new Histogram(own('tool_call_duration_seconds'), 'How long tool calls took.'),
  inFlight: new Counter(own('tool_calls_in_flight'), 'Tool calls under way.', 'gauge'),
  stateFailures: new Counter(
    own('state_failures_total'),
    'Requests that could not use the state: away (it answers again by itself) or broken.',
  ),
  refusals: new Counter(
    own('http_requests_refused_total'),
    'HTTP requests that were not served, by status.',
  ),
  tries: new Counter(
    own('platform_requests_total'),
    'Requests to the platform, each try counted, by status class or failure.',
  ),
  retries: new Counter(
    own('platform_retries_total'),
    'Requests to the platform that repeated one that had failed.',
  ),
  times: new Histogram(
    own('platform_request_duration_seconds'),
    'How long requests to the platform took, each try for itself.',
  ),
  cache: new Counter(
    own('cache_reads_total'),
    'Reads of kept replies: hit, stale (kept, and read again in the background), miss.',
  ),
  dials: new Counter(
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
 * The platform may answer with any status, so statuses are counted by class; 429 is counted by
 * itself.
 */
function resultOf({ status, failure }: PlatformTry): string {
  if (status === undefined) return failure ?? 'none'
  if (failure !== undefined && failure !== 'rejected') return failure
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`
}

/** Metrics read on demand, most under Prometheus' standard names for processes. */
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
      'Log lines that were dropped because nobody read them.',
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
      'Part of its time that the process was busy.',
      utilization,
    ),
  ]
}

/*
 * Metrics in the text format of Prometheus (version 0.0.4 of the exposition formats). A library
 * would add a tracing API and a statistics package for what this file does.
 */

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>

export interface Metric {
  /** Lines of the metric, with `# HELP` and `# TYPE`. */
  text(): string
}

/**
 * Label sets per metric. Labels come from short lists, so this bound is never reached. Further sets
 * are counted together.
 */
const maxSeries = 2000

/** The values of one metric, by labels. */
class Series<T> {
  readonly #byLabels = new Map<string, T>()
  readonly #create: () => T

  constructor(create: () => T) {
    this.#create = create
  }

  of(labels: Labels): T {
    const wanted = labelText(labels)
    const known = this.#byLabels.get(wanted)
    if (known !== undefined) return known
    const others = Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
    const text = this.#byLabels.size < maxSeries ? wanted : labelText(others)
    const value = this.#byLabels.get(text) ?? this.#create()
    this.#byLabels.set(text, value)
    return value
  }

  lines(linesOf: (labels: string, value: T) => readonly string[]): string[] {
    return [...this.#byLabels].flatMap(([labels, value]) => linesOf(labels, value))
  }
}

/** A number that grows, or (`gauge`) goes up and down. */
export class Counter implements Metric {
  readonly #name: string
  readonly #help: string
  readonly #type: 'counter' | 'gauge'
  readonly #series = new Series(() => ({ value: 0 }))

  /** `help`: one line. */
  constructor(name: string, help: string, type: 'counter' | 'gauge' = 'counter') {
    this.#name = name
    this.#help = help
    this.#type = type
  }

  add(labels: Labels = {}, by = 1): void {
    this.#series.of(labels).value += by
  }

  text(): string {
    const lines = this.#series.lines((labels, { value }) => [sample(this.#name, labels, value)])
    return metricText(this.#name, this.#help, this.#type, lines)
  }
}

/** A number that is read on demand. */
export const readMetric = (
  name: string,
  help: string,
  read: () => number,
  { type = 'gauge', labels = {} }: { type?: 'counter' | 'gauge'; labels?: Labels } = {},
): Metric => ({
  text: () => metricText(name, help, type, [sample(name, labelText(labels), read())]),
})

/** Upper bounds of the buckets, s: from a fast reply to the longest request. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Durations, s. */
export class Histogram implements Metric {
  readonly #name: string
  readonly #help: string
  readonly #series = new Series(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }))

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  observe(labels: Labels, seconds: number): void {
    const times = this.#series.of(labels)
    times.count++
    times.sum += seconds
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) times.counts[bucket] = (times.counts[bucket] ?? 0) + 1
  }

  text(): string {
    const name = this.#name
    const lines = this.#series.lines((labels, { counts, count, sum }) => {
      let below = 0
      const buckets = bounds.map((bound, at) => {
        below += counts[at] ?? 0
        return sample(`${name}_bucket`, `${labels},le="${bound}"`, below)
      })
      return [
        ...buckets,
        sample(`${name}_bucket`, `${labels},le="+Inf"`, count),
        sample(`${name}_sum`, labels, sum),
        sample(`${name}_count`, labels, count),
      ]
    })
    return metricText(name, this.#help, 'histogram', lines)
  }
}

const metricText = (name: string, help: string, type: string, lines: readonly string[]) =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')

const sample = (name: string, labels: string, value: number) =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value}`

const labelText = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapedLabel(value)}"`)
    .join(',')

const escapedLabel = (value: string) =>
  value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))
