import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CallCounter, CallCounterError } from '../../src/state/call-counter.ts'
import type { CallLimits } from '../../src/state/call-limits.ts'
import { createMemoryCallCounter } from '../../src/state/memory/memory-call-counter.ts'
import { createSqliteCallCounter } from '../../src/state/sqlite/sqlite-call-counter.ts'
import { cleanEnv, scratchFolder } from '../harness/program.ts'
import { tries } from '../harness/property.ts'
import { beforeEachStatement } from '../sandbox/statement-hook.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const setting = '--dial-counter'

const counters: [string, () => CallCounter][] = [
  ['in memory', createMemoryCallCounter],
  ['in a file', () => createSqliteCallCounter(':memory:', setting)],
]

/** Reserves, and gives the id; fails when a limit is reached. */
async function placed(
  counter: CallCounter,
  limits: CallLimits,
  now: number,
  leaseEnd = now + hour,
) {
  const answer = await counter.reserve(limits, now, leaseEnd)
  if ('exceeded' in answer) throw new Error(`${answer.exceeded.rule} is reached`)
  return answer.id
}

describe.each(counters)('a counter %s', (_, create) => {
  test('allows a call when the oldest has left the window, and says when', async () => {
    const counter = create()
    const limits = { max_per_minute: 2 }
    await placed(counter, limits, 0)
    await placed(counter, limits, 10_000)
    const reached = { rule: 'max_per_minute', limit: 2, waitMs: 30_000 }
    expect(await counter.check(limits, 30_000)).toEqual(reached)
    expect(await counter.reserve(limits, 30_000, hour)).toEqual({ exceeded: reached })
    expect(await counter.check(limits, 59_999)).toBeDefined()
    expect(await counter.check(limits, minute)).toBeUndefined()
    await placed(counter, limits, minute)
    expect(await counter.check(limits, minute)).toMatchObject({ waitMs: 10_000 })
  })

  test('names the limit with the longest wait', async () => {
    const counter = create()
    const limits = { max_per_minute: 1, max_per_hour: 1, max_per_day: 2, max_at_once: 1 }
    await placed(counter, limits, 0)
    expect(await counter.check(limits, 1000)).toMatchObject({ rule: 'max_per_hour' })
  })

  test('counts calls at once until they are released or their time is over', async () => {
    const counter = create()
    const limits = { max_at_once: 2 }
    const first = await placed(counter, limits, 0)
    const second = await placed(counter, limits, 0)
    expect(await counter.check(limits, 1)).toEqual({ rule: 'max_at_once', limit: 2, waitMs: null })
    await counter.release(first)
    await placed(counter, limits, 1, 2 * hour)
    await counter.renew(second, 2 * hour)
    await counter.renew(first, 2 * hour)
    expect(await counter.check(limits, hour)).toBeDefined()
    // What has been released is not under way again.
    expect(await counter.check({ max_at_once: 3 }, hour)).toBeUndefined()
    expect(await counter.check(limits, 2 * hour)).toBeUndefined()
  })

  test('lists the calls of an owner that were placed and not released', async () => {
    const counter = create()
    const ids: string[] = []
    for (const at of [1, 2, 3, 4]) ids.push(await placed(counter, {}, at, at + 1))
    const [first = '', second = '', third = '', fourth = ''] = ids
    for (const id of [first, second, third])
      await counter.placed(id, { owner: 'me', callId: `call ${id}` })
    await counter.placed(fourth, { owner: 'other', callId: 'call' })
    await counter.placed('unknown', { owner: 'me', callId: 'call' })
    await counter.release(second)
    // Also those whose lease is over: nobody has said that they ended.
    const open = [first, third].map((id) => ({ id, callId: `call ${id}`, at: ids.indexOf(id) + 1 }))
    expect(await counter.open('me', 0)).toEqual(open)
    expect(await counter.open('me', 1)).toEqual(open.slice(1))
    await counter.cancel(third)
    expect(await counter.open('me', 1)).toEqual([])
  })

  test('a released call counts as placed, a cancelled one does not', async () => {
    const counter = create()
    const limits = { max_per_day: 1 }
    await counter.cancel(await placed(counter, limits, 0))
    await counter.release(await placed(counter, limits, 1))
    expect(await counter.check(limits, day)).toMatchObject({ rule: 'max_per_day', waitMs: 1 })
    expect(await counter.check(limits, day + 1)).toBeUndefined()
  })

  test('a limit of 0 allows no call', async () => {
    const limits = { max_per_hour: 0 }
    expect(await create().check(limits, 0)).toEqual({
      rule: 'max_per_hour',
      limit: 0,
      waitMs: null,
    })
  })

  test('a lowered limit applies at once', async () => {
    const counter = create()
    for (const at of [0, 1, 2, 3]) await placed(counter, {}, at)
    expect(await counter.check({ max_per_minute: 2 }, 10)).toMatchObject({
      waitMs: minute + 2 - 10,
    })
  })

  test('reservations at the same moment do not together exceed a limit', async () => {
    const counter = create()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => counter.reserve({ max_at_once: 3 }, 0, hour)),
    )
    expect(answers.filter((answer) => 'id' in answer)).toHaveLength(3)
  })

  test('no sequence of steps puts more calls into a window than its limit', async () => {
    const step = fc.record({
      wait: fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: 3 * hour })),
      end: fc.constantFrom('release', 'cancel', undefined),
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
        const counter = create()
        const calls = new Map<string, { at: number; end: number }>()
        let now = 1_700_000_000_000
        const within = (window: number) =>
          [...calls.values()].filter(({ at }) => at > now - window).length
        const running = () => [...calls.values()].filter(({ end }) => end > now).length
        for (const { wait, end, which } of steps) {
          now += wait
          const ending = [...calls.keys()][which]
          if (ending !== undefined && end === 'cancel') calls.delete(ending)
          if (ending !== undefined && end === 'release') {
            calls.set(ending, { at: calls.get(ending)?.at ?? 0, end: 0 })
          }
          if (ending !== undefined && end) await counter[end](ending)
          const isFree =
            within(minute) < limit.max_per_minute &&
            within(hour) < limit.max_per_hour &&
            within(day) < limit.max_per_day &&
            running() < limit.max_at_once
          const answer = await counter.reserve(limit, now, now + hour)
          expect('id' in answer).toBe(isFree)
          if ('id' in answer) calls.set(answer.id, { at: now, end: now + hour })
        }
        await counter.close()
      }),
      tries(40),
    )
  })
})

