/*
 * Metrics in the text format of Prometheus (version 0.0.4 of the exposition formats). A library for
 * it brings a tracing API and a statistics package along; what is needed of it is this file.
 */

/** The media type of the format. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>

/** Something that is measured, under one name. */
export interface Metric {
  /** Its lines, with `# HELP` and `# TYPE`. */
  text(): string
}

interface Named {
  readonly name: string
  /** What it measures, in one line. */
  readonly help: string
}

/**
 * Most sets of labels of one metric. All labels are from short lists, so this is never reached; if it
 * were, further sets are counted together.
 */
const mostSeries = 2000

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
    const text = this.#byLabels.size < mostSeries ? wanted : labelText(others)
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
  readonly #named: Named & { readonly type?: 'counter' | 'gauge' }
  readonly #series = new Series(() => ({ value: 0 }))

  constructor(named: Named & { readonly type?: 'counter' | 'gauge' }) {
    this.#named = named
  }

  add(labels: Labels = {}, by = 1): void {
    this.#series.of(labels).value += by
  }

  text(): string {
    const { name, type = 'counter' } = this.#named
    const lines = this.#series.lines((labels, { value }) => [sample(name, labels, value)])
    return metricText(this.#named, type, lines)
  }
}

/** A number that is read when it is asked for. */
export const readGauge = (
  named: Named & { readonly type?: 'counter' | 'gauge'; readonly labels?: Labels },
  read: () => number,
): Metric => ({
  text: () =>
    metricText(named, named.type ?? 'gauge', [
      sample(named.name, labelText(named.labels ?? {}), read()),
    ]),
})

/** Upper bounds of the buckets, s: from a fast reply to the longest request. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** How long something takes, s. */
export class Histogram implements Metric {
  readonly #named: Named
  readonly #series = new Series(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }))

  constructor(named: Named) {
    this.#named = named
  }

  observe(labels: Labels, seconds: number): void {
    const times = this.#series.of(labels)
    times.count++
    times.sum += seconds
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) times.counts[bucket] = (times.counts[bucket] ?? 0) + 1
  }

  text(): string {
    const { name } = this.#named
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
    return metricText(this.#named, 'histogram', lines)
  }
}

const metricText = ({ name, help }: Named, type: string, lines: readonly string[]) =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')

const sample = (name: string, labels: string, value: number) =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value}`

const labelText = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapedLabel(value)}"`)
    .join(',')

const escapedLabel = (value: string) =>
  value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))
