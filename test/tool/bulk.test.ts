import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, type Failure } from '../../src/platform/failure.ts'
import { forEach } from '../../src/tool/bulk.ts'

const items = Array.from({ length: 20 }, (_, at) => at)
const progress = () => undefined
const error = (failure: Failure) => new ApiError(failure, { ...routes.agents.update, attempts: 1 })

describe('items of a bulk operation', () => {
  test('run with limited concurrency, and their outcomes keep the given order', async () => {
    let underWay = 0
    let max = 0
    const run = { signal: undefined, answerBy: Number.POSITIVE_INFINITY, progress }
    const outcomes = await forEach(
      items,
      async (at) => {
        max = Math.max(max, ++underWay)
        await sleep(20 - at)
        underWay--
        return at
      },
      run,
    )
    expect(outcomes).toEqual(items.map((value) => ({ state: 'done', value })))
    expect(max).toBe(8)
  })

  test('are not begun after the deadline', async () => {
    const run = { signal: undefined, answerBy: performance.now() + 2100, progress }
    const begun: number[] = []
    const outcomes = await forEach(
      items,
      async (at) => {
        begun.push(at)
        await sleep(150)
      },
      run,
    )
    expect(begun).toHaveLength(8)
    expect(outcomes.slice(0, 8).every(({ state }) => state === 'done')).toBe(true)
    expect(outcomes.slice(8)).toEqual(
      items.slice(8).map(() => ({ state: 'not_tried', problem: 'time was up' })),
    )
  })

  test('are not begun after a cancellation, and requests in flight have an unknown outcome', async () => {
    const caller = new AbortController()
    const run = { signal: caller.signal, answerBy: Number.POSITIVE_INFINITY, progress }
    const outcomes = await forEach(
      items,
      async (at) => {
        if (at < 3) return
        caller.abort()
        throw error({ kind: 'cancelled', maybeSent: at === 3 })
      },
      run,
    )
    const problem = 'the request was cancelled'
    expect(outcomes.map(({ state }) => state)).toEqual([
      ...['done', 'done', 'done', 'unknown'],
      ...items.slice(4).map(() => 'not_tried'),
    ])
    expect(outcomes[3]).toMatchObject({ problem })
    expect(outcomes[19]).toMatchObject({ problem })
  })

  test('are finished before a defect is thrown', async () => {
    const done: number[] = []
    const run = { signal: undefined, answerBy: Number.POSITIVE_INFINITY, progress }
    const work = async (at: number) => {
      if (at === 0) throw new TypeError('a defect')
      await sleep(10)
      done.push(at)
    }
    await expect(forEach(items, work, run)).rejects.toThrow('a defect')
    expect(done).toHaveLength(19)
  })
})
