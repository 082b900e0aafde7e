import { createHmac } from 'node:crypto'
import { Socket } from 'node:net'
import type { ClientBase, Pool } from 'pg'
import * as z from 'zod'
import { WatchedClock } from '../clocks.ts'
import { openOnce, StateError, withinStateDeadline, withoutStateDeadline } from '../state-access.ts'
import {
  applicationName,
  checkInstallation,
  type Installation,
  lockSpace,
  openInstallation,
} from './schema.ts'

/** Runs a statement with parameters ($1, $2, …) and returns its rows. Throws StateError. */
export type RunSql = <T>(
  row: z.ZodType<T>,
  sql: string,
  values?: readonly unknown[],
) => Promise<T[]>

/** The shared database. All methods throw StateError, and work again once the database does. */
export interface Database {
  /** Runs one atomic statement. `undo`: see `transaction`. */
  run<T>(
    row: z.ZodType<T>,
    sql: string,
    values?: readonly unknown[],
    undo?: (late: T[]) => Promise<unknown>,
  ): Promise<T[]>
  /**
   * Runs an atomic transaction. Transactions with the same `lock` run one after the other, on all
   * servers. `undo` runs if the transaction commits only after the request's deadline.
   */
  transaction<T>(
    lock: string,
    work: (run: RunSql) => Promise<T>,
    undo?: (late: T) => Promise<unknown>,
  ): Promise<T>
  /** Hashes a text with the installation's secret. */
  hash(text: string): Promise<string>
  /** The database's clock. Sampled at every check, and with every row of the journal. */
  readonly clock: WatchedClock
  /** Connects, creates missing tables, and compares the clocks. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** `postgres://…` with a password. No message contains the URL. */
  readonly url: string
  /** Name of the setting that has the URL, for errors. */
  readonly setting: string
}

/** The clock of the database, ms since 1970. */
export const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/**
 * Maximum usable difference between the clocks of the database and of a server, ms. If the clocks
 * differ more, elapsed times are unknown.
 */
export const maxClockDifferenceMs = 60_000

const ClockRow = z.object({ now: z.coerce.number() })

function refuseOtherTime(now: number): void {
  const differenceMs = Math.abs(now - Date.now())
  if (differenceMs < maxClockDifferenceMs) return
  throw new StateError(
    `its clock and this server's clock differ by ${Math.round(differenceMs / 1000)} s. Synchronize both with NTP`,
  )
}

/** The row schema of a statement that returns no rows. */
export const NoRow = z.never()

/**
 * Timeouts, ms: of connecting, of a statement in the database, of its answer, of a lock, and of the
 * last answers at shutdown.
 */
export const timeouts = {
  connection: 5000,
  statement: 8000,
  answer: 10_000,
  lock: 8000,
  close: 2000,
} as const

/**
 * Maximum connections per server. Each connection serves one statement or transaction at a time.
 */
const maxConnections = 10

/** Opens the database. It connects on first use. */
export function openDatabase({ url, setting }: DatabaseOptions): Database {
  const failing = async <T>(
    work: () => Promise<T>,
    undo?: (late: T) => Promise<unknown>,
  ): Promise<T> => {
    try {
      return await withinStateDeadline(work, undo)
    } catch (error) {
      throw unusable(error, setting)
    }
  }
  // Opened without the deadline of the request that needs the database first, because other
  // requests wait for it as well.
  const opened = openOnce(() => withoutStateDeadline(() => open(url)))
  const clock = new WatchedClock()
  const run: Database['run'] = (row, sql, values, undo) =>
    failing(async () => {
      const { pool } = await opened.get()
      return rowsOf(row, await pool.query(sql, values && [...values]))
    }, undo)
  return {
    run,
    transaction: (lock, work, undo) =>
      failing(async () => {
        const { pool } = await opened.get()
        return inTransaction(pool, lock, work)
      }, undo),
    hash: (text) =>
      failing(async () => {
        const { installation } = await opened.get()
        return hashWith(installation, text)
      }),
    clock,
    async check() {
      const [row] = await run(ClockRow, `SELECT ${databaseNow} AS now`)
      if (row) clock.saw(row.now)
      await failing(async () => refuseOtherTime(row?.now ?? 0))
    },
    close: () => opened.close(closePool),
  }
}

