import { join } from 'node:path'
import { afterEach, describe, vi } from 'vitest'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { scratchFolder } from '../harness/program.ts'
import { describeJournal, describeJournalAfterClockStep } from './conformance/call-journal.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end()
})

describeJournal('in memory', async () => {
  const journal = createSqliteJournal(':memory:', '--state-dir')
  cleanUp.push(journal.close)
  return [journal, journal]
})

describe('in a file', () => {
  describeJournal('in a file', async () => {
    const folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const one = createSqliteJournal(file, '--state-dir')
    const other = createSqliteJournal(file, '--state-dir')
    cleanUp.push(one.close, other.close, () => folder[Symbol.dispose]())
    return [one, other]
  })
})

describeJournalAfterClockStep('in memory', async () => {
  const journal = createSqliteJournal(':memory:', '--state-dir')
  cleanUp.push(journal.close)
  return {
    journals: [journal, journal],
    async setClockBack(byMs) {
      const now = Date.now.bind(Date)
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - byMs)
      cleanUp.push(() => clock.mockRestore())
    },
  }
})
