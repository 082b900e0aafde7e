import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { CallIdentity, Journal } from '../../src/state/call-journal.ts'
import { type Database, NoRow, openDatabase } from '../../src/state/postgres/database.ts'
import { createPostgresAuditTrail } from '../../src/state/postgres/postgres-audit-trail.ts'
import { createPostgresCallCounter } from '../../src/state/postgres/postgres-call-counter.ts'
import { createPostgresJournal } from '../../src/state/postgres/postgres-call-journal.ts'
import { createPostgresRecords } from '../../src/state/postgres/postgres-records.ts'
import { createPostgresUndoStore } from '../../src/state/postgres/postgres-undo-store.ts'
import { StateError } from '../../src/state/state-access.ts'
import {
  type PostgresServer,
  settableDatabaseClock,
  startPostgres,
} from '../harness/postgres-server.ts'
import { describeAuditTrail } from '../state/conformance/audit-trail.ts'
import { describeCallCounter } from '../state/conformance/call-counter.ts'
import {
  describeJournal,
  describeJournalAfterClockStep,
} from '../state/conformance/call-journal.ts'
import { describeRecords } from '../state/conformance/records.ts'
import { describeUndoStore } from '../state/conformance/undo-store.ts'

const setting = '--state-url'
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

const opened: Database[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})
const open = (url: string) => {
  const database = openDatabase({ url, setting })
  opened.push(database)
  return database
}
/** Two connection pools of servers on one new database. */
const openTwo = async () => {
  const url = await server.newDatabase()
  return [open(url), open(url)] as const
}

describeJournal('in PostgreSQL', async () => {
  const [one, other] = await openTwo()
  return [createPostgresJournal(one), createPostgresJournal(other)]
})

describeJournalAfterClockStep('in PostgreSQL', async () => {
  const [one, other] = await openTwo()
  return {
    journals: [createPostgresJournal(one), createPostgresJournal(other)],
    // Makes stored entries younger by `byMs`, as a clock that is set back does.
    async setClockBack(byMs) {
      await one.run(NoRow, 'UPDATE voice_agent_mcp.calls SET since = since + $1::bigint', [byMs])
    },
  }
})

describeUndoStore('in PostgreSQL', async () => {
  const [one, other] = await openTwo()
  const eachTime = { purgeEveryMs: 0 }
  return [createPostgresUndoStore(one, eachTime), createPostgresUndoStore(other, eachTime)]
})

describeRecords('in PostgreSQL', async () => {
  const [one, other] = await openTwo()
  return [createPostgresRecords(one), createPostgresRecords(other)]
})

describeAuditTrail('in PostgreSQL', async () => {
  const [one, other] = await openTwo()
  return [createPostgresAuditTrail(one), createPostgresAuditTrail(other)]
})

let shared: Database | undefined
let counters = 0
describeCallCounter(
  'in PostgreSQL',
  async () => {
    shared ??= openDatabase({ url: await server.newDatabase(), setting })
    const database = shared
    // The test's clock is a row in a table, one for each counter.
    const countedAs = `counter ${++counters}`
    await database.run(NoRow, 'CREATE TABLE IF NOT EXISTS clock (name text PRIMARY KEY, at bigint)')
    await database.run(NoRow, 'INSERT INTO clock VALUES ($1, 0)', [countedAs])
    const now = `(SELECT at FROM clock WHERE name = '${countedAs}')`
    return {
      counter: createPostgresCallCounter(database, { countedAs, now }),
      setTime: async (at) => {
        await database.run(NoRow, 'UPDATE clock SET at = $2 WHERE name = $1', [countedAs, at])
      },
    }
  },
  { runs: 15 },
)
afterAll(() => shared?.close())

const identity: CallIdentity = {
  owner: 'owner-in-clear',
  content: 'content-in-clear',
  externalId: undefined,
  sameForMs: 600_000,
}

