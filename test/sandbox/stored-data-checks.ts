import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { scratchFolder } from '../harness/program.ts'
import { startSandbox } from '../harness/sandbox.ts'
import type { Write, WriteClient } from './write-client.ts'

/* Compares a sandbox's database with the replies that its clients got. */

/** Column `value` of all rows, read directly from the database. */
function values(file: string, sql: string, key = ''): unknown[] {
  const db = new DatabaseSync(file)
  try {
    const statement = db.prepare(sql)
    statement.setAllowUnknownNamedParameters(true)
    return statement.all({ key }).map(({ value }) => value)
  } finally {
    db.close()
  }
}

/** Query of agents whose hourly usage differs from the sum of their calls. */
const wrongSums = `
  WITH sums AS (
    SELECT account_id, created / 3600000 AS hour, agent_id, type, count(*) AS conversations,
    sum(duration_seconds) AS seconds FROM calls WHERE outcome = 'completed' GROUP BY 1, 2, 3, 4
  )
  SELECT agent_id AS value FROM (SELECT * FROM usage_hours EXCEPT SELECT * FROM sums)
  UNION ALL SELECT agent_id FROM (SELECT * FROM sums EXCEPT SELECT * FROM usage_hours)`

/** Checks a database: integrity, foreign keys, and usage sums. */
export function expectConsistent(file: string): void {
  expect(values(file, 'SELECT integrity_check AS value FROM pragma_integrity_check')).toEqual([
    'ok',
  ])
  expect(values(file, 'SELECT "table" AS value FROM pragma_foreign_key_check')).toEqual([])
  expect(values(file, wrongSums)).toEqual([])
}

const tables = ['accounts', 'api_keys', 'agents', 'sip_trunks', 'phone_numbers', 'calls']

const counts = (file: string) =>
  tables.map((table) => `${values(file, `SELECT count(*) AS value FROM ${table}`)} ${table}`)

/** Checks that a database has as many rows as one that was seeded without interruption. */
export function expectSeededOnce(file: string): void {
  using folder = scratchFolder()
  const undisturbed = join(folder.path, 'sandbox.db')
  startSandbox({ file: undisturbed })[Symbol.dispose]()
  expect(counts(file)).toEqual(counts(undisturbed))
  expectConsistent(file)
}

const ownPaths = `
  SELECT 'accounts/me/agents/' || id AS value FROM agents
  UNION ALL SELECT 'accounts/me/phone-numbers/' || id FROM phone_numbers
  UNION ALL SELECT 'accounts/me/calls/' || id FROM calls`

const isSeeded = (path: unknown) => String(path).includes('/00000000-0000-4000-8')

type Sandbox = ReturnType<typeof startSandbox>

/**
 * Checks that all confirmed writes are stored, that unconfirmed ones are stored completely or not
 * at all, and that there is nothing else.
 */
export async function expectNothingLost(file: string, writers: WriteClient[]): Promise<void> {
  expectConsistent(file)
  using sandbox = startSandbox({ file })
  const known = new Set<unknown>(writers.flatMap(({ kept }) => [...kept.keys()]))
  for (const writer of writers) {
    await expectAnswered(sandbox, writer)
    for (const path of await expectUnanswered(sandbox, file, writer)) known.add(path)
  }
  expect(values(file, ownPaths).filter((path) => !known.has(path) && !isSeeded(path))).toEqual([])
  expectConsistent(file)
}

async function expectAnswered(
  sandbox: Sandbox,
  { kept, gone, unanswered }: WriteClient,
): Promise<void> {
  for (const [path, answered] of kept) {
    if (path === unanswered?.path) continue
    const { status, body } = await sandbox.get(path)
    expect(status, path).toBe(200)
    // The state of a call depends on the time; its ids do not.
    const { id, agent_id, external_id } = answered
    if (path.includes('/calls/')) expect(body).toMatchObject({ id, agent_id, external_id })
    else expect(body).toEqual(answered)
  }
  for (const path of gone) expect((await sandbox.get(path)).status, path).toBe(404)
}

/** Checks an unanswered write. Returns the paths of objects that it has created. */
async function expectUnanswered(
  sandbox: Sandbox,
  file: string,
  { kept, unanswered }: WriteClient,
): Promise<string[]> {
  if (unanswered?.method === 'POST') return expectWholeOrAbsent(sandbox, file, unanswered)
  if (unanswered) await expectDoneOrNot(sandbox, kept.get(unanswered.path), unanswered)
  return []
}

/** Queries that find a created object by a field of the POST's body. */
const finders: Record<string, { key: string; sql: string }> = {
  agents: { key: 'name', sql: "SELECT id AS value FROM agents WHERE config ->> 'name' = :key" },
  'phone-numbers': {
    key: 'number',
    sql: 'SELECT id AS value FROM phone_numbers WHERE number = :key',
  },
  calls: { key: 'external_id', sql: 'SELECT id AS value FROM calls WHERE external_id = :key' },
}

async function expectWholeOrAbsent(
  sandbox: Sandbox,
  file: string,
  write: Write,
): Promise<string[]> {
  const { key, sql } = finders[write.path.replace('accounts/me/', '')] ?? { key: '', sql: '' }
  const paths = values(file, sql, String(write.body?.[key])).map((id) => `${write.path}/${id}`)
  expect(paths.length).toBeLessThanOrEqual(1)
  for (const path of paths) expect((await sandbox.get(path)).body).toMatchObject(wholeOf(write))
  if (!write.path.endsWith('/calls')) return paths
  // A repeated request places the call only if the first one did not.
  const again = await sandbox.send('POST', write.path, write.body)
  expect(again.status).toBe(paths.length === 1 ? 200 : 201)
  return [`${write.path}/${again.body.id}`]
}

/** Expected fields of a created object, from the POST's body. */
function wholeOf({ path, body = {} }: Write): Record<string, unknown> {
  if (path.endsWith('/calls')) return { agent_id: body.agent_id, external_id: body.external_id }
  if (path.endsWith('/agents')) return body
  return {
    number: body.number,
    friendly_name: body.name,
    sip_trunk: { id: body.sip_trunk_id },
    inbound_agent: { id: body.inbound_agent_id },
  }
}

async function expectDoneOrNot(
  sandbox: Sandbox,
  before: Record<string, unknown> | undefined,
  write: Write,
): Promise<void> {
  const { status, body } = await sandbox.get(write.path)
  if (status === 404) expect(write.method).toBe('DELETE')
  else if (write.method === 'DELETE' || body.note === before?.note) expect(body).toEqual(before)
  else expect(body).toEqual({ ...before, ...write.body, modified: body.modified })
}
