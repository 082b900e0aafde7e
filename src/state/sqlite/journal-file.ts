import type { DatabaseSync } from 'node:sqlite'
import { JournalError, keptForMs } from '../journal.ts'
import { timestampIn } from '../timestamp.ts'
import { type JournalSecrets, journalSchema, secretsOf } from './journal-schema.ts'
import { type JournalStatements, journalStatements } from './journal-statements.ts'
import { type OpenFile, openFileAt } from './open-file.ts'
import {
  isLocked,
  OtherVersionError,
  openStateFile,
  retryWhileBusy,
  transaction,
} from './state-file.ts'

/** What a piece of work on the journal is given. */
export interface OpenJournal extends JournalSecrets {
  readonly db: DatabaseSync
  readonly file: OpenFile
  readonly statements: JournalStatements
}

async function open(path: string): Promise<OpenJournal> {
  const db = await openStateFile(path, journalSchema)
  const statements = journalStatements(db)
  await retryWhileBusy(() => statements.purge(timestampIn(-keptForMs)))
  return { db, statements, file: openFileAt(path), ...secretsOf(db) }
}

/** The open file of a journal. All methods throw JournalError. */
export class JournalFile {
  readonly path: string
  #opened: OpenJournal
  #restoring: Promise<void> | undefined

  private constructor(path: string, opened: OpenJournal) {
    this.path = path
    this.#opened = opened
  }

  static async open(path: string): Promise<JournalFile> {
    try {
      return new JournalFile(path, await open(path))
    } catch (error) {
      throw unusable(path, error)
    }
  }

  /**
   * Runs `work` without a pause in it, and again while another process writes to the file. It is one
   * operation for all requests of this process; for other processes it is one if it is one statement.
   */
  async run<T>(work: (opened: OpenJournal) => T): Promise<T> {
    try {
      return await retryWhileBusy(async () => {
        // What is written to a deleted file after it was copied would be lost. No pause between this
        // and the work: a restoration could begin in it.
        while (this.#restoring) await this.#restoring.catch(() => undefined)
        return work(this.#opened)
      })
    } catch (error) {
      throw unusable(this.path, error)
    }
  }

  /** The same as one operation among all processes. */
  transaction<T>(work: (opened: OpenJournal) => T): Promise<T> {
    return this.run((opened) => transaction(opened.db, 'BEGIN IMMEDIATE', () => work(opened)))
  }

  /** Restores the file where it was deleted. Throws where it cannot, or another has its place. */
  async restore(): Promise<void> {
    if (!this.#restoring && this.#opened.file.isInPlace()) return
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined
    })
    await this.#restoring
  }

  close(): void {
    this.#opened.db.close()
  }

  async #restore(): Promise<void> {
    const { db, file, id } = this.#opened
    try {
      file.restore(db)
      const restored = await open(this.path)
      if (restored.id !== id) {
        restored.db.close()
        throw new JournalError(replaced(this.path))
      }
      this.#opened = restored
      db.close()
    } catch (error) {
      throw unusable(this.path, error)
    }
  }
}

const unusable = (path: string, error: unknown) =>
  error instanceof JournalError
    ? error
    : new JournalError(
        `The journal of calls ${path} cannot be used: ${error instanceof Error ? error.message : error}. Without it a call could be placed twice, so none is. ${adviceOn(error)}`,
        { cause: error },
      )

function adviceOn(error: unknown): string {
  if (isLocked(error)) return 'Another program has locked the file: try again, or end that program.'
  const remedy =
    error instanceof OtherVersionError
      ? 'Start the version that wrote it'
      : 'Let this program read and write the file and its folder'
  return `${remedy}, or name another folder with VOICE_AGENT_STATE_DIR.`
}

const replaced = (path: string) =>
  `The journal of calls ${path} was replaced by another one while this program was running. What this program has placed is not in it, so it places no more calls. Restart it, and look with list_calls before you repeat what was placed before.`
