import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { Fixture } from '../../src/sandbox/fixture/fixture.ts'
import { scratchFolder, startProgram } from '../harness/program.ts'
import { sandboxKeys, seedIds, startSandbox } from '../harness/sandbox.ts'

const described = {
  account: 'Garage Weber',
  agents: [
    { name: 'Werkstatt', language: 'de-de', initial_message: { message: 'Garage Weber!' } },
    { name: 'Front desk', note: 'Answers in English.', max_duration_seconds: 60 },
  ],
  sip_trunks: [{ name: 'Main', termination_uri: 'sip.weber.example' }],
  phone_numbers: [
    { number: '+493023125900', name: 'Office', sip_trunk: 'Main', inbound_agent: 'Werkstatt' },
  ],
  calls: [
    {
      agent: 'Werkstatt',
      contact_number: '+493023125901',
      ago: '1d 2h 30m',
      messages: [
        { role: 'agent', message: 'Garage Weber!' },
        { role: 'user', message: 'Ist mein Auto fertig?' },
      ],
    },
    {
      agent: 'Front desk',
      direction: 'outbound',
      started: '2026-11-20T10:00:00+01:00',
      status: 'failed',
    },
    { agent: 'Front desk', type: 'web', ago: '5m', duration_seconds: 42, external_id: 'w-1' },
  ],
  subaccounts: [{ name: 'Branch', agents: [{ name: 'Branch line' }] }],
}

describe('a fixture', () => {
  test('is all that a new sandbox has', async () => {
    using sandbox = startSandbox({ seed: Fixture.parse(described) })
    const get = async (path: string, key?: string) => (await sandbox.get(path, key)).body
    expect((await get('accounts/current')).name).toBe('Garage Weber')
    const agents = await get('accounts/me/agents')
    expect(agents.items).toMatchObject([
      { name: 'Front desk', max_duration_seconds: 60, voice: { language: 'en-us' } },
      {
        name: 'Werkstatt',
        voice: { language: 'de-de', voice_id: expect.stringContaining('de-de') },
      },
    ])
    expect((await get('accounts/me/phone-numbers')).items).toMatchObject([
      {
        friendly_name: 'Office',
        sip_trunk: { name: 'Main' },
        inbound_agent: { name: 'Werkstatt' },
      },
    ])
    const { items } = await get('accounts/me/conversations')
    expect(items).toMatchObject([
      { type: 'web', duration_seconds: 42, status: 'completed' },
      {
        direction: 'inbound',
        contact_number: '+493023125901',
        phone_number: '+493023125900',
        start_timestamp: new Date(sandbox.now() - 26.5 * 3_600_000).toISOString(),
        messages: [{ role: 'agent' }, { role: 'user', message: 'Ist mein Auto fertig?' }],
      },
      { direction: 'outbound', status: 'failed', duration_seconds: 0 },
    ])
    const usage = await get('accounts/me/analytics/usage?granularity=month')
    expect(JSON.stringify(usage.data)).toContain('"conversations":2')
    expect((await get('accounts/me/agents', sandboxKeys.subaccount)).items).toMatchObject([
      { name: 'Branch line' },
    ])
  })

  test('in the documentation is valid', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')
    const [, json = ''] = /<!-- fixture -->\n```json\n(.*?)```/s.exec(text) ?? []
    using sandbox = startSandbox({ seed: Fixture.parse(JSON.parse(json)) })
    expect(sandbox.now()).toBeGreaterThan(0)
  })

  test('shows calls that have not ended as in progress', async () => {
    const calls = [{ agent: 'Line', ago: '1m', duration_seconds: 3600 }]
    using sandbox = startSandbox({ seed: Fixture.parse({ agents: [{ name: 'Line' }], calls }) })
    const { items } = (await sandbox.get('accounts/me/calls')).body
    expect(items).toMatchObject([{ status: 'in_progress', duration_seconds: 56 }])
  })

  test.each([
    ['user_busy', 2],
    ['user_rejected', 6],
    ['user_unavailable', 30],
  ])(
    'of a call that ends with %s has the ring time of a placed call',
    async (answer_status, seconds) => {
      const started = '2026-01-05T10:00:00Z'
      const calls = [{ agent: 'Line', started, status: 'failed', answer_status }]
      using sandbox = startSandbox({ seed: Fixture.parse({ agents: [{ name: 'Line' }], calls }) })
      const { items } = (await sandbox.get('accounts/me/calls')).body
      expect(Date.parse(items[0].modified) - Date.parse(started)).toBe(seconds * 1000)
    },
  )

  const problems: [string, object, RegExp][] = [
    ['an unknown field', { agent: [] }, /Unrecognized key: "agent"/],
    ['an unknown field of an agent', { agents: [{ name: 'A', nam: 1 }] }, /agents\[0\]/],
    [
      'an unknown name of an agent',
      { agents: [{ name: 'A' }], calls: [{ agent: 'B', ago: '1h' }] },
      /Known names: A\s+→ at calls\[0\]\.agent/,
    ],
    [
      'an unknown name of a trunk',
      { phone_numbers: [{ number: '+493023125900', sip_trunk: 'B' }] },
      /Known names: none\s+→ at phone_numbers\[0\]\.sip_trunk/,
    ],
    ['a name twice', { agents: [{ name: 'A' }, { name: 'A' }] }, /twice\s+→ at agents\[1\]\.name/],
    [
      'no time',
      { agents: [{ name: 'A' }], calls: [{ agent: 'A' }] },
      /either ago or started\s+→ at calls\[0\]/,
    ],
    [
      'a wrong time',
      { agents: [{ name: 'A' }], calls: [{ agent: 'A', ago: 'yesterday' }] },
      /"3d 4h" or "90m"\s+→ at calls\[0\]\.ago/,
    ],
    [
      'a name of the parent account in a subaccount',
      {
        agents: [{ name: 'A' }],
        subaccounts: [{ name: 'S', calls: [{ agent: 'A', ago: '1h' }] }],
      },
      /subaccounts\[0\]\.calls\[0\]\.agent/,
    ],
    [
      'characters that control a terminal',
      { agents: [{ name: '\u001b[2J\u202e' }], calls: [{ agent: 'B', ago: '1h' }] },
      /Known names: \\u001b\[2J\\u202e\n/,
    ],
    [
      'a number of a web call',
      {
        agents: [{ name: 'A' }],
        calls: [{ agent: 'A', ago: '1h', type: 'web', contact_number: '+493023125901' }],
      },
      /has no number\s+→ at calls\[0\]\.contact_number/,
    ],
    [
      'a duration of a call that nobody answered',
      {
        agents: [{ name: 'A' }],
        calls: [{ agent: 'A', ago: '1h', status: 'failed', duration_seconds: 9 }],
      },
      /lasted 0 seconds\s+→ at calls\[0\]\.duration_seconds/,
    ],
  ]
  test.each(problems)(
    'with %s is refused, and the invalid field is named',
    async (_, content, message) => {
      using folder = scratchFolder()
      const fixture = join(folder.path, 'fixture.json')
      writeFileSync(fixture, JSON.stringify(content))
      await using program = sandboxProgram(folder.path, '--fixture', fixture)
      expect(await program.exited).toBe(1)
      expect(program.stderr()).toMatch(message)
      expect(program.stderr()).toContain(fixture)
    },
  )
})

