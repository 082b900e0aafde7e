import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConcurrencyLimit, type Requester } from '../../src/platform/concurrency-limit.ts'
import { tries } from '../harness/property.ts'

/** Acquires slots. `begun`: the requesters that have a slot, in order. */
function crowd(limit: ConcurrencyLimit) {
  const begun: Requester[] = []
  const acquire = (requester: Requester) => limit.acquire(requester, () => begun.push(requester))
  return { begun, acquire }
}

const from = (network: string, key = 'a key') => ({ key, network })

describe('requests to the platform', () => {
  test('from one network wait for each other, but not for those from another network', () => {
    const limit = new ConcurrencyLimit({ inAll: 10, perKey: 10, perNetwork: 2 })
    const { begun, acquire } = crowd(limit)
    const requests = [from('a', '1'), from('a', '2'), from('a', '3'), from('b', '3')]
    for (const request of requests) acquire(request)
    expect(begun).toEqual([from('a', '1'), from('a', '2'), from('b', '3')])
    limit.release(from('a', '1'))
    expect(begun.at(-1)).toEqual(from('a', '3'))
  })

  test('from an unknown network are limited by API key only', () => {
    const limit = new ConcurrencyLimit({ inAll: 10, perKey: 3, perNetwork: 1 })
    const { begun, acquire } = crowd(limit)
    for (let count = 0; count < 5; count++) acquire({ key: 'a key', network: undefined })
    expect(begun).toHaveLength(3)
  })

  test('that are cancelled while they wait never start', () => {
    const limit = new ConcurrencyLimit({ inAll: 1, perKey: 1, perNetwork: 0 })
    const { begun, acquire } = crowd(limit)
    acquire(from('a', '1'))
    const giveUp = acquire(from('a', '2'))
    acquire(from('a', '3'))
    giveUp?.()
    limit.release(from('a', '1'))
    expect(begun).toEqual([from('a', '1'), from('a', '3')])
  })

  test('all start in the end, and never exceed a limit', () => {
    const requester = fc.record({
      key: fc.constantFrom('1', '2', '3'),
      network: fc.constantFrom('a', 'b', undefined),
    })
    const bounds = fc.record({
      inAll: fc.integer({ min: 1, max: 5 }),
      perKey: fc.integer({ min: 1, max: 4 }),
      perNetwork: fc.integer({ min: 0, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(requester, { maxLength: 30 }), bounds, (requesters, limits) => {
        const limit = new ConcurrencyLimit(limits)
        const { begun, acquire } = crowd(limit)
        for (const one of requesters) acquire(one)
        for (let ended = 0; ended < begun.length; ended++) {
          const inFlight = begun.slice(ended)
          const count = (is: (one: Requester) => boolean) => inFlight.filter(is).length
          expect(inFlight.length).toBeLessThanOrEqual(limits.inAll)
          for (const { key, network } of inFlight) {
            expect(count((one) => one.key === key)).toBeLessThanOrEqual(limits.perKey)
            if (network === undefined || limits.perNetwork === 0) continue
            expect(count((one) => one.network === network)).toBeLessThanOrEqual(limits.perNetwork)
          }
          limit.release(begun[ended] as Requester)
        }
        expect(begun).toHaveLength(requesters.length)
      }),
      tries(500),
    )
  })
})
