import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { StateError } from '../../src/state/state-access.ts'
import { scratchFolder } from '../harness/program.ts'
import { describeRecords } from './conformance/records.ts'
import { openTwice } from './shared-file.ts'

const setting = '--state-dir'
const record = { kind: 'used_token', id: 'a', owner: 'me', value: '', forMs: 1000 } as const

describeRecords('in memory', async () => {
  const records = createSqliteRecords(':memory:', '--state-dir')
  return [records, records]
})

describeRecords('in a file', async () => openTwice((file) => createSqliteRecords(file, setting)))

describe('in memory', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
  afterEach(() => void vi.useRealTimers())

  test('an expired record makes room although an older record has not expired', async () => {
    const records = createSqliteRecords(':memory:', '--state-dir')
    const bounds = { inAll: 2, perOwner: 2 }
    await records.add({ ...record, id: 'long', forMs: 10_000 }, bounds)
    await records.add({ ...record, id: 'short' }, bounds)
    expect(await records.add({ ...record, id: 'next' }, bounds)).toBe('full')
    vi.setSystemTime(1000)
    expect(await records.add({ ...record, id: 'next' }, bounds)).toBe('added')
    expect(await records.add({ ...record, id: 'long' }, bounds)).toBe('exists')
  })
})

describe('a file of records', () => {
  test('checks its bounds with the table of counts, without counting rows', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'records.db')
    const records = createSqliteRecords(file, setting)
    onTestFinished(records.close)
    const bounds = { inAll: 10, perOwner: 10 }
    expect(await records.add(record, bounds)).toBe('added')
    const db = new DatabaseSync(file)
    db.exec('UPDATE record_counts SET count = 10')
    db.close()
    expect(await records.add({ ...record, id: 'next' }, bounds)).toBe('full')
  })

  test('is read by the next server, is readable by its user only, and has no ids or owners in clear', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'new', 'records.db')
    const before = createSqliteRecords(file, setting)
    const kept = { ...record, id: 'id-in-clear', owner: 'owner-in-clear', value: 'kept' }
    await before.add(kept)
    for (const name of [file, `${file}-wal`]) {
      if (process.platform !== 'win32') expect(statSync(name).mode & 0o777).toBe(0o600)
      expect(readFileSync(name).toString('latin1')).not.toMatch(/in-clear/)
    }
    await before.close()
    const after = createSqliteRecords(file, setting)
    expect(await after.get(kept)).toBe('kept')
    await after.close()
  })

  test('that is unusable is named in the error, and opened again at the next use', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'records.db')
    writeFileSync(file, 'x'.repeat(5000))
    const records = createSqliteRecords(file, setting)
    for (const _ of [1, 2]) {
      const adding = records.add(record)
      await expect(adding).rejects.toThrow(StateError)
      await expect(adding).rejects.toThrow(file)
      await expect(adding).rejects.toThrow(setting)
    }
  })
})
