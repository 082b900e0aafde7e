import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectStdio } from '../../harness/client.ts'
import { examine } from '../../harness/doctor.ts'
import { bin, cleanEnv, freePort, scratchFolder } from '../../harness/program.ts'
import { seedIds } from '../../harness/sandbox.ts'

const memory = { VOICE_AGENT_SANDBOX_DB: ':memory:' }

test('without a key it says that this is the sandbox, and checks no network', async () => {
  const { code, check } = await examine(memory)
  expect(code).toBe(0)
  expect(check('platform')).toMatchObject({
    status: 'green',
    text: expect.stringMatching(/ :memory:\..*VOICE_AGENT_API_KEY/),
  })
  for (const name of ['dns', 'tls', 'api_key', 'contract']) {
    expect(check(name).status).toBe('skipped')
  }
})

test('a misspelt variable is red, and an unknown one is yellow', async () => {
  const misspelt = await examine({ ...memory, VOICE_AGENT_READONLY: 'true' })
  expect(misspelt.check('configuration')).toMatchObject({ status: 'red' })
  expect(misspelt.check('configuration').text).toContain('VOICE_AGENT_READ_ONLY')
  const unknown = await examine({ ...memory, VOICE_AGENT_TEAM_NAME: 'blue' })
  expect(unknown.check('configuration')).toMatchObject({ status: 'yellow' })
  expect(unknown.check('configuration').text).toContain('VOICE_AGENT_TEAM_NAME')
})

test('it changes nothing on the machine', async () => {
  using folder = scratchFolder()
  await examine({ VOICE_AGENT_STATE_DIR: join(folder.path, 'state') })
  expect(readdirSync(folder.path)).toEqual([])
})

test('a check that cannot be made is red by itself, and the others are made', async () => {
  const { code, red, check } = await examine({
    ...memory,
    HOME: 'nowhere',
    VOICE_AGENT_STATE_DIR: ':memory:',
  })
  expect({ code, red }).toEqual({ code: 1, red: ['clients'] })
  expect(check('clients').text).toMatch(/\bHOME\b/)
  expect(check('platform').status).toBe('green')
})

test('a password that is a usual word is not looked for in everything', async () => {
  const port = await freePort()
  const { check } = await examine({
    ...memory,
    VOICE_AGENT_STATE_URL: `postgres://me:database@127.0.0.1:${port}/calls`,
    VOICE_AGENT_SECRET: 's'.repeat(32),
  })
  expect(check('state').text).toMatch(/database of --state-url.*ECONNREFUSED/)
})

describe('the configuration', () => {
  test('is shown with where each value comes from, without secrets', async () => {
    const { check, output } = await examine(
      { ...memory, VOICE_AGENT_CONFIRM: 'always', VOICE_AGENT_SANDBOX_LLM_KEY: 'llm-secret-1' },
      [
        '--sandbox-llm-url',
        'http://127.0.0.1:9/v1',
        '--sandbox-llm-model',
        'small',
        '--sandbox-speed',
        '5',
      ],
    )
    const { status, details } = check('configuration')
    expect(status).toBe('green')
    expect(details.join('\n')).toMatch(/^confirm +always +\(VOICE_AGENT_CONFIRM\)$/m)
    expect(details.join('\n')).toMatch(/^sandbox-speed +5 +\(--sandbox-speed\)$/m)
    expect(details.join('\n')).toMatch(/^sandbox-llm-key +\(set, not shown\)/m)
    expect(output).not.toContain('llm-secret-1')
  })

  test.each([
    ['one variable without the other', { VOICE_AGENT_API_KEY: 'k-123456' }, /API_KEY.*BASE_URL/],
    [
      'a key in place of the address',
      { VOICE_AGENT_BASE_URL: 'sk-live-4711' },
      /VOICE_AGENT_BASE_URL .*https:/,
    ],
    [
      'a variable that a client left open',
      { VOICE_AGENT_CONFIRM: '\u0024{confirm}' },
      /VOICE_AGENT_CONFIRM .*\$\{confirm\}/,
    ],
    ['a file that is not there', { VOICE_AGENT_CONFIG: '/nowhere.json' }, /\/nowhere\.json/],
    ['a number out of bounds', { VOICE_AGENT_PORT: '99999' }, /port/],
    ['a tool that does not exist', { VOICE_AGENT_TOOLS: 'list_agent' }, /list_agent/],
  ])('with %s is red, and everything else is checked', async (_, env, message) => {
    const { code, red, check, output } = await examine({ ...memory, ...env })
    expect(code).toBe(1)
    expect(red).toEqual(['configuration'])
    expect(check('configuration').text).toMatch(message)
    expect(check('state').status).toBe('green')
    expect(output).not.toContain('sk-live-4711')
  })

  test('several faults are all told', async () => {
    const { check } = await examine({
      VOICE_AGENT_API_KEY: 'k-123456',
      VOICE_AGENT_TIMEOUT: 'soon',
      VOICE_AGENT_STATE_URL: 'postgres://host',
    })
    expect(check('configuration').text).toMatch(/BASE_URL/)
    expect(check('configuration').text).toMatch(/STATE_URL/)
  })
})

