import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSqliteAuditTrail } from '../../../src/state/sqlite/sqlite-audit-trail.ts'
import { scratchFolder, startInShell, startProgram } from '../../harness/program.ts'
import { entryOf } from '../../state/conformance/audit-trail.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

beforeAll(async () => {
  const trail = createSqliteAuditTrail(join(folder.path, 'sandbox-audit.db'), '--state-dir')
  await trail.save(
    entryOf('old', {
      time: ago(50),
      tool: 'place_call',
      outcome: 'refused',
      reason: 'not_allowed',
      writes: [],
    }),
  )
  await trail.save(
    entryOf('new', {
      time: ago(1),
      client: { name: 'evil\n\u001b[31mclient', version: '1' },
      writes: [
        { operation: 'agents.update', ids: { agent_id: 'a-1' }, outcome: 'failed', status: 422 },
        ...['b', 'c', 'd', 'e'].map((id) => ({ operation: 'x', ids: { id }, outcome: 'done' })),
      ],
    }),
  )
  await trail.close()
})

async function printed(flags: string[], env: Record<string, string> = {}) {
  await using program = startProgram(['audit', ...flags], {
    VOICE_AGENT_STATE_DIR: folder.path,
    ...env,
  })
  const code = await program.exited
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

const ids = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id)

test('the audit trail is printed as a table, one line for each entry', async () => {
  const { code, stdout, stderr } = await printed([])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trim().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^TIME +OUTCOME +TOOL/)
  expect(lines[1]).toMatch(
    /done +update_agent .*agents\.update a-1 failed HTTP 422; x b; x c; and 2 more$/,
  )
  expect(lines[2]).toMatch(/refused +place_call .*\(not_allowed\) agent_id a$/)
  expect(stdout).not.toContain('\u001b')
})

test('as JSON lines, the newest first, by time, tool, outcome, key and number', async () => {
  const of = async (...flags: string[]) => ids((await printed(['--json', ...flags])).stdout)
  expect(await of()).toEqual(['new', 'old'])
  expect(await of('--since', '2d')).toEqual(['new'])
  expect(await of('--until', ago(2))).toEqual(['old'])
  expect(await of('--tool', 'place_call')).toEqual(['old'])
  expect(await of('--outcome', 'done', '--key-hash', 'abc')).toEqual(['new'])
  expect(await of('--limit', '1')).toEqual(['new'])
  expect(await of('--limit', '0')).toEqual(['new', 'old'])
})

test('where there is none, that is said, and nothing is made', async () => {
  using empty = scratchFolder()
  const { code, stdout } = await printed(['--state-dir', join(empty.path, 'none')])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^[^\n]+\n$/)
  expect(stdout).not.toContain('TIME')
  expect(readdirSync(empty.path)).toEqual([])
  const other = await printed([], { VOICE_AGENT_BASE_URL: 'https://api.example.com' })
  expect(other.stdout).toBe(stdout)
})

test('a wrong time, outcome or folder is an error', async () => {
  for (const [flags, message] of [
    [['--since', 'yesterday'], /--since /],
    [['--outcome', 'good'], /--outcome .* done, /],
    [['--state-dir', ':memory:'], / :memory: .*--state-dir/],
  ] as const) {
    const { code, stderr } = await printed([...flags])
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  }
})

test('a reader that goes early is no error', async () => {
  await using program = startProgram(['audit', '--json'], { VOICE_AGENT_STATE_DIR: folder.path })
  program.process.stdout.destroy()
  expect(await program.exited).toBe(0)
  expect(program.stderr()).toBe('')
})

test.skipIf(!existsSync('/dev/full'))('a full disk is no success', async () => {
  await using program = startInShell('exec 1>/dev/full', ['audit', '--json'], {
    VOICE_AGENT_STATE_DIR: folder.path,
  })
  expect(await program.exited).toBe(4)
})
