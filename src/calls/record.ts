import { JournalError } from '../state/journal.ts'

/**
 * Writes a known outcome to the journal. The outcome is a fact whether or not it can be written: if
 * not, the next identical request asks the platform.
 */
export async function recordIfPossible(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}
