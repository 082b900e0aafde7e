import { type CallIdentity, type Journal, JournalError } from '../journal.ts'
import { entryOf } from '../journal-rules.ts'
import { elapsedByUptime, timestampIn } from '../timestamp.ts'
import { JournalFile } from './journal-file.ts'
import { beginSendingRow, claimRow, currentRow, rowFor } from './journal-steps.ts'

/** A journal in a file, which may be deleted while it is open. */
export interface SqliteJournal extends Journal {
  /**
   * Restores the file where it was deleted. Throws where it cannot, and where another journal has
   * its place.
   */
  restoreFile(): Promise<void>
}

/**
 * Opens the journal in an SQLite file that several processes of one machine may share, and creates
 * it if it is missing. `:memory:` ends with the process. While another process writes to the file,
 * methods wait without blocking this process.
 */
export async function openSqliteJournal(path: string): Promise<SqliteJournal> {
  const file = await JournalFile.open(path)
  return {
    ...claiming(file),
    ...recording(file),
    readNote: (name) => file.run(({ statements, seal }) => statements.readNote(seal(name))),
    writeNote: (name, value) =>
      file.run(({ statements, seal }) => statements.writeNote(seal(name), value)),
    restoreFile: () => file.restore(),
    close: async () => file.close(),
  }
}

type Claiming = Pick<Journal, 'claim' | 'find' | 'current' | 'beginSending' | 'placedAgoMs'>

/** What decides who sends. */
const claiming = (journal: JournalFile): Claiming => ({
  claim: (identity) =>
    journal.transaction(({ statements, seal }) => claimRow(statements, sealed(identity, seal))),
  find: (identity) =>
    journal.run(({ statements, seal }) => {
      const own = sealed(identity, seal)
      const row = rowFor(statements, own)
      const isKnown = row && row.state !== 'free' && row.content === own.content
      return isKnown ? entryOf(row) : undefined
    }),
  current: (entry) => journal.run(({ statements }) => currentRow(statements, entry)),
  beginSending: (entry, forMs) =>
    journal.run(({ statements, file }) => {
      const sending = beginSendingRow(statements, entry, forMs)
      if (file.isInPlace()) return sending
      // No other process finds this file, so the entry does not stop others from sending the same
      // call. The call is not sent, and the file that is restored later must not say that it was.
      if (sending) statements.release(sending, sending.stamp)
      throw new JournalError(deleted(journal.path))
    }),
  placedAgoMs: ({ owner, formerOwners }, callId) =>
    journal.run(({ statements, seal }) => {
      const rows = [owner, ...formerOwners].map((one) => statements.byCall(seal(one), callId))
      const row = rows.find((found) => found !== undefined)
      return row && elapsedByUptime(row)
    }),
})

type Recording = Pick<Journal, 'endSending' | 'recordPlaced' | 'recordNotAccepted' | 'release'>

/** What came of a call. */
const recording = (journal: JournalFile): Recording => ({
  endSending: (entry) =>
    journal.run(({ statements }) => {
      const now = timestampIn()
      if (now.since < entry.stamp) statements.restamp(entry, entry.stamp, now)
    }),
  recordPlaced: (entry, callId) =>
    journal.run(({ statements }) =>
      statements.settle(entry, { state: 'placed', callId }, timestampIn()),
    ),
  recordNotAccepted: (entry, callId) =>
    journal.run(({ statements }) =>
      statements.settle(entry, { state: 'not_taken', callId }, timestampIn()),
    ),
  release: (entry) => journal.run(({ statements }) => statements.release(entry, entry.stamp)),
})

/** An identity as it is stored. */
function sealed(identity: CallIdentity, seal: (text: string) => string): CallIdentity {
  return {
    ...identity,
    owner: seal(identity.owner),
    formerOwners: identity.formerOwners.map(seal),
    content: seal(identity.content),
  }
}

const deleted = (path: string) =>
  `The journal of calls ${path} was deleted while this program was running, and nothing was sent. Place the call again: the journal is restored then.`
