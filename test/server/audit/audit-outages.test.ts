import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { auditFolder } from '../../harness/audit-folder.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { jsonLog } from '../../harness/json-log.ts'
import { startHttpProgram, startProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'

const own = '00000000-0000-4000-8001-000000000001'
const key = 'sk-0123456789abcdef'

/** A state folder in which the audit trail cannot be written. */
function brokenFolder() {
  const folder = auditFolder()
  for (const name of ['audit.db', 'sandbox-audit.db'])
    writeFileSync(join(folder.path, name), 'x'.repeat(5000))
  return folder
}

const create = (url: string, name: string) =>
  rpc(url, 'tools/call', { name: 'create_subaccount', arguments: { name } }, { key })

describe('while the audit trail cannot be written', () => {
  test('changes go on, the log says so, and the other place has them', async () => {
    using folder = brokenFolder()
    const env = { ...folder.env, VOICE_AGENT_AUDIT_LOG: folder.log, VOICE_AGENT_LOG: 'json' }
    await using program = await startHttpProgram(env)
    const name = { name: 'A' }
    const { result } = await rpc(program.url, 'tools/call', {
      name: 'create_subaccount',
      arguments: name,
    })
    expect(result.isError).toBeFalsy()
    await expect.poll(() => folder.lines().map(({ outcome }) => outcome)).toContain('done')
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    const errors = jsonLog(program.stderr()).filter(({ level }) => level === 'error')
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/audit\.db/),
      expect.stringMatching(/^1 /),
    ])
  })

  // /proc answers ENOENT for a new folder, so that a recursive mkdir would try without end.
  test.runIf(process.platform === 'linux')('a folder that cannot be made is an error', async () => {
    await using program = startProgram([
      ...['call', '--sandbox-db', ':memory:', '--audit-failure', 'refuse'],
      ...['--audit-log', '/proc/none/audit.jsonl', 'create_subaccount', '--name', 'A'],
    ])
    expect(await program.exited).toBe(3)
    expect(program.stderr()).toContain('/proc/none')
  })

  test('nothing is changed and nobody is called where the operator wants it so', async () => {
    using folder = brokenFolder()
    await using platform = await startRunningCallsPlatform()
    const env = { ...folder.env, VOICE_AGENT_AUDIT_FAILURE: 'refuse' }
    const call = {
      type: 'phone',
      agent_id: platform.agent.id,
      from_number: '+12025550110',
      to_number: '+12025550120',
    }
    const place = async (url: string) =>
      (await rpc(url, 'tools/call', { name: 'place_call', arguments: call }, { key })).result
    {
      await using program = await startHttpProgram({ ...env, ...platform.env })
      const refused = await place(program.url)
      expect(refused).toMatchObject({
        isError: true,
        _meta: { 'voice-agent-mcp/error': { kind: 'not_recorded', advice: 'not_recorded' } },
      })
      expect(JSON.stringify(refused)).not.toContain(folder.path)
      expect(program.stderr()).toMatch(/audit\.db/)
      const { result } = await rpc(
        program.url,
        'tools/call',
        { name: 'list_calls', arguments: {} },
        { key },
      )
      expect(result.isError).toBeFalsy()
    }
    expect(platform.dialled).toEqual([])
    // The call was not sent, so the same request places it as soon as it can be audited.
    await using other = await startHttpProgram({
      ...env,
      ...platform.env,
      VOICE_AGENT_AUDIT_DAYS: '0',
      VOICE_AGENT_AUDIT_LOG: folder.log,
    })
    expect((await place(other.url)).isError).toBeFalsy()
    expect(platform.dialled).toHaveLength(1)
    await expect
      .poll(() => folder.lines().map(({ outcome }) => outcome))
      .toEqual(['begun', 'sent', 'done'])
  })

  test('what records nothing cannot be asked to refuse', async () => {
    await using program = startProgram(['http', '--port', '0'], {
      VOICE_AGENT_STATE_DIR: ':memory:',
      VOICE_AGENT_AUDIT_FAILURE: 'refuse',
    })
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/--audit-failure .*\brefuse\b/)
  })
})

