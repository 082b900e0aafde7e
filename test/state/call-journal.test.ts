import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type CallIdentity, JournalError, sameCallMs } from '../../src/state/call-journal.ts'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { createSqliteState } from '../../src/state/sqlite/sqlite-state.ts'
import { scratchFolder } from '../harness/program.ts'
import { describeJournal, describeJournalAfterClockStep } from './conformance/call-journal.ts'
import { openTwice } from './shared-file.ts'

const setting = '--state-dir'

const identity = (more: Partial<CallIdentity> = {}): CallIdentity => ({
  owner: 'a platform and an account',
  content: 'what is asked for',
  externalId: undefined,
  sameForMs: sameCallMs,
  ...more,
})

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

describe('the file of a journal', () => {
  test('is readable by its user only, and contains no owner or content in clear', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const journal = createSqliteJournal(file, setting)
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

  test('stores different hashes of the same owner and content in each file', async () => {
    const stored = async () => {
      using folder = scratchFolder()
      const file = join(folder.path, 'calls.db')
      const journal = createSqliteJournal(file, setting)
      await journal.claim(identity())
      await journal.close()
      using db = new DatabaseSync(file)
      return { ...db.prepare('SELECT owner, content FROM calls').get() }
    }
    const [one, other] = [await stored(), await stored()]
    expect(one.owner).not.toBe(other.owner)
    expect(one.content).not.toBe(other.content)
  })

  test('is created once when several processes open it concurrently', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const journals = await Promise.all(
      Array.from({ length: 8 }, () => createSqliteJournal(file, setting)),
    )
    const claims = await Promise.all(journals.map((journal) => journal.claim(identity())))
    expect(claims.map(({ kind }) => kind).toSorted()).toEqual([
      'mine',
      ...Array.from({ length: 7 }, () => 'theirs'),
    ])
    for (const journal of journals) journal.close()
  })

  test('accepts fractions of a millisecond', async () => {
    const journal = createSqliteJournal(':memory:', setting)
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    expect(await journal.beginSending(claim.entry, 6931.4375)).toMatchObject({ state: 'sending' })
  })
})

describe('the journal of a machine whose clock was set', () => {
  afterEach(() => void vi.useRealTimers())
  const setClock = (byMs: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs })
  }

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('%s, the deadline of the last sender is set anew', async (_, byMs) => {
    const journal = createSqliteJournal(':memory:', setting)
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    const sent = await journal.beginSending(claim.entry, 0)
    if (!sent) throw new Error('not sent')
    setClock(byMs)
    const first = await journal.current(sent)
    expect(first?.sinceDeadlineMs).toBe(-60_000)
    expect((await journal.current(sent))?.sinceDeadlineMs).toBeLessThan(-50_000)
    expect((await journal.current(sent))?.firstSentAt).toBeLessThan(sent.firstSentAt + 2000)
    expect(await journal.claim(identity())).toMatchObject({ kind: 'theirs' })
  })

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('%s, it is still known how long ago a call was placed', async (_, byMs) => {
    const journal = createSqliteJournal(':memory:', setting)
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    await journal.recordPlaced(claim.entry, 'call-1')
    setClock(byMs)
    const agoMs = await journal.placedAgoMs(identity().owner, 'call-1')
    expect(agoMs).toBeGreaterThanOrEqual(0)
    expect(agoMs).toBeLessThan(10_000)
    expect(await journal.placedAgoMs(identity().owner, 'call-2')).toBeUndefined()
  })

  test.skipIf(process.platform !== 'linux')(
    'forward by a month, an identical request still means the same call',
    async () => {
      using folder = scratchFolder()
      const file = join(folder.path, 'calls.db')
      const journal = createSqliteJournal(file, setting)
      const claim = await journal.claim(identity())
      if (claim.kind !== 'mine') throw new Error('not mine')
      await journal.recordPlaced(claim.entry, 'call-1')
      setClock(40 * 86_400_000)
      const again = createSqliteJournal(file, setting)
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
    const file = join(folder, 'calls.db')
    const state = createSqliteState({ folder, setting, isSandbox: false })
    const { journal } = state
    const claim = await journal.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    const remove = () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
    }
    return { file, state, journal, entry: claim.entry, remove }
  }

  test('sends no claimed call, and the error says what to do', async () => {
    using folder = scratchFolder()
    const { file, state, journal, entry, remove } = await opened(folder.path)
    remove()
    for (const _ of [1, 2])
      await expect(journal.beginSending(entry, 1000)).rejects.toThrow(
        /\bdeleted\b.*\bRestart\b.*\blist_calls\b/,
      )
    // The call was not sent, so another request may claim it.
    expect(await journal.current(entry)).toMatchObject({ state: 'free' })
    for (const use of [() => journal.claim(identity()), () => state.check()]) {
      await expect(use()).rejects.toThrow(JournalError)
      await expect(use()).rejects.toThrow(/\bdeleted\b/)
    }
    expect(existsSync(file)).toBe(false)
    await state.close()
  })

  test('sends no call if the file was deleted while it was being opened', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'calls.db')
    const before = createSqliteJournal(file, setting)
    await before.check()
    await before.close()
    // The opening program waits for the lock of another one, which then deletes the file.
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const opening = createSqliteJournal(file, setting).claim(identity())
    await sleep(200)
    rmSync(file)
    other.exec('ROLLBACK')
    await expect(opening).rejects.toThrow(/\bdeleted\b/)
    other.close()
  })

  test('sends no call if another program created a new file', async () => {
    using folder = scratchFolder()
    const { file, state, journal, entry, remove } = await opened(folder.path)
    remove()
    const neighbour = createSqliteJournal(file, setting)
    await neighbour.check()
    await expect(journal.beginSending(entry, 1000)).rejects.toThrow(/\breplaced\b/)
    await expect(journal.claim(identity())).rejects.toThrow(/\breplaced\b/)
    // Programs that start now use the new file, as this one does after a restart.
    await state.close()
    const claim = await neighbour.claim(identity())
    if (claim.kind !== 'mine') throw new Error('not mine')
    expect(await neighbour.beginSending(claim.entry, 1000)).toMatchObject({ state: 'sending' })
    expect(await journal.claim(identity())).toMatchObject({ kind: 'theirs' })
    await neighbour.close()
    await state.close()
  })
})
