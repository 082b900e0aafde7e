import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openSqliteJournal } from '../../../src/state/sqlite/sqlite-call-journal.ts'
import { scratchFolder } from '../../harness/program.ts'

test('a journal that another program locks for long is not said to lack permissions', async () => {
  using folder = scratchFolder()
  const path = join(folder.path, 'calls.db')
  await (await openSqliteJournal(path)).close()
  using other = new DatabaseSync(path)
  other.exec('BEGIN EXCLUSIVE')
  await expect(openSqliteJournal(path)).rejects.toThrow(/is locked.*: try again/s)
})
