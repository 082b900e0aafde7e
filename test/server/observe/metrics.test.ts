import { describe, expect, test } from 'vitest'
import {
  counter,
  createMetrics,
  histogram,
  readMetric,
} from '../../../src/server/observe/metrics.ts'
import { samplesIn } from '../../harness/prometheus.ts'

describe('the text format', () => {
  test('has help, type and samples, with labels escaped', () => {
    const numbers = counter('things_total', 'Things.')
    numbers.add({ kind: 'a "b" \\ c\nd' })
    numbers.add({ kind: 'a "b" \\ c\nd' }, 2)
    expect(numbers.text()).toBe(
      '# HELP things_total Things.\n# TYPE things_total counter\nthings_total{kind="a \\"b\\" \\\\ c\\nd"} 3',
    )
    expect(readMetric('now', 'Now.', () => 1.5).text()).toContain('\nnow 1.5')
  })

  test('has cumulative buckets of a histogram', () => {
    const times = histogram('time_seconds', 'Time.')
    for (const seconds of [0.005, 0.006, 2, 1000]) times.observe({ of: 'x' }, seconds)
    const samples = samplesIn(`${times.text()}\n`)
    expect(samples.get('time_seconds_bucket{of="x",le="0.005"}')).toBe(1)
    expect(samples.get('time_seconds_bucket{of="x",le="0.01"}')).toBe(2)
    expect(samples.get('time_seconds_bucket{of="x",le="60"}')).toBe(3)
    expect(samples.get('time_seconds_bucket{of="x",le="+Inf"}')).toBe(4)
    expect(samples.get('time_seconds_count{of="x"}')).toBe(4)
    expect(samples.get('time_seconds_sum{of="x"}')).toBeCloseTo(1002.011)
  })

  test('has a bounded number of samples', () => {
    const numbers = counter('things_total', 'Things.')
    for (let kind = 0; kind < 10_000; kind++) numbers.add({ kind: String(kind) })
    const samples = samplesIn(`${numbers.text()}\n`)
    expect(samples.size).toBeLessThan(2010)
    expect([...samples.values()].reduce((sum, value) => sum + value)).toBe(10_000)
    expect(samples.get('things_total{kind="other"}')).toBe(8000)
  })
})

test('any status of the platform is counted in one of a few classes', () => {
  const { sink, text } = createMetrics('1', () => 0)
  const attempt = { operation: 'agents.list', requestId: 'r', durationMs: 1, isRetry: false }
  for (let status = 100; status < 1000; status++) {
    sink.platformTried?.({ ...attempt, status, failure: status < 300 ? undefined : 'rejected' })
    sink.platformTried?.({ ...attempt, status, failure: 'unreadable' })
  }
  const counted = [...samplesIn(text())].filter(([name]) => /platform_requests_total/.test(name))
  expect(counted).toHaveLength(11)
})
