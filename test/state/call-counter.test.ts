import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { CallCounter, CallLimits } from '../../src/state/call-counter.ts'
import { createSqliteCallCounter } from '../../src/state/sqlite/sqlite-call-counter.ts'
import { StateError } from '../../src/state/state-access.ts'
import { cleanEnv, scratchFolder } from '../harness/program.ts'
import { beforeEachStatement } from '../sandbox/statement-hook.ts'
import { describeCallCounter } from './conformance/call-counter.ts'

const hour = 3_600_000
const day = 24 * hour
const setting = '--dial-counter'

describeCallCounter('in SQLite', async () => timedIn(':memory:'))

function timedIn(file: string) {
  let at = 0
  const counter = createSqliteCallCounter(file, setting, () => at)
  const setTime = async (next: number) => {
    at = next
  }
  return {
    counter,
    setTime,
    at(time: number): CallCounter {
      at = time
      return counter
    },
  }
}

/** Reserves a call and returns the reservation's id. Throws if a limit is reached. */
async function placed(counter: CallCounter, limits: CallLimits, leaseMs = hour) {
  const answer = await counter.reserve(limits, leaseMs)
  if ('exceeded' in answer) throw new Error(`${answer.exceeded.rule} is reached`)
  return answer.id
}

/** Runs a process that reserves calls without end. Resolves with its output once it has ended. */
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
    await placed(before, {})
    await before.close()
    const after = createSqliteCallCounter(file, setting)
    expect(await after.check({ max_per_day: 1 })).toMatchObject({ rule: 'max_per_day' })
    await after.close()
  })

  test('counts calls of two processes towards one limit', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    // Each process pauses between counting calls and adding its own, so that the other can count
    // meanwhile.
    const slow = beforeEachStatement(
      `if (this.sourceSQL?.startsWith('INSERT INTO calls'))
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)`,
    )
    const answers = await Promise.all([reserving(file, 40, slow), reserving(file, 40, slow)])
    const ids = answers.flat().filter((answer) => answer !== 'max_per_day')
    expect(ids).toHaveLength(40)
    expect(new Set(ids).size).toBe(40)
  })

  test('has every reservation that was confirmed before the processes were killed', async () => {
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
    expect(await counter.check(limits)).toMatchObject({ rule: 'max_per_day' })
    await counter.close()
  })

  test('deletes calls that no limit needs any more', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const { counter, at } = timedIn(file)
    await placed(at(0), {}, hour)
    await placed(at(0), {}, 3 * day)
    await placed(at(day), {}, hour)
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
      const looking = counter.check({ max_per_day: 1 })
      await expect(looking).rejects.toThrow(StateError)
      await expect(looking).rejects.toThrow(file)
      await expect(looking).rejects.toThrow(setting)
    }
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  test('in a folder that cannot be created is an error at once', async () => {
    const counter = createSqliteCallCounter('/proc/none/calls.db', setting)
    await expect(counter.check({})).rejects.toThrow(StateError)
    await expect(counter.check({})).rejects.toThrow('/proc/none/calls.db')
  })

  test('waits while another process writes to it', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const counter = createSqliteCallCounter(file, setting)
    await placed(counter, {})
    using other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const waiting = placed(counter, {})
    await counter.check({})
    other.exec('COMMIT')
    await waiting
    await counter.close()
  })
})