describe('the tables', () => {
  test('are created once by several servers that start together', async () => {
    const url = await server.newDatabase()
    const journals = Array.from({ length: 8 }, () => createPostgresJournal(open(url)))
    const claims = await Promise.all(journals.map((journal) => journal.claim(identity)))
    expect(claims.filter(({ kind }) => kind === 'mine')).toHaveLength(1)
  })

  test('hold no owner, content, name or id in clear', async () => {
    const [database] = await openTwo()
    const journal = createPostgresJournal(database)
    await journal.claim(identity)
    await journal.writeNote('name-in-clear', 'x')
    const counter = createPostgresCallCounter(database, { countedAs: 'platform' })
    const reserved = await counter.reserve({}, 1000)
    if (!('id' in reserved)) throw new Error('not reserved')
    await counter.placed(reserved.id, { owner: identity.owner, callId: 'call-1' })
    const records = createPostgresRecords(database)
    const record = { kind: 'used_token', id: 'id-in-clear', owner: identity.owner } as const
    await records.add({ ...record, value: '', forMs: 1000 })
    const change = { owner: identity.owner, change: 'change-in-clear' }
    const item = { item: 0, object: 'object-in-clear', value: '' }
    await createPostgresUndoStore(database).add(change, [item], {
      maxAgeMs: 60_000,
      perOwner: 1,
      inAll: 1,
    })
    for (const table of ['calls', 'notes', 'counted_calls', 'records', 'undo_items']) {
      const rows = await database.run(z.unknown(), `SELECT * FROM voice_agent_mcp.${table}`)
      expect(rows).toHaveLength(1)
      expect(JSON.stringify(rows)).not.toContain('in-clear')
    }
  })

  test('check the bounds of records with the table of counts, without counting rows', async () => {
    const [database] = await openTwo()
    const records = createPostgresRecords(database)
    const record = { kind: 'used_token', id: 'a', owner: 'me', value: '', forMs: 60_000 } as const
    const bounds = { inAll: 10, perOwner: 10 }
    expect(await records.add(record, bounds)).toBe('added')
    await database.run(NoRow, 'UPDATE voice_agent_mcp.record_counts SET count = 10')
    expect(await records.add({ ...record, id: 'next' }, bounds)).toBe('full')
  })

  test('store different hashes of the same text in each database', async () => {
    const hashes = []
    for (const _ of [1, 2]) hashes.push(await open(await server.newDatabase()).hash('the same'))
    expect(hashes[0]).not.toBe(hashes[1])
  })

  test('keep calls for a month', async () => {
    const [one, other] = await openTwo()
    const journal = createPostgresJournal(one)
    const old = await journal.claim({ ...identity, content: 'old' })
    const young = await journal.claim({ ...identity, content: 'young' })
    if (old.kind !== 'mine' || young.kind !== 'mine') throw new Error('not mine')
    const age = `UPDATE voice_agent_mcp.calls SET since = since - $2::bigint,
      replica_since = replica_since - $2::bigint, uptime = uptime - $2::bigint WHERE external_id = $1`
    await one.run(NoRow, age, [old.entry.externalId, 31 * 86_400_000])
    await one.run(NoRow, age, [young.entry.externalId, 29 * 86_400_000])
    const next = createPostgresJournal(other)
    await next.claim({ ...identity, content: 'another' })
    await expect.poll(() => next.current(old.entry)).toBeUndefined()
    expect(await next.current(young.entry)).toBeDefined()
  })

  /**
   * Changes the tables as another version of the program does: its SQL, then the version numbers.
   */
  const changeTables = async (url: string, version: number, needed: number) => {
    const database = open(url)
    await database.run(
      NoRow,
      'UPDATE voice_agent_mcp.installation SET version = $1, needed_version = $2',
      [version, needed],
    )
    return database
  }
  /** Ends all other connections, which still use the old tables. */
  const endOthers = (database: Database) =>
    database.run(
      z.unknown(),
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )

  test('of a newer program are used by an earlier one that is compatible', async () => {
    const url = await server.newDatabase()
    const old = createPostgresJournal(open(url))
    await old.writeNote('a', '1')
    const newer = await changeTables(url, 99, 6)
    await newer.run(NoRow, "ALTER TABLE voice_agent_mcp.notes ADD COLUMN extra text DEFAULT 'x'")
    await old.writeNote('b', '2')
    expect(await old.readNote('a')).toBe('1')
    // A program that starts now.
    expect(await createPostgresJournal(open(url)).readNote('b')).toBe('2')
  })

  test('of a newer program are refused by an incompatible earlier one, whether running or starting', async () => {
    const url = await server.newDatabase()
    const old = createPostgresJournal(open(url))
    await old.writeNote('a', '1')
    // Opens several connections, each of which must be ended.
    await Promise.all(Array.from({ length: 8 }, () => old.readNote('a')))
    await endOthers(await changeTables(url, 99, 99))
    const tooOld = /\(99;.*\bUpdate this server\b/
    // A request may meet a connection that is just being ended; every request must fail.
    for (let ended = 0; ended < 8; ended++)
      await expect(old.readNote('a')).rejects.toThrow(StateError)
    for (const _ of [1, 2, 3]) await expect(old.readNote('a')).rejects.toThrow(tooOld)
    await expect(old.claim(identity)).rejects.toThrow(tooOld)
    await expect(createPostgresJournal(open(url)).claim(identity)).rejects.toThrow(tooOld)
  })

  test('of an earlier program are refused', async () => {
    const url = await server.newDatabase()
    await createPostgresJournal(open(url)).writeNote('a', '1')
    await changeTables(url, 6, 0)
    await expect(createPostgresJournal(open(url)).claim(identity)).rejects.toThrow(/\(6;[^)]*\b7\)/)
  })

  test('that were recreated while a server is running are refused by it', async () => {
    const url = await server.newDatabase()
    const database = open(url)
    const journal = createPostgresJournal(database)
    await journal.claim(identity)
    await database.run(NoRow, 'DROP SCHEMA voice_agent_mcp CASCADE')
    await database
      .run(
        NoRow,
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      .catch(() => undefined)
    const other = createPostgresJournal(open(url))
    expect(await other.claim(identity)).toMatchObject({ kind: 'mine' })
    await database
      .run(z.unknown(), 'SELECT pg_terminate_backend(pg_backend_pid())')
      .catch(() => undefined)
    await expect(journal.claim(identity)).rejects.toThrow(/\breplaced\b.*\blist_calls\b/)
  })
})

describe('after setting', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const sendBy = async (journal: Journal, content = identity.content) => {
    const claim = await journal.claim({ ...identity, content })
    if (claim.kind !== 'mine') throw new Error('not mine')
    const sent = await journal.beginSending(claim.entry, 0)
    if (!sent) throw new Error('not sent')
    return sent
  }
  const sentCall = async () => {
    const [one, other] = await openTwo()
    const [journal, neighbour] = [createPostgresJournal(one), createPostgresJournal(other)]
    return { database: one, journal, neighbour, sent: await sendBy(journal) }
  }

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])("a server's clock, %s, the deadline of the last sender is set anew", async (_, byMs) => {
    const { neighbour, sent } = await sentCall()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs })
    expect((await neighbour.current(sent))?.sinceDeadlineMs).toBe(-60_000)
    expect((await neighbour.current(sent))?.sinceDeadlineMs).toBeLessThan(-50_000)
    expect(await neighbour.claim(identity)).toMatchObject({ kind: 'theirs' })
  })

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])("the database's clock, %s, the deadline is set anew, too", async (_, byMs) => {
    const { database, neighbour, sent } = await sentCall()
    // Makes stored entries older by `byMs`, as a clock that is set forward does.
    const older = 'UPDATE voice_agent_mcp.calls SET since = since - $1::bigint RETURNING owner'
    await database.run(z.unknown(), older, [byMs])
    expect((await neighbour.current(sent))?.sinceDeadlineMs).toBe(-60_000)
    expect((await neighbour.current(sent))?.sinceDeadlineMs).toBeLessThan(-50_000)
  })

  test("a server's clock, forward by a month, an identical request still means the same call", async () => {
    const { journal, neighbour, sent } = await sentCall()
    await journal.recordPlaced(sent, 'call-1')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 })
    expect(await neighbour.claim(identity)).toMatchObject({ entry: { callId: 'call-1' } })
  })

  /** A database with a settable clock, whose entries seem to come from another machine. */
  const steppable = async () => {
    const url = await server.newDatabase()
    const first = open(url)
    const clock = settableDatabaseClock(url)
    for (const sql of clock.setUp) await first.run(NoRow, sql)
    return {
      url,
      /** Sets the clocks of the database and of all servers. */
      async set(byMs: number) {
        await first.run(NoRow, clock.set, [byMs])
        const now = Date.now.bind(Date)
        vi.spyOn(Date, 'now').mockImplementation(() => now() + byMs)
      },
      async moveToOtherMachine() {
        await first.run(NoRow, "UPDATE voice_agent_mcp.calls SET boot = 'another machine'")
      },
    }
  }
  const forward = [
    ['700 s', 700_000],
    ['an hour', 3_600_000],
    ['a day', 86_400_000],
  ] as const

  test.each(forward)(
    'both clocks, forward by %s, a call of unknown outcome is not settled, and a repeated request still means the placed call',
    async (_, byMs) => {
      const clock = await steppable()
      const [journal, neighbour] = [open(clock.url), open(clock.url)].map(createPostgresJournal)
      if (!journal || !neighbour) throw new Error('not opened')
      const [lost, placed] = [await sendBy(journal, 'lost'), await sendBy(journal, 'placed')]
      await journal.recordPlaced(placed, 'call-1')
      await clock.set(byMs)
      expect((await neighbour.current(lost))?.sinceDeadlineMs).toBe(-60_000)
      expect((await neighbour.current(lost))?.sinceDeadlineMs).toBeLessThan(-50_000)
      expect((await neighbour.current(lost))?.firstSentAt).toBeLessThan(lost.firstSentAt + 2000)
      const again = await neighbour.claim({ ...identity, content: 'placed' })
      expect(again).toMatchObject({ kind: 'theirs', entry: { callId: 'call-1' } })
    },
  )

  test.each(forward)(
    'both clocks, forward by %s, the same holds for entries of another machine if the server was running',
    async (_, byMs) => {
      const clock = await steppable()
      const [database, other] = [open(clock.url), open(clock.url)]
      await database.check()
      const [journal, neighbour] = [createPostgresJournal(other), createPostgresJournal(database)]
      const [lost, placed] = [await sendBy(journal, 'lost'), await sendBy(journal, 'placed')]
      await journal.recordPlaced(placed, 'call-1')
      await clock.moveToOtherMachine()
      // The deadline follows the measured time, minus a step of the clock too small to detect.
      expect((await neighbour.current(lost))?.sinceDeadlineMs).toBeGreaterThan(-15_000)
      await clock.set(byMs)
      const again = await neighbour.claim({ ...identity, content: 'placed' })
      expect(again).toMatchObject({ kind: 'theirs', entry: { callId: 'call-1' } })
      expect((await neighbour.current(lost))?.sinceDeadlineMs).toBe(-60_000)
      expect((await neighbour.current(lost))?.sinceDeadlineMs).toBeLessThan(-50_000)
      // Later entries are dated by the new clock.
      const next = await sendBy(neighbour, 'placed later')
      await neighbour.recordPlaced(next, 'call-2')
      await clock.moveToOtherMachine()
      await new Promise((resolve) => setTimeout(resolve, 30))
      const later = { ...identity, content: 'placed later', sameForMs: 10 }
      expect(await neighbour.claim(later)).toMatchObject({ kind: 'mine' })
    },
  )

  test('both clocks, a starting server does not settle a call of unknown outcome of another machine', async () => {
    const clock = await steppable()
    const lost = await sendBy(createPostgresJournal(open(clock.url)), 'lost')
    await clock.moveToOtherMachine()
    await clock.set(3_600_000)
    const neighbour = createPostgresJournal(open(clock.url))
    expect((await neighbour.current(lost))?.sinceDeadlineMs).toBe(-60_000)
    expect((await neighbour.current(lost))?.sinceDeadlineMs).toBeLessThan(-50_000)
  })

  test("a server's clock, by more than a minute, the server is not ready, and names the reason", async () => {
    const [one] = await openTwo()
    await one.check()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 300_000 })
    await expect(one.check()).rejects.toThrow(/clock .* differ by (299|300|301) s.*NTP/)
    vi.useRealTimers()
    await one.check()
  })

  test("a server's clock, limits and confirmations follow the database's clock", async () => {
    const [one, other] = await openTwo()
    const counters = [one, other].map((database) =>
      createPostgresCallCounter(database, { countedAs: 'platform' }),
    )
    expect(await counters[0]?.reserve({ max_per_hour: 1 }, 1000)).toHaveProperty('id')
    const record = { kind: 'used_token', id: 'a', owner: 'me', value: '', forMs: 60_000 } as const
    await createPostgresRecords(one).add(record)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 })
    expect(await counters[1]?.reserve({ max_per_hour: 1 }, 1000)).toHaveProperty('exceeded')
    expect(await createPostgresRecords(other).add(record)).toBe('exists')
  })
})

describe('a commit', () => {
  test("is on disk when it is reported, whatever the database's default is", async () => {
    const url = await server.newDatabase()
    const name = new URL(url).pathname.slice(1)
    const first = open(url)
    await first.run(NoRow, `ALTER DATABASE ${name} SET synchronous_commit TO off`)
    await first.run(
      NoRow,
      `ALTER DATABASE ${name} SET default_transaction_isolation TO serializable`,
    )
    const settings = await open(url).run(
      z.object({ durable: z.string(), isolation: z.string() }),
      "SELECT current_setting('synchronous_commit') AS durable, current_setting('transaction_isolation') AS isolation",
    )
    expect(settings).toEqual([{ durable: 'on', isolation: 'read committed' }])
  })
})