describe('the state', () => {
  test('in a folder that cannot be written is red', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    const { code, red, check } = await examine({
      ...memory,
      VOICE_AGENT_STATE_DIR: join(file, 'state'),
    })
    expect({ code, red }).toEqual({ code: 1, red: ['state'] })
    expect(check('state').text).toContain(`${file} `)
    expect(check('state').todo).toContain('--state-dir')
  })

  test.skipIf(process.platform !== 'linux')('the same where the system refuses it', async () => {
    const { red, check } = await examine({ ...memory, VOICE_AGENT_STATE_DIR: '/proc/state' })
    expect(red).toEqual(['state'])
    expect(check('state').text).toMatch(/\/proc /)
  })

  test('with a file of another program is red', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox-calls.db')
    writeFileSync(file, 'this is a letter'.repeat(100))
    const { red, check } = await examine({ ...memory, VOICE_AGENT_STATE_DIR: folder.path })
    expect(red).toEqual(['state'])
    expect(check('state').text).toContain(file)
  })

  test('in a database that is away is red, without its password', async () => {
    const port = await freePort()
    const { code, red, check, output } = await examine({
      ...memory,
      VOICE_AGENT_STATE_URL: `postgres://me:sesame-4711@127.0.0.1:${port}/calls`,
      VOICE_AGENT_SECRET: 'a secret that is long enough for it 1',
    })
    expect({ code, red }).toEqual({ code: 1, red: ['state'] })
    expect(check('state').text).toMatch(/--state-url.*ECONNREFUSED/)
    expect(output).not.toMatch(/sesame|long enough/)
  })

  test('in a folder is green, and without files said to hold no call', async () => {
    using folder = scratchFolder()
    const ofFolder = async (name: string) => {
      const { check } = await examine({
        ...memory,
        VOICE_AGENT_STATE_DIR: join(folder.path, name),
      })
      const { status, text } = check('state')
      return { status, isSaid: /\bno call\b/.test(text) }
    }
    mkdirSync(join(folder.path, 'empty'))
    expect(await ofFolder('empty')).toEqual({ status: 'green', isSaid: true })
    expect(await ofFolder('missing')).toEqual({ status: 'green', isSaid: false })
    await using client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_STATE_DIR: join(folder.path, 'used') },
    })
    await client.value('place_call', {
      ...{ type: 'phone', agent_id: seedIds.supportAgent },
      ...{ from_number: '+12025550110', to_number: '+12025550100' },
    })
    expect(await ofFolder('used')).toEqual({ status: 'green', isSaid: false })
  })

  test('without the audit trail is red', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    const { red, check } = await examine({
      ...memory,
      VOICE_AGENT_STATE_DIR: folder.path,
      VOICE_AGENT_AUDIT_LOG: join(file, 'audit.log'),
    })
    expect(red).toEqual(['state'])
    expect(check('state').text).toContain(`${file} `)
    expect(check('state').todo).toContain('--audit-log')
  })

  test('a broken file of the sandbox is red', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'sandbox.db')
    writeFileSync(file, 'this is a letter'.repeat(100))
    const { red, check } = await examine({ VOICE_AGENT_SANDBOX_DB: file })
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toContain(file)
    expect(check('platform').text).not.toMatch(/\.\.|sandbox\.db.*sandbox\.db.*sandbox\.db/)
    expect(check('platform').text).toContain('-wal')
    // The advice is part of the error message.
    expect(check('platform').todo).toMatchSnapshot()
  })
})

