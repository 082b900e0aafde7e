import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSqliteAuditTrail } from '../../src/state/sqlite/sqlite-audit-trail.ts'
import { StateError } from '../../src/state/state-access.ts'
import { scratchFolder } from '../harness/program.ts'
import { describeAuditTrail, entryOf } from './conformance/audit-trail.ts'
import { openTwice } from './shared-file.ts'

const setting = '--state-dir'

describeAuditTrail('in memory', async () => {
  const trail = createSqliteAuditTrail(':memory:', '--state-dir')
  return [trail, trail]
})

describeAuditTrail('in a file', async () =>
  openTwice((file) => createSqliteAuditTrail(file, setting)),
)

describe('the file of an audit trail', () => {
  test('is created by the first entry, readable by its user only, and read by the next server', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'new', 'audit.db')
    const before = createSqliteAuditTrail(file, setting)
    expect(await before.list({ limit: 1 })).toEqual([])
    expect(existsSync(join(folder.path, 'new'))).toBe(false)
    await before.save(entryOf('a'))
    for (const name of [file, `${file}-wal`])
      if (process.platform !== 'win32') expect(statSync(name).mode & 0o777).toBe(0o600)
    await before.close()
    const after = createSqliteAuditTrail(file, setting)
    expect(await after.list({ limit: 10 })).toEqual([entryOf('a')])
    await after.close()
  })

  test('that is unusable is named in the error, and not changed', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'audit.db')
    writeFileSync(file, 'x'.repeat(5000))
    const trail = createSqliteAuditTrail(file, setting)
    for (const use of [() => trail.save(entryOf('a')), () => trail.list({ limit: 1 })]) {
      await expect(use()).rejects.toThrow(StateError)
      await expect(use()).rejects.toThrow(file)
      await expect(use()).rejects.toThrow(setting)
    }
    expect(readFileSync(file, 'utf8')).toBe('x'.repeat(5000))
  })
})
