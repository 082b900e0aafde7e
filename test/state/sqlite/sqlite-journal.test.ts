import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type CallIdentity, JournalError, longestSendMs } from '../../../src/state/journal.ts'
import { journalSchema } from '../../../src/state/sqlite/journal-schema.ts'
import { openSqliteJournal } from '../../../src/state/sqlite/sqlite-journal.ts'
import { openStateFile } from '../../../src/state/sqlite/state-file.ts'
import { scratchFolder } from '../../harness/program.ts'

const identity = (more: Partial<CallIdentity> = {}): CallIdentity => ({
  owner: 'a platform and an account',
  formerOwners: [],
  content: 'what is asked for',
  externalId: undefined,
  ...more,
})

/** What version 1 wrote: plain hashes only. */
function writeVersion1(file: string, rows: readonly (string | number | null)[][]): DatabaseSync {
  const db = new DatabaseSync(file)
  db.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE placements (
      owner TEXT NOT NULL,
      external_id TEXT NOT NULL,
      content TEXT NOT NULL,
      minted INTEGER NOT NULL,
      state TEXT NOT NULL,
      since INTEGER NOT NULL,
      call_id TEXT,
      PRIMARY KEY (owner, external_id)
    ) STRICT;
    CREATE INDEX placements_by_content ON placements (owner, content, since);
    PRAGMA application_id = ${0x6f6e6365}; PRAGMA user_version = 1`)
  const insert = db.prepare('INSERT INTO placements VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const row of rows) insert.run(...row)
  return db
}

describe('a journal', () => {
  test('is readable by its user only, and contains no owner or content in clear', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const journal = await openSqliteJournal(file)
    const claim = await journal.claim(
      identity({ owner: 'owner-in-clear', content: 'content-in-clear' }),
    )
    expect(claim.kind).toBe('mine')
    for (const name of [file, `${file}-wal`]) {
      if (process.platform !== 'win32') expect(statSync(name).mode & 0o777).toBe(0o600)
      expect(readFileSync(name).toString('latin1')).not.toMatch(/in-clear/)
    }
    await journal.close()
  })

  test('stores the same owner and content differently in each file', async () => {
    const stored = async () => {
      using folder = scratchFolder()
      const file = join(folder.path, 'calls.db')
      const journal = await openSqliteJournal(file)
      await journal.claim(identity())
      await journal.close()
      using db = new DatabaseSync(file)
      return { ...db.prepare('SELECT owner, content FROM calls').get() }
    }
    const [one, other] = [await stored(), await stored()]
    expect(one.owner).not.toBe(other.owner)
    expect(one.content).not.toBe(other.content)
  })

  test('is created once when several open it at the same time', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const journals = await Promise.all(Array.from({ length: 8 }, () => openSqliteJournal(file)))
    const claims = await Promise.all(journals.map((journal) => journal.claim(identity())))
    expect(claims.map(({ kind }) => kind).toSorted()).toEqual([
      'mine',
      ...Array.from({ length: 7 }, () => 'theirs'),
    ])
    for (const journal of journals) journal.close()
  })

  test('takes instants and durations of fractions of a millisecond', async () => {
    const journal = await openSqliteJournal(':memory:')
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    expect(await journal.beginSending(claim.entry, 6931.4375)).toMatchObject({ state: 'sending' })
  })
})

describe('a journal of version 1', () => {
  const now = Date.now()
  const rows = [
    ['bare-hash me', 'auto-1', 'listed', 1, 'placed', now - 3 * 86_400_000, 'call-1'],
    ['bare-hash me', 'mine', 'named', 0, 'placed', now - 20 * 86_400_000, 'call-2'],
    ['bare-hash me', 'auto-3', 'lost', 1, 'sending', now - 1000, null],
    ['bare-hash me', 'auto-4', 'nothing', 1, 'free', now - 1000, null],
  ]
  const formerOwners = ['bare-hash me', 'bare-hash own']
  const old = (more: Partial<CallIdentity>) => identity({ formerOwners, ...more })

  test('counts the time since a deadline anew, from once on, when the clock was set back', async () => {
    const journal = await openSqliteJournal(':memory:')
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('It is claimed by another')
    const entry = await journal.beginSending(claim.entry, 1000)
    if (!entry) throw new Error('It is held by another')
    const now = Date.now.bind(Date)
    using clock = vi.spyOn(Date, 'now')
    clock.mockImplementation(() => now() - 3_600_000)
    expect(await journal.current(entry)).toMatchObject({ sinceDeadlineMs: -longestSendMs })
    await sleep(50)
    const later = await journal.current(entry)
    expect(later?.sinceDeadlineMs).toBeGreaterThan(-longestSendMs + 30)
    await journal.close()
  })

  test('is upgraded in place by one of several, and finds calls by their former owner', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    writeVersion1(file, rows).close()
    const [journal, ...others] = await Promise.all(
      Array.from({ length: 4 }, () => openSqliteJournal(file)),
    )
    if (!journal) throw new Error('not opened')
    const sameForMs = 5 * 86_400_000
    expect(await journal.claim(old({ content: 'listed', sameForMs }))).toMatchObject({
      kind: 'theirs',
      entry: { state: 'placed', callId: 'call-1', externalId: 'auto-1' },
    })
    expect(await journal.claim(old({ content: 'named', externalId: 'mine' }))).toMatchObject({
      kind: 'theirs',
      entry: { callId: 'call-2' },
    })
    expect(await journal.claim(old({ content: 'other', externalId: 'mine' }))).toEqual({
      kind: 'conflict',
    })
    const lost = await journal.claim(old({ content: 'lost' }))
    expect(lost).toMatchObject({ kind: 'theirs', entry: { state: 'sending' } })
    expect((await journal.claim(old({ content: 'nothing' }))).kind).toBe('mine')
    // The remaining data does not allow guesses of the key to be tested.
    for (const one of [journal, ...others]) await one.close()
    expect(readFileSync(file).toString('latin1')).not.toContain('bare-hash')
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('is not used by a program of version 1 any more, running or new', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const running = writeVersion1(file, rows)
    const select = running.prepare('SELECT * FROM placements')
    const journal = await openSqliteJournal(file)
    expect(() => select.all()).toThrow('no such table: placements')
    const version1 = { ...journalSchema, version: 1 }
    await expect(openStateFile(file, version1)).rejects.toThrow('another version (2, not 1)')
    running.close()
    await journal.close()
  })
})

describe('after the clock was set', () => {
  afterEach(() => void vi.useRealTimers())
  const setClock = (byMs: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs })
  }

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('%s, the deadline of the last sender is set anew', async (_, byMs) => {
    const journal = await openSqliteJournal(':memory:')
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    const sent = await journal.beginSending(claim.entry, 0)
    if (!sent) throw new Error('not sent')
    setClock(byMs)
    const first = await journal.current(sent)
    expect(first?.sinceDeadlineMs).toBe(-60_000)
    expect((await journal.current(sent))?.sinceDeadlineMs).toBeLessThan(-50_000)
    expect(await journal.claim(identity())).toMatchObject({ kind: 'theirs' })
  })

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('%s, it is still known how long ago a call was placed', async (_, byMs) => {
    const journal = await openSqliteJournal(':memory:')
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    await journal.recordPlaced(claim.entry, 'call-1')
    setClock(byMs)
    const agoMs = await journal.placedAgoMs(identity(), 'call-1')
    expect(agoMs).toBeGreaterThanOrEqual(0)
    expect(agoMs).toBeLessThan(10_000)
    expect(await journal.placedAgoMs(identity(), 'call-2')).toBeUndefined()
  })

  test.skipIf(process.platform !== 'linux')(
    'forward by a month, an identical request is still the same call',
    async () => {
      using folder = scratchFolder()
      const file = join(folder.path, 'calls.db')
      const journal = await openSqliteJournal(file)
      const claim = await journal.claim(identity())
      if (claim.kind !== 'mine') throw new Error('not mine')
      await journal.recordPlaced(claim.entry, 'call-1')
      setClock(40 * 86_400_000)
      const again = await openSqliteJournal(file)
      expect(await again.claim(identity())).toMatchObject({
        kind: 'theirs',
        entry: { callId: 'call-1' },
      })
      await journal.close()
      await again.close()
    },
  )
})

describe.skipIf(process.platform === 'win32')('a journal that is deleted while it is open', () => {
  const opened = async (folder: string) => {
    const file = join(folder, 'state', 'calls.db')
    const journal = await openSqliteJournal(file)
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    await journal.recordPlaced(claim.entry, 'call-1')
    return { file, journal, remove: () => rmSync(join(folder, 'state'), { recursive: true }) }
  }

  test('is noticed before a call is sent, and restored with its content', async () => {
    using folder = scratchFolder()
    const { file, journal, remove } = await opened(folder.path)
    const other = identity({ content: 'something else' })
    const claim = await journal.claim(other)
    if (claim.kind !== 'mine') throw new Error('not mine')
    remove()
    await expect(journal.beginSending(claim.entry, 1000)).rejects.toThrow(
      /was deleted while this program/,
    )
    await Promise.all([journal.restoreFile(), journal.restoreFile()])
    expect(existsSync(file)).toBe(true)
    expect(await journal.claim(identity())).toMatchObject({ entry: { callId: 'call-1' } })
    const neighbour = await openSqliteJournal(file)
    expect(await neighbour.claim(identity())).toMatchObject({ entry: { callId: 'call-1' } })
    // It was not sent, so any request may claim it again.
    expect(await neighbour.claim(other)).toMatchObject({ kind: 'mine' })
    await journal.close()
    await neighbour.close()
  })

  test('has what is written while it is restored', async () => {
    using folder = scratchFolder()
    const { file, journal, remove } = await opened(folder.path)
    const other = identity({ content: 'something else' })
    remove()
    const [, claim] = await Promise.all([journal.restoreFile(), journal.claim(other)])
    expect(claim.kind).toBe('mine')
    const neighbour = await openSqliteJournal(file)
    expect(await neighbour.claim(other)).toMatchObject({ kind: 'theirs' })
    await journal.close()
    await neighbour.close()
  })

  test('has what is written just before it is restored', async () => {
    using folder = scratchFolder()
    const { file, journal, remove } = await opened(folder.path)
    const other = identity({ content: 'something else' })
    remove()
    const [claim] = await Promise.all([journal.claim(other), journal.restoreFile()])
    expect(claim.kind).toBe('mine')
    const neighbour = await openSqliteJournal(file)
    expect(await neighbour.claim(other)).toMatchObject({ kind: 'theirs' })
    await journal.close()
    await neighbour.close()
  })

  test('and created again by another program is refused', async () => {
    using folder = scratchFolder()
    const { file, journal, remove } = await opened(folder.path)
    remove()
    const neighbour = await openSqliteJournal(file)
    await expect(journal.restoreFile()).rejects.toThrow(JournalError)
    await expect(journal.restoreFile()).rejects.toThrow(/was replaced by another one/)
    await journal.close()
    await neighbour.close()
  })
})
