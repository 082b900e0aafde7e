import { expect, test } from 'vitest'
import { slopeOf, verdictOf } from './verdict.ts'
import type { Sample, Watched } from './watched-server.ts'

const megabyte = 1_000_000
const minute = 60_000

const sampleAt = (at: number, more: Partial<Sample> = {}): Sample => ({
  at,
  heapUsed: 40 * megabyte,
  rss: 120 * megabyte,
  descriptors: 24,
  sockets: 3,
  resources: 5,
  ...more,
})

/** A server with a sample each minute for twenty minutes. */
const watched = (heapAt: (minutes: number) => number, atEnd: Partial<Sample> = {}): Watched => ({
  name: 'http',
  fresh: sampleAt(0),
  samples: Array.from({ length: 20 }, (_, index) =>
    sampleAt((index + 1) * minute, { heapUsed: heapAt(index + 1) * megabyte }),
  ),
  idle: sampleAt(21 * minute, atEnd),
})

test('the slope is that of the regression line', () => {
  expect(
    slopeOf([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
  ).toBe(2)
  expect(slopeOf([[5, 7]])).toBe(0)
})

test('memory that grows at first and then varies is no problem', () => {
  const server = watched((nth) => 40 + Math.min(nth, 8) + (nth % 3))
  expect(verdictOf(server).problems).toEqual([])
})

test('memory that keeps growing is a problem', () => {
  expect(verdictOf(watched((nth) => 40 + nth)).problems).toEqual([
    'heapUsed grew by 9 MB in the second half',
  ])
})

test('resources that stay open after all clients have left are a problem', () => {
  const { problems } = verdictOf(watched(() => 40, { sockets: 12, descriptors: 60 }))
  expect(problems).toEqual([
    '60 descriptors are open after all clients have left; 24 at the start',
    '12 sockets are open after all clients have left; 3 at the start',
  ])
})