/** Hashes a text with an installation's secret. */
export const hashWith = ({ secret }: Pick<Installation, 'secret'>, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')

interface OpenDatabase {
  readonly pool: Pool
  /** Sockets of all connections in the pool. */
  readonly sockets: ReadonlySet<Socket>
  readonly installation: Installation
}

async function open(url: string): Promise<OpenDatabase> {
  const { default: pg } = await import('pg')
  let installation: Installation | undefined
  const sockets = new Set<Socket>()
  const newSocket = () => {
    const socket = new Socket()
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
  const onConnect = async (client: ClientBase) => {
    await client.query(sessionSql)
    if (installation) await checkInstallation(client, installation)
  }
  const pool = new pg.Pool({
    stream: newSocket,
    connectionString: url,
    application_name: applicationName,
    max: maxConnections,
    connectionTimeoutMillis: timeouts.connection,
    query_timeout: timeouts.answer,
    keepAlive: true,
    allowExitOnIdle: true,
    // pg-pool awaits this function before it uses a connection, although its type does not say so.
    onConnect,
  })
  // The pool replaces a broken idle connection at the next statement.
  pool.on('error', ignore)
  try {
    installation = await withClient(pool, openInstallation)
    return { pool, sockets, installation }
  } catch (error) {
    await pool.end().catch(ignore)
    throw error
  }
}

/** Closes the pool. Waits for running statements, but not for an unresponsive database. */
async function closePool({ pool, sockets }: OpenDatabase): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, timeouts.close)
  await pool.end()
  clearTimeout(cut)
}

const ignore = () => undefined

/**
 * Session settings that override the database's defaults: a reported commit is on disk, statements
 * see earlier commits, and no statement waits for ever.
 */
const sessionSql = `
  SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local');
  SET default_transaction_isolation TO 'read committed';
  SET statement_timeout TO ${timeouts.statement};
  SET lock_timeout TO ${timeouts.lock};
  SET idle_in_transaction_session_timeout TO ${timeouts.answer}`

async function inTransaction<T>(
  pool: Pool,
  lock: string,
  work: (run: RunSql) => Promise<T>,
): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockSpace}, ${lockNumber(lock)})`)
    const result = await work(async (row, sql, values) =>
      rowsOf(row, await client.query(sql, values && [...values])),
    )
    await client.query('COMMIT')
    return result
  })
}

/**
 * A lock number of 32 bits from a hash, never that of the schema's lock. If two texts collide, they
 * only wait for each other.
 */
const lockNumber = (lock: string) =>
  createHmac('sha256', 'lock').update(lock).digest().readInt32BE() || 1

/**
 * Uses a pooled connection. After a failure the connection is closed, which rolls back its
 * transaction.
 */
async function withClient<T>(pool: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  // If a connection breaks between two statements, the next statement reports it.
  client.on('error', ignore)
  let failure: Error | undefined
  try {
    return await work(client)
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.off('error', ignore)
    client.release(failure)
  }
}

/**
 * Limits deletions of old rows to one run per interval; calls in between do nothing. A run that
 * fails counts as one.
 */
export function oncePer<Given extends unknown[]>(
  intervalMs: number,
  work: (...given: Given) => Promise<unknown>,
): (...given: Given) => Promise<void> {
  let last = Number.NEGATIVE_INFINITY
  return async (...given) => {
    if (performance.now() - last < intervalMs) return
    last = performance.now()
    await work(...given)
  }
}

const rowsOf = <T>(row: z.ZodType<T>, { rows }: { rows: unknown[] }): T[] =>
  z.array(row).parse(rows)

/** StateError for a failure of the database. `setting`: name of the setting that has its URL. */
export function unusable(error: unknown, setting: string): StateError {
  const reason = reasonOf(error).replace(/\.$/, '')
  const isTemporary = !isRefusal(error)
  const next = isTemporary ? ' This server uses it again as soon as it answers.' : ''
  const message = `The database of ${setting} cannot be used: ${reason}.${next}`
  return new StateError(message, { cause: error, isTemporary })
}

/**
 * True if only a person can fix the error, such as a wrong password or database name, missing
 * rights, or an incompatible version (SQLSTATE classes, PostgreSQL's Appendix A).
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof StateError ||
  (error instanceof Error && 'code' in error && /^(28|3D|3F|42)/.test(String(error.code)))

/**
 * The reason in words. If a host has several addresses, the error has no message, but an error per
 * address.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}
