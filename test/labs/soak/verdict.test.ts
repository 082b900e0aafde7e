import { expect, test } from 'vitest'
import { slopeOf, verdictOf } from './verdict.ts'
import { type Sample, WatchedServer } from './watched-server.ts'

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
function watched(heapAt: (minutes: number) => number, atEnd: Partial<Sample> = {}): WatchedServer {
  const server = new WatchedServer('http', 0, '')
  for (let nth = 1; nth <= 20; nth++)
    server.samples.push(sampleAt(nth * minute, { heapUsed: heapAt(nth) * megabyte }))
  server.fresh = sampleAt(0)
  server.idle = sampleAt(21 * minute, atEnd)
  return server
}

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