test('a server that is killed while a change is under way leaves a trace of it', async () => {
  using folder = auditFolder()
  // The platform never replies.
  await using platform = await startFakePlatform(() => undefined, { account: own })
  const env = { ...folder.env, VOICE_AGENT_BASE_URL: platform.url }
  await using program = await startHttpProgram(env)
  create(program.url, 'A').catch(() => undefined)
  await expect.poll(() => platform.seen.length).toBe(1)
  program.process.kill('SIGKILL')
  await program.exited
  expect(await folder.stored('audit.db')).toMatchObject([
    {
      tool: 'create_subaccount',
      outcome: 'begun',
      account_id: own,
      arguments: { name: 'A' },
      writes: [{ operation: 'subaccounts.create', outcome: 'sent' }],
    },
  ])
})

test.each([
  ['a file', (folder: ReturnType<typeof auditFolder>) => folder.log],
  ['standard error', () => '-'],
])(
  'a server that is killed in the middle of a list leaves whom it has called: in the state and in %s',
  async (_, logOf) => {
    using folder = auditFolder()
    await using platform = await startRunningCallsPlatform()
    await using program = await startHttpProgram({
      ...folder.env,
      ...platform.env,
      VOICE_AGENT_AUDIT_LOG: logOf(folder),
      VOICE_AGENT_AUDIT_PHONE_NUMBERS: 'on',
      VOICE_AGENT_LOG: 'json',
    })
    const numbers = Array.from({ length: 50 }, (_, nth) => `+12025550${130 + nth}`)
    const list = {
      agent_id: platform.agent.id,
      from_number: '+12025550110',
      calls: numbers.map((to_number) => ({ to_number })),
    }
    const call = { name: 'place_calls', arguments: list }
    rpc(program.url, 'tools/call', call, { key }).catch(() => undefined)
    await expect.poll(() => platform.dialled.length, { timeout: 40_000, interval: 5 }).toBe(45)
    program.process.kill('SIGKILL')
    await program.exited
    const rung = platform.dialled.map(({ to_number, external_id }) => ({ to_number, external_id }))
    expect(rung).toHaveLength(45)
    const [entry] = await folder.stored('audit.db')
    expect(entry).toMatchObject({ tool: 'place_calls', outcome: 'begun' })
    const lines = [...folder.lines(), ...jsonLog(program.stderr())]
    const calls = lines.filter(({ event }) => event === 'audit_call')
    for (const found of [entry?.writes ?? [], calls])
      expect(found.map(({ to_number, external_id }) => ({ to_number, external_id }))).toEqual(rung)
    expect(calls[0]).toEqual({
      ...{ time: expect.any(String), level: 'notice', event: 'audit_call', id: expect.any(String) },
      ...{ entry: entry?.id, platform: platform.url, tool: 'place_calls', key: entry?.key },
      ...{ operation: 'calls.place', account_id: 'own', outcome: 'sent', ...rung[0] },
    })
    expect(JSON.stringify(calls[0]).length).toBeLessThan(500)
  },
  60_000,
)

test('a call whose answer was lost is done once it was found', async () => {
  using folder = auditFolder()
  const calls: Record<string, unknown>[] = []
  const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Wired' }
  await using platform = await startFakePlatform(
    ({ method, url, body }, res) => {
      if (url.includes('/agents')) return json(res, 200, agent)
      if (method === 'GET') return json(res, 200, { items: calls, count: calls.length })
      calls.push({
        ...JSON.parse(body),
        id: 'call-1',
        status: 'in_progress',
        created: new Date().toISOString(),
      })
      res.socket?.destroy()
    },
    { account: own },
  )
  const env = { ...folder.env, VOICE_AGENT_BASE_URL: platform.url }
  await using program = await startHttpProgram({
    ...env,
    VOICE_AGENT_AUDIT_LOG: '-',
    VOICE_AGENT_AUDIT_PHONE_NUMBERS: 'on',
    VOICE_AGENT_LOG: 'json',
  })
  const numbers = { from_number: '+12025550110', to_number: '+12025550120' }
  const { result } = await rpc(
    program.url,
    'tools/call',
    { name: 'place_call', arguments: { type: 'phone', agent_id: agent.id, ...numbers } },
    { key },
  )
  expect(result.isError).toBeFalsy()
  expect(await folder.ended(1, 'audit.db')).toMatchObject([
    {
      outcome: 'done',
      arguments: numbers,
      writes: [{ outcome: 'done', made_id: 'call-1', to_number: '+12025550120' }],
    },
  ])
  const lines = () => jsonLog(program.stderr()).filter(({ event }) => event === 'audit')
  await expect.poll(() => lines().map(({ outcome }) => outcome)).toEqual(['begun', 'done'])
})
