import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallCounter, CallLimits } from '../../../src/state/call-counter.ts'
import { tries } from '../../harness/property.ts'

/** A call counter whose time the test sets. */
export interface TimedCounter {
  readonly counter: CallCounter
  /** Sets and stops its clock, ms since 1970. */
  setTime(at: number): Promise<void>
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Tests that every call counter must pass. `create`: an empty counter. */
export function describeCallCounter(
  name: string,
  create: () => Promise<TimedCounter>,
  { runs = 40 } = {},
): void {
  /** An empty counter, with its operations at a given time. */
  const opened = async () => {
    const { counter, setTime } = await create()
    return {
      counter,
      check: async (limits: CallLimits, at: number) => {
        await setTime(at)
        return counter.check(limits)
      },
      reserve: async (limits: CallLimits, at: number, leaseMs = hour) => {
        await setTime(at)
        return counter.reserve(limits, leaseMs)
      },
      /** Reserves a call and returns the reservation's id. Throws if a limit is reached. */
      placed: async (limits: CallLimits, at: number, leaseMs = hour) => {
        await setTime(at)
        const answer = await counter.reserve(limits, leaseMs)
        if ('exceeded' in answer) throw new Error(`${answer.exceeded.rule} is reached`)
        return answer.id
      },
      setTime,
    }
  }

  describe(`a call counter ${name}`, () => {
    test('allows a call when the oldest call has left the window, and returns the wait', async () => {
      const { check, reserve, placed } = await opened()
      const limits = { max_per_minute: 2 }
      await placed(limits, 0)
      await placed(limits, 10_000)
      const reached = { rule: 'max_per_minute', limit: 2, waitMs: 30_000 }
      expect(await check(limits, 30_000)).toEqual(reached)
      expect(await reserve(limits, 30_000)).toEqual({ exceeded: reached })
      expect(await check(limits, 59_999)).toBeDefined()
      expect(await check(limits, minute)).toBeUndefined()
      await placed(limits, minute)
      expect(await check(limits, minute)).toMatchObject({ waitMs: 10_000 })
    })

    test('names the limit with the longest wait', async () => {
      const { check, placed } = await opened()
      const limits = { max_per_minute: 1, max_per_hour: 1, max_per_day: 2, max_at_once: 1 }
      await placed(limits, 0)
      expect(await check(limits, 1000)).toMatchObject({ rule: 'max_per_hour' })
    })

    test('counts concurrent calls until they have ended or their leases end', async () => {
      const { counter, check, placed, setTime } = await opened()
      const limits = { max_at_once: 2 }
      const first = await placed(limits, 0)
      const second = await placed(limits, 0)
      expect(await check(limits, 1)).toEqual({ rule: 'max_at_once', limit: 2, waitMs: null })
      await counter.ended(first)
      await placed(limits, 1, 2 * hour - 1)
      await counter.renew(second, 2 * hour - 1)
      await counter.renew(first, 2 * hour - 1)
      expect(await check(limits, hour)).toBeDefined()
      // An ended call is no longer running.
      expect(await check({ max_at_once: 3 }, hour)).toBeUndefined()
      await setTime(2 * hour - 1)
      expect(await counter.check(limits)).toBeDefined()
      expect(await check(limits, 2 * hour)).toBeUndefined()
    })

    test("lists an owner's calls that were placed and have not ended", async () => {
      const { counter, placed } = await opened()
      const ids: string[] = []
      for (const at of [1, 2, 3, 4]) ids.push(await placed({}, at, 1))
      const [first = '', second = '', third = '', fourth = ''] = ids
      for (const id of [first, second, third])
        await counter.placed(id, { owner: 'me', callId: `call ${id}` })
      await counter.placed(fourth, { owner: 'other', callId: 'call' })
      await counter.placed('00000000-0000-4000-8000-000000000000', { owner: 'me', callId: 'call' })
      await counter.ended(second)
      // Includes calls whose lease has expired, because nobody has reported their end.
      const open = [first, third].map((id) => ({ id, callId: `call ${id}` }))
      expect(await counter.open('me', 4)).toEqual(open)
      expect(await counter.open('me', 3)).toEqual(open.slice(1))
      await counter.notPlaced(third)
      expect(await counter.open('me', 3)).toEqual([])
    })

    test('finds the reservation of a call until it is settled', async () => {
      const { counter, placed } = await opened()
      const call = { owner: 'me', externalId: 'auto-1' }
      const reserve = async () => {
        const answer = await counter.reserve({}, hour, call)
        if ('exceeded' in answer) throw new Error(`${answer.exceeded.rule} is reached`)
        return answer.id
      }
      await placed({}, 1)
      expect(await counter.pending(call)).toEqual([])
      const [first, second, third] = [await reserve(), await reserve(), await reserve()]
      expect((await counter.pending(call)).toSorted()).toEqual([first, second, third].toSorted())
      expect(await counter.pending({ ...call, owner: 'you' })).toEqual([])
      expect(await counter.pending({ ...call, externalId: 'auto-2' })).toEqual([])
      await counter.notPlaced(first)
      await counter.placed(second, { owner: 'a platform', callId: 'call-1' })
      await counter.ended(third)
      expect(await counter.pending(call)).toEqual([])
      expect(await counter.open('a platform', hour)).toMatchObject([{ id: second }])
    })

    test('an ended call counts as placed, one that was not placed does not', async () => {
      const { counter, check, placed } = await opened()
      const limits = { max_per_day: 1 }
      await counter.notPlaced(await placed(limits, 0))
      await counter.ended(await placed(limits, 1))
      expect(await check(limits, day)).toMatchObject({ rule: 'max_per_day', waitMs: 1 })
      expect(await check(limits, day + 1)).toBeUndefined()
    })

    test('a limit of 0 allows no call', async () => {
      const { check } = await opened()
      const reached = { rule: 'max_per_hour', limit: 0, waitMs: null }
      expect(await check({ max_per_hour: 0 }, 0)).toEqual(reached)
    })

    test('a lowered limit applies at once', async () => {
      const { check, placed } = await opened()
      for (const at of [0, 1, 2, 3]) await placed({}, at)
      expect(await check({ max_per_minute: 2 }, 10)).toMatchObject({ waitMs: minute + 2 - 10 })
    })

    test('concurrent reservations do not exceed a limit', async () => {
      const { counter } = await opened()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => counter.reserve({ max_at_once: 3 }, hour)),
      )
      expect(answers.filter((answer) => 'id' in answer)).toHaveLength(3)
    })

    test('unknown ids are ignored', async () => {
      const { counter, check } = await opened()
      const unknown = '00000000-0000-4000-8000-000000000000'
      await counter.renew(unknown, hour)
      await counter.ended(unknown)
      await counter.notPlaced(unknown)
      expect(await check({ max_at_once: 1, max_per_day: 1 }, 1)).toBeUndefined()
    })

    test('no sequence of operations exceeds the limit of a window', async () => {
      const step = fc.record({
        wait: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: 3 * hour })),
        end: fc.constantFrom('ended', 'notPlaced', undefined),
        which: fc.nat({ max: 50 }),
      })
      const limits = fc.record({
        max_per_minute: fc.integer({ min: 1, max: 3 }),
        max_per_hour: fc.integer({ min: 1, max: 5 }),
        max_per_day: fc.integer({ min: 1, max: 12 }),
        max_at_once: fc.integer({ min: 1, max: 4 }),
      })
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (limit, steps) => {
          const { counter, reserve } = await opened()
          const calls = new Map<string, { at: number; end: number }>()
          let now = 1_700_000_000_000
          const within = (window: number) =>
            [...calls.values()].filter(({ at }) => at > now - window).length
          const running = () => [...calls.values()].filter(({ end }) => end > now).length
          for (const { wait, end, which } of steps) {
            now += wait
            const ending = [...calls.keys()][which]
            if (ending !== undefined && end === 'notPlaced') calls.delete(ending)
            if (ending !== undefined && end === 'ended') {
              calls.set(ending, { at: calls.get(ending)?.at ?? 0, end: 0 })
            }
            if (ending !== undefined && end) await counter[end](ending)
            const isFree =
              within(minute) < limit.max_per_minute &&
              within(hour) < limit.max_per_hour &&
              within(day) < limit.max_per_day &&
              running() < limit.max_at_once
            const answer = await reserve(limit, now)
            expect('id' in answer).toBe(isFree)
            if ('id' in answer) calls.set(answer.id, { at: now, end: now + hour })
          }
        }),
        tries(runs),
      )
    })
  })
}