/** Starts a process that reserves without end; gives what it was answered once it has ended. */
function reserving(file: string, limit: number, options = '') {
  const script = fileURLToPath(new URL('./call-counter-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, file, String(limit)], {
    env: cleanEnv({ NODE_OPTIONS: options }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let answered = ''
  child.stdout.on('data', (chunk) => {
    answered += chunk
    // Killed in the middle of its work.
    if (answered.split('\n').length > 30 && limit > 1000) child.kill('SIGKILL')
  })
  return new Promise<string[]>((resolve) =>
    child.once('close', () => resolve(answered.split('\n').slice(0, -1))),
  )
}

describe('a file of calls', () => {
  test('is used by the next server', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'new', 'calls.db')
    const before = createSqliteCallCounter(file, setting)
    await placed(before, {}, 0)
    await before.close()
    const after = createSqliteCallCounter(file, setting)
    expect(await after.check({ max_per_day: 1 }, 1)).toMatchObject({ rule: 'max_per_day' })
    await after.close()
  })

  test('of a version without the ids of the calls is used as it is', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const before = createSqliteCallCounter(file, setting)
    const id = await placed(before, {}, 0)
    await before.close()
    using db = new DatabaseSync(file)
    db.exec('DROP TABLE placed_calls')
    const after = createSqliteCallCounter(file, setting)
    expect(await after.open('me', -1)).toEqual([])
    await after.placed(id, { owner: 'me', callId: 'call' })
    expect(await after.open('me', -1)).toEqual([{ id, callId: 'call', at: 0 }])
    await after.close()
  })

  test('lets two processes together through no more often than one', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    // Each waits before every statement, so that the other can run in between.
    const slow = beforeEachStatement(
      'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3)',
    )
    const answers = await Promise.all([reserving(file, 40, slow), reserving(file, 40, slow)])
    const ids = answers.flat().filter((answer) => answer !== 'max_per_day')
    expect(ids).toHaveLength(40)
    expect(new Set(ids).size).toBe(40)
  })

  test('has every call that was answered before its processes were killed', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const answers = await Promise.all([reserving(file, 100_000), reserving(file, 100_000)])
    const ids = answers.flat()
    expect(ids.length).toBeGreaterThan(50)
    using db = new DatabaseSync(file)
    const kept = new Set(
      db
        .prepare('SELECT id FROM calls')
        .all()
        .map(({ id }) => id),
    )
    for (const id of ids) expect(kept).toContain(id)
    const counter = createSqliteCallCounter(file, setting)
    const limits = { max_per_day: ids.length }
    expect(await counter.check(limits, 0)).toMatchObject({ rule: 'max_per_day' })
    await counter.close()
  })

  test('deletes calls that no limit needs any more', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const counter = createSqliteCallCounter(file, setting)
    await placed(counter, {}, 0, hour)
    await placed(counter, {}, 0, 3 * day)
    await placed(counter, {}, day, day + hour)
    using db = new DatabaseSync(file)
    expect(db.prepare('SELECT count(*) AS count FROM calls').get()).toEqual({ count: 2 })
    await counter.close()
  })

  test.each([
    ['is no database', (file: string) => writeFileSync(file, 'x'.repeat(5000))],
    [
      'belongs to another program',
      (file: string) => new DatabaseSync(file).exec('CREATE TABLE t (x)'),
    ],
  ])('that %s is not changed, is named in the error, and is tried again', async (_, spoil) => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    spoil(file)
    const counter = createSqliteCallCounter(file, setting)
    for (const _ of [1, 2]) {
      const looking = counter.check({ max_per_day: 1 }, 0)
      await expect(looking).rejects.toThrow(CallCounterError)
      await expect(looking).rejects.toThrow(`The file of calls ${file} cannot be used: `)
      await expect(looking).rejects.toThrow(setting)
    }
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  test('in a folder that cannot be created is an error at once', async () => {
    const counter = createSqliteCallCounter('/proc/none/calls.db', setting)
    await expect(counter.check({}, 0)).rejects.toThrow('/proc/none/calls.db cannot be used')
  })

  test('that another process writes to is waited for', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const counter = createSqliteCallCounter(file, setting)
    await placed(counter, {}, 0)
    using other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const waiting = placed(counter, {}, 1)
    await counter.check({}, 1)
    other.exec('COMMIT')
    await waiting
    await counter.close()
  })
})
