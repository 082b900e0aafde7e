import { onTestFinished, vi } from 'vitest'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { describeJournal, describeJournalAfterClockStep } from './conformance/call-journal.ts'
import { openTwice } from './shared-file.ts'

const setting = '--state-dir'

describeJournal('in memory', async () => {
  const journal = createSqliteJournal(':memory:', setting)
  return [journal, journal]
})

describeJournal('in a file', async () => openTwice((file) => createSqliteJournal(file, setting)))

describeJournalAfterClockStep('in memory', async () => {
  const journal = createSqliteJournal(':memory:', setting)
  return {
    journals: [journal, journal],
    async setClockBack(byMs) {
      const now = Date.now.bind(Date)
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - byMs)
      onTestFinished(() => clock.mockRestore())
    },
  }
})
