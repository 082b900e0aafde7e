import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callStopNote } from '../../../src/state/call-stop.ts'
import { createSqliteJournal } from '../../../src/state/sqlite/sqlite-call-journal.ts'
import { tokenOf } from '../../harness/answering-client.ts'
import { connectHttp, errorOf, type TestClient } from '../../harness/client.ts'
import { examine } from '../../harness/doctor.ts'
import { scratchFolder, startHttpProgram, startProgram } from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'

/*
 * An operator stops all calls of two servers, each a process of the built program, with one state
 * folder.
 */

const key = { 'x-api-key': 'sk-0123456789' }
const folder = scratchFolder()
let platform: Awaited<ReturnType<typeof startRunningCallsPlatform>>
let first: TestClient
let second: TestClient
const opened = new AsyncDisposableStack()

const startServer = async (more: Record<string, string> = {}) => {
  const env = {
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_STATE_DIR: folder.path,
    VOICE_AGENT_CONFIRM: 'never',
    ...more,
  }
  const server = opened.use(await startHttpProgram(env))
  return opened.use(await connectHttp('v2 2026-07-28', server.url, key))
}

beforeAll(async () => {
  platform = opened.use(await startRunningCallsPlatform())
  first = await startServer()
  second = await startServer()
}, 60_000)
afterAll(async () => {
  await opened.disposeAsync()
  folder[Symbol.dispose]()
})
beforeEach(() => command('resume'))

async function command(...words: string[]) {
  await using program = startProgram(['calls', ...words], { VOICE_AGENT_STATE_DIR: folder.path })
  const code = await program.exited
  return { code, text: program.stdout() + program.stderr() }
}

const ofSandbox = { VOICE_AGENT_STATE_DIR: folder.path, VOICE_AGENT_SANDBOX_DB: ':memory:' }

/** Calls a tool with `voice-agent-mcp call` in the sandbox. */
async function called(...words: string[]) {
  await using program = startProgram(['call', '--confirm', 'never', ...words], ofSandbox)
  const code = await program.exited
  return { code, text: program.stdout() + program.stderr() }
}

let calls = 0
const callTo = (more: object = {}) => ({
  type: 'phone',
  agent_id: platform.agent.id,
  from_number: '+493023125000',
  to_number: '+493023125101',
  external_id: `stopped-${calls++}`,
  ...more,
})

async function isRefused(client: TestClient, args: object = callTo()): Promise<string> {
  const before = platform.dialled.length
  const result = await client.call('place_call', { ...args })
  expect(errorOf(result)).toMatchObject({
    kind: 'not_allowed',
    rule: 'calls_stopped',
    retryable: false,
  })
  expect(platform.dialled).toHaveLength(before)
  return result.content[0]?.text ?? ''
}
const isPlaced = async (client: TestClient, args: object = callTo()) => {
  const before = platform.dialled.length
  expect((await client.call('place_call', { ...args })).isError).toBeFalsy()
  expect(platform.dialled).toHaveLength(before + 1)
}

describe('an operator who stops calls', () => {
  test('stops the calls of all servers, with who, when and why, until they are resumed', async () => {
    await isPlaced(first)
    const started = new Date().toISOString()
    expect((await command('stop', '--by', 'Ada', '--reason', 'wrong list')).code).toBe(0)
    for (const client of [first, second]) {
      const text = await isRefused(client)
      expect(text).toContain('by Ada: wrong list.')
      expect(text).toContain('voice-agent-mcp calls resume')
      const [at = ''] = /20\d\d-[\dT:.-]+Z/.exec(text) ?? []
      expect(at >= started && at <= new Date().toISOString()).toBe(true)
    }
    expect((await command('status')).text).toContain('by Ada: wrong list.')
    await command('resume')
    for (const client of [first, second]) await isPlaced(client)
  })

  test('stops the calls of a server that starts later, too', async () => {
    await command('stop')
    await isRefused(await startServer())
  })

  test('stops a list between its calls', async () => {
    const before = platform.dialled.length
    const list = Array.from({ length: 20 }, (_, at) => ({ to_number: `+4930231252${at + 10}` }))
    const { agent_id, from_number } = callTo()
    const placing = first.value('place_calls', { agent_id, from_number, calls: list })
    await expect.poll(() => platform.dialled.length).toBeGreaterThan(before + 1)
    await command('stop')
    const stopped = platform.dialled.length
    const { calls: outcomes } = await placing
    // One more call may have been on its way.
    expect(platform.dialled.length).toBeLessThanOrEqual(stopped + 1)
    const placed = platform.dialled.length - before
    expect(placed).toBeLessThan(15)
    const rest = (outcomes as { outcome: string; problem?: string }[]).slice(placed)
    expect(rest.map(({ outcome }) => outcome)).toEqual(rest.map(() => 'not_allowed'))
    expect(rest[0]?.problem).toContain('calls_stopped')
  })

  test('stops a call that was confirmed before', async () => {
    const asking = await startServer({ VOICE_AGENT_CONFIRM: 'always' })
    const args = callTo()
    const confirm_token = tokenOf(await asking.call('place_call', args))
    await command('stop')
    await isRefused(asking, { ...args, confirm_token })
    await command('resume')
    await isPlaced(asking, { ...args, confirm_token })
  })

  test('stops calls from the terminal, and those of the sandbox', async () => {
    await command('stop')
    const { code, text } = await called('place_call', '--type', 'web', '--agent-id', 'Support line')
    expect(code).toBe(3)
    expect(text).toContain('calls_stopped')
  })

  test('is shown by doctor and by the check before a call', async () => {
    await command('stop', '--by', 'Ada')
    const { check } = await examine(ofSandbox)
    expect(check('calls')).toMatchObject({
      status: 'yellow',
      text: expect.stringContaining('by Ada'),
      todo: expect.stringContaining('calls resume'),
    })
    const numbers = ['--from-number', '+12025550110', '--to-number', '+12025550101']
    const ready = await called('check_call_readiness', '--agent-id', 'Support line', ...numbers)
    expect(ready.text).toMatch(/by Ada\..*\(calls_stopped\)/)
  })

  test("stops calls even if the stop's details cannot be read", async () => {
    const journal = createSqliteJournal(join(folder.path, 'calls.db'), '--state-dir')
    await journal.writeNote(callStopNote, '{')
    await journal.close()
    const before = platform.dialled.length
    const result = await first.call('place_call', callTo())
    expect(errorOf(result).kind).toBe('state_unavailable')
    expect(platform.dialled).toHaveLength(before)
    expect((await command('resume')).code).toBe(0)
    await isPlaced(first)
  })
})

test('a command with wrong arguments or an unusable state is an error', async () => {
  for (const [words, message] of [
    [[], /calls stop, calls resume, calls status/],
    [['pause'], /calls stop, calls resume, calls status/],
    [['stop', '--state-dir', ':memory:'], /:memory:/],
    [['stop', '--reason', 'x'.repeat(201)], /\b200\b/],
  ] as const) {
    const { code, text } = await command(...words)
    expect(code).not.toBe(0)
    expect(text).toMatch(message)
  }
})
