import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSqliteJournal } from '../../../src/state/sqlite/sqlite-call-journal.ts'
import { scratchFolder } from '../../harness/program.ts'

test('a journal that another program locks for long is not said to lack permissions', async () => {
  using folder = scratchFolder()
  const path = join(folder.path, 'calls.db')
  const journal = createSqliteJournal(path, '--state-dir')
  await journal.check()
  await journal.close()
  using other = new DatabaseSync(path)
  other.exec('BEGIN EXCLUSIVE')
  await expect(journal.check()).rejects.toThrow(/is locked.*: try again/s)
})