const sandboxProgram = (folder: string, ...more: string[]) =>
  startProgram(['sandbox', '--port', '0', '--sandbox-db', join(folder, 'sandbox.db'), ...more])

const agentsOf = async (program: ReturnType<typeof startProgram>): Promise<string[]> => {
  const [, url] = await program.waitFor(/sandbox API at (\S+)\/v1/)
  const response = await fetch(`${url}/v1/accounts/me/agents`, {
    headers: { 'x-api-key': 'sandbox-key' },
  })
  const { items } = (await response.json()) as { items: { name: string }[] }
  return items.map(({ name }) => name)
}

describe('--reset', () => {
  test('is required if the file has data, and changes no other file', async () => {
    using folder = scratchFolder()
    const fixture = join(folder.path, 'fixture.json')
    writeFileSync(fixture, JSON.stringify(described))
    {
      await using first = sandboxProgram(folder.path)
      expect(await agentsOf(first)).toHaveLength(3)
    }
    {
      await using refused = sandboxProgram(folder.path, '--fixture', fixture)
      expect(await refused.exited).toBe(1)
      expect(refused.stderr()).toMatch(/has data already.*--reset/)
    }
    {
      await using filled = sandboxProgram(folder.path, '--fixture', fixture, '--reset')
      expect(await agentsOf(filled)).toEqual(['Front desk', 'Werkstatt'])
    }
    // Without the flags the data is kept.
    {
      await using later = sandboxProgram(folder.path)
      expect(await agentsOf(later)).toEqual(['Front desk', 'Werkstatt'])
    }
    await using afresh = sandboxProgram(folder.path, '--reset')
    expect(await agentsOf(afresh)).toHaveLength(3)
    expect(JSON.parse(readFileSync(fixture, 'utf8'))).toEqual(described)
  })

  test('gives the sandbox another id, so that its calls are not taken for earlier ones', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    const idOf = async (isReset: boolean) => {
      using sandbox = startSandbox({ file, isReset })
      return (await sandbox.get('accounts/current')).body.sandbox_id
    }
    const id = await idOf(false)
    expect(await idOf(false)).toBe(id)
    expect(await idOf(true)).not.toBe(id)
  })

  test('resets the counts of a server that has the file open', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    using running = startSandbox({ file })
    const path = 'accounts/me/calls'
    const before = (await running.get(path)).body.count
    const call = { type: 'web', agent_id: seedIds.supportAgent }
    await running.send('POST', path, call)
    expect((await running.get(path)).body.count).toBe(before + 1)
    using _ = startSandbox({ file, isReset: true })
    expect((await running.get(path)).body.count).toBe(before)
  })

  test('never empties a database of another program', () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'other.db')
    const other = new DatabaseSync(file)
    other.exec('CREATE TABLE mine (text TEXT); INSERT INTO mine VALUES (1)')
    other.close()
    expect(() => startSandbox({ file, isReset: true })).toThrow(/another program/)
    const again = new DatabaseSync(file)
    expect(again.prepare('SELECT count(*) AS rows FROM mine').get()).toEqual({ rows: 1 })
    again.close()
  })

  test('empties a file of another version', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    startSandbox({ file })[Symbol.dispose]()
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    expect(() => startSandbox({ file })).toThrow(/another version/)
    using sandbox = startSandbox({ file, isReset: true })
    expect((await sandbox.get('accounts/me/agents')).body.count).toBe(3)
  })
})