describe('calls', () => {
  test('are explained by the policy in words', async () => {
    const policy = {
      allow_countries: ['DE', 'AT'],
      deny_prefixes: ['+49180'],
      quiet_hours: { from: '21:00', to: '08:00', days: ['sat'] },
      max_per_hour: 3,
      max_at_once: 1,
    }
    const { check } = await examine({ ...memory, VOICE_AGENT_DIAL_POLICY: JSON.stringify(policy) })
    expect(check('calls')).toMatchObject({ status: 'green' })
    expect(check('calls').details).toMatchSnapshot()
  })

  test('with a policy that cannot be read are red', async () => {
    const { red } = await examine({ ...memory, VOICE_AGENT_DIAL_POLICY: '{"allow_country": "DE"}' })
    expect(red).toEqual(['calls'])
  })

  test('of a real account without policy and question are yellow', async () => {
    const { check } = await examine({
      VOICE_AGENT_API_KEY: 'k-123456',
      VOICE_AGENT_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      VOICE_AGENT_CONFIRM: 'never',
    })
    expect(check('calls')).toMatchObject({ status: 'yellow' })
    expect(check('calls')).toMatchObject({
      text: expect.stringContaining('--confirm never'),
      todo: expect.stringContaining('--dial-policy'),
    })
  })
})

describe('the clients on the machine', () => {
  const withCursor = async (entry: object | undefined) => {
    using folder = scratchFolder()
    mkdirSync(join(folder.path, '.cursor'))
    const servers = entry ? { 'voice-agents': entry } : {}
    writeFileSync(join(folder.path, '.cursor/mcp.json'), JSON.stringify({ mcpServers: servers }))
    const { check } = await examine({ ...memory, HOME: folder.path })
    return check('clients')
  }

  test('have the server or not', async () => {
    expect(await withCursor(undefined)).toMatchObject({ status: 'yellow' })
    expect((await withCursor(undefined)).todo).toMatch(/voice-agent-mcp\.js install/)
    const found = await withCursor({ command: process.execPath, args: [bin] })
    expect(found).toMatchObject({ status: 'green' })
    expect(found.details[0]).toMatch(/^Cursor: .*sandbox/)
  })

  test('start it with what their entry says', async () => {
    const start = { command: process.execPath, args: [bin] }
    const withEnv = (url: string) => ({ ...start, env: { VOICE_AGENT_BASE_URL: url } })
    const detailOf = async (entry: object) => (await withCursor(entry)).details[0]
    expect(await detailOf(withEnv('https://api.example.com/v1?x=secret'))).toMatch(
      /^Cursor: .* https:\/\/api\.example\.com {2}\(/,
    )
    expect(await detailOf({ ...start, args: [bin, '--base-url=https://b.example'] })).toMatch(
      / https:\/\/b\.example {2}/,
    )
    const withoutFile = async (entry: object) => (await detailOf(entry))?.replace(/ {2}\(.*/, '')
    expect([
      await withoutFile(withEnv('\u0024{env:URL}')),
      await withoutFile({ ...start, args: [bin, '--config', 'x.json'] }),
    ]).toMatchSnapshot()
  })

  test('may start a file that is gone', async () => {
    const { status, details, todo } = await withCursor({ command: '/gone/bin/node', args: [bin] })
    expect(status).toBe('yellow')
    expect(details[0]).toContain(' /gone/bin/node ')
    expect(todo).toContain('install cursor')
  })
})

describe('for a person', () => {
  const run = (args: string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [bin, 'doctor', ...args], {
      env: cleanEnv({ ...memory, VOICE_AGENT_STATE_DIR: ':memory:', ...env }),
      encoding: 'utf8',
    })

  test('it is a list with what to do, without colours outside a terminal', () => {
    const { status, stdout, stderr } = run([], { VOICE_AGENT_API_KEY: 'k-123456' })
    expect(status).toBe(1)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^ERROR +Configuration +VOICE_AGENT_API_KEY /m)
    expect(stdout).toMatch(/^ +To do: /m)
    expect(stdout).toMatch(/\n1 error/)
    expect(stdout).not.toContain('\u001b')
  })

  test('a flag that does not exist is a mistake in the command line: 2', () => {
    const { status, stdout, stderr } = run(['--jason'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/'--jason'.* --json\?/)
  })
})
