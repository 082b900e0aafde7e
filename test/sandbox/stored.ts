import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { scratchFolder } from '../harness/program.ts'
import { startSandbox } from '../harness/sandbox.ts'
import type { Write, Writer } from './writer.ts'

/*
 * What is in a sandbox's file, held against what its clients were answered.
 */

/** Column `value` of all rows, read past the sandbox. */
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

/** Agents whose hourly sums differ from the calls they were added up from. */
const wrongSums = `
  WITH sums AS (
    SELECT account_id, created / 3600000 AS hour, agent_id, type, count(*) AS conversations,
    sum(duration_seconds) AS seconds FROM calls WHERE outcome = 'completed' GROUP BY 1, 2, 3, 4
  )
  SELECT agent_id AS value FROM (SELECT * FROM usage_hours EXCEPT SELECT * FROM sums)
  UNION ALL SELECT agent_id FROM (SELECT * FROM sums EXCEPT SELECT * FROM usage_hours)`

/** The file is sound, its rows belong together, and its sums add up. */
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

/** The file holds just as much as that of a sandbox whose opening nothing disturbed. */
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

/** Everything answered is there, everything else wholly or not at all, and nothing besides. */
export async function expectNothingLost(file: string, writers: Writer[]): Promise<void> {
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

async function expectAnswered(sandbox: Sandbox, { kept, gone, unanswered }: Writer): Promise<void> {
  for (const [path, answered] of kept) {
    if (path === unanswered?.path) continue
    const { status, body } = await sandbox.get(path)
    expect(status, path).toBe(200)
    // How far a call has come depends on the time; whose it is does not.
    const { id, agent_id, external_id } = answered
    if (path.includes('/calls/')) expect(body).toMatchObject({ id, agent_id, external_id })
    else expect(body).toEqual(answered)
  }
  for (const path of gone) expect((await sandbox.get(path)).status, path).toBe(404)
}

/** Paths of what an unanswered POST has created after all. */
async function expectUnanswered(
  sandbox: Sandbox,
  file: string,
  { kept, unanswered }: Writer,
): Promise<string[]> {
  if (unanswered?.method === 'POST') return expectWholeOrAbsent(sandbox, file, unanswered)
  if (unanswered) await expectDoneOrNot(sandbox, kept.get(unanswered.path), unanswered)
  return []
}

/** How to find what a POST has created by what its body said. */
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
  // Sent again, a call is placed if, and only if, it was not.
  const again = await sandbox.send('POST', write.path, write.body)
  expect(again.status).toBe(paths.length === 1 ? 200 : 201)
  return [`${write.path}/${again.body.id}`]
}

/** What a POST creates, as far as its body tells. */
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
