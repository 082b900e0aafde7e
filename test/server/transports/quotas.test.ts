import { describe, expect, test } from 'vitest'
import { Rate, RateLimits } from '../../../src/server/transports/quotas.ts'

const request = { key: 'key', network: '203.0.113.7', count: 1 }

describe('a rate', () => {
  test('allows the requests of a minute at once, then evenly, and tells how long to wait', () => {
    const rate = new Rate({ inAll: 0, perKey: 6, perAddress: 0 })
    for (let at = 0; at < 6; at++) expect(rate.take(request, 1000)).toBeUndefined()
    expect(rate.take(request, 1000)).toEqual({ bound: 'perKey', forMs: 10_000 })
    expect(rate.take(request, 8000)).toEqual({ bound: 'perKey', forMs: 3000 })
    expect(rate.take(request, 11_000)).toBeUndefined()
    expect(rate.take(request, 11_000)).toEqual({ bound: 'perKey', forMs: 10_000 })
    // After a minute without requests, the full quota is available again, but no more.
    for (let at = 0; at < 6; at++) expect(rate.take(request, 200_000)).toBeUndefined()
    expect(rate.take(request, 200_000)).toBeDefined()
  })

  test('never refuses whoever keeps to it, whatever the limit', () => {
    for (let perKey = 1; perKey <= 100; perKey++) {
      const rate = new Rate({ inAll: 0, perKey, perAddress: 0 })
      const refused = Array.from({ length: 3 * perKey }, (_, at) =>
        rate.take(request, 1e9 + (at * 60_000) / perKey),
      ).filter(Boolean)
      expect(refused).toEqual([])
    }
  })

  test('counts nothing for a request that another bound refuses', () => {
    const rate = new Rate({ inAll: 2, perKey: 1, perAddress: 0 })
    expect(rate.take(request, 0)).toBeUndefined()
    for (let at = 0; at < 5; at++) expect(rate.take(request, 0)?.bound).toBe('perKey')
    expect(rate.take({ ...request, key: 'other' }, 0)).toBeUndefined()
    expect(rate.take({ ...request, key: 'third' }, 0)?.bound).toBe('inAll')
  })

  test('lets a batch begin while one request is allowed, and counts all of it', () => {
    const rate = new Rate({ inAll: 0, perKey: 60, perAddress: 0 })
    expect(rate.take({ ...request, count: 100 }, 0)).toBeUndefined()
    expect(rate.take(request, 0)?.forMs).toBe(41_000)
  })
})

describe('what is remembered', () => {
  test('has a bound, however many names come, and a name that has to wait is not forgotten', () => {
    const max = 1000
    const rateLimits = new RateLimits(10, max)
    rateLimits.spend('busy', 10, 0)
    for (let at = 0; at < 100_000; at++) {
      rateLimits.spend(`name ${at}`, 1, at / 100_000)
      if (rateLimits.remembered > max) throw new Error(`${rateLimits.remembered} names`)
    }
    expect(rateLimits.waitMs('busy', 1)).toBeCloseTo(5999)
  })

  test('is forgotten when it says nothing more', () => {
    const rateLimits = new RateLimits(60, 100)
    for (let at = 0; at < 100; at++) rateLimits.spend(`name ${at}`, 1, 0)
    rateLimits.spend('later', 1, 1000)
    expect(rateLimits.remembered).toBe(1)
  })
})
