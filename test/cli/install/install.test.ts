import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Machine } from '../../../src/cli/install/clients.ts'
import { clients } from '../../../src/cli/install/clients.ts'
import {
  type InstallContext,
  type InstallOptions,
  install,
  uninstall,
} from '../../../src/cli/install/install.ts'
import { type ClientHome, clientHome } from '../../harness/client-home.ts'

const key = 'sk-live-0123456789'
const baseUrl = 'https://api.example.com'
/** A reference to an environment variable, in the syntax of clients: `${inner}`. */
const reference = (inner: string) => `\${${inner}}`

const platforms = ['linux', 'darwin', 'win32'] as const

const wanted = (more: Partial<InstallOptions> = {}): InstallOptions => ({
  clients: [],
  name: 'voice-agents',
  isPrint: false,
  isYes: true,
  wantsJson: false,
  isList: false,
  flags: [],
  baseUrl: undefined,
  isSandbox: true,
  apiKey: undefined,
  mayKeyBePlain: false,
  ...more,
})

/** Options with a platform whose key is in the user's environment. */
const withKey = (more: Partial<InstallOptions> = {}) =>
  wanted({
    baseUrl,
    isSandbox: false,
    apiKey: key,
    ...more,
  })

/** A question at the terminal. */
interface Asked {
  readonly question: string
  /** Answer if the user only presses Enter. */
  readonly usual: boolean
  /** Output before the question. */
  readonly shown: string
}

/** A fake terminal whose user gives these answers. */
function installContext(machine: Machine, answers?: boolean[], script = '/opt/program.js') {
  const printed: string[] = []
  const asked: Asked[] = []
  const context: InstallContext = {
    machine,
    program: { execPath: '/opt/node', script },
    questions: answers && {
      async confirm(question, usual) {
        asked.push({ question, usual, shown: printed.join('\n') })
        return answers.shift() ?? false
      },
    },
    print: (line) => printed.push(line),
    warn: (line) => printed.push(line),
  }
  return { context, asked, text: () => printed.join('\n') }
}

interface Reported {
  readonly client: string
  readonly status: string
  readonly notes: readonly string[]
}

/** Status and notes of each client in the output of `--json`. */
async function reported(machine: Machine, options: InstallOptions) {
  const { context, text } = installContext(machine)
  const code = await install({ ...options, wantsJson: true }, context)
  const clients: Reported[] = JSON.parse(text()).clients
  const of = (field: 'status' | 'notes') =>
    Object.fromEntries(clients.map((one) => [one.client, one[field]]))
  return { code, statuses: of('status'), notes: of('notes') }
}

const clientOf = (id: string) => {
  const found = clients.find((one) => one.id === id)
  if (!found) throw new Error(`No client ${id}`)
  return found
}

const entryIn = (home: ClientHome, machine: Machine, id: string) => {
  const client = clientOf(id)
  const file = client.locate(machine).file.slice(home.path.length + 1)
  const data = client.format.read(home.read(file)) as Record<string, Record<string, unknown>>
  return { entry: data[client.servers]?.['voice-agents'], data, file }
}

describe.each(platforms)('on %s', (platform) => {
  test('every client that is named gets the server, and loses it again', async () => {
    using home = clientHome()
    const machine = home.machine(platform)
    const names = clients.map(({ id }) => id)
    const { context } = installContext(machine)
    expect(await install(wanted({ clients: names }), context)).toBe(0)
    for (const id of names) {
      const command = id === 'goose' ? { cmd: '/opt/node' } : { command: '/opt/node' }
      expect(entryIn(home, machine, id).entry, id).toMatchObject({
        ...command,
        args: ['/opt/program.js'],
      })
    }
    expect(await uninstall(wanted({ clients: names }), context)).toBe(0)
    for (const id of names) expect(entryIn(home, machine, id).entry, id).toBeUndefined()
  })

  test('without names it is every client that is found', async () => {
    using home = clientHome()
    const machine = home.machine(platform)
    for (const id of ['zed', 'claude-code', 'vscode']) {
      mkdirSync(clientOf(id).locate(machine).signs[0] ?? '', { recursive: true })
    }
    const { context, text } = installContext(machine)
    expect(await install(wanted(), context)).toBe(0)
    const titles = text().match(/^\S.*?(?=: \/)/gm)
    expect(titles).toEqual(['Claude Code', 'VS Code', 'Zed'])
    expect(text()).toContain('built-in sandbox')
  })
})

describe('the key', () => {
  const referred: Record<string, unknown> = {
    'claude-code': { env: { VOICE_AGENT_API_KEY: reference('VOICE_AGENT_API_KEY:-') } },
    cursor: { env: { VOICE_AGENT_API_KEY: reference('env:VOICE_AGENT_API_KEY') } },
    vscode: { env: { VOICE_AGENT_API_KEY: reference('input:voice-agents-api-key') } },
    'vscode-insiders': { env: { VOICE_AGENT_API_KEY: reference('input:voice-agents-api-key') } },
    windsurf: { env: { VOICE_AGENT_API_KEY: reference('env:VOICE_AGENT_API_KEY') } },
    codex: { env: { VOICE_AGENT_BASE_URL: baseUrl }, env_vars: ['VOICE_AGENT_API_KEY'] },
    gemini: { env: { VOICE_AGENT_API_KEY: reference('VOICE_AGENT_API_KEY') } },
    zed: { env: { VOICE_AGENT_BASE_URL: baseUrl } },
    goose: { envs: { VOICE_AGENT_BASE_URL: baseUrl }, env_keys: ['VOICE_AGENT_API_KEY'] },
  }

  test('is where the client keeps secrets, or a reference, and never in the file or the output', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const names = Object.keys(referred)
    const planned = await reported(machine, withKey({ clients: names, isPrint: true }))
    expect(planned.notes).toMatchSnapshot()
    const { context, text } = installContext(machine)
    expect(await install(withKey({ clients: names }), context)).toBe(0)
    expect(names.length).toBe(clients.length - 1)
    for (const id of names) {
      const { entry, file } = entryIn(home, machine, id)
      expect(entry, id).toMatchObject(referred[id] as object)
      expect(home.read(file), id).not.toContain(key)
    }
    expect(entryIn(home, machine, 'vscode').data.inputs).toEqual([
      expect.objectContaining({ type: 'promptString', id: 'voice-agents-api-key', password: true }),
    ])
    expect(text()).not.toContain(key)
  })

  test('in plain text is asked about, once, and makes the file private', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const file = '.config/Claude/claude_desktop_config.json'
    const { context, asked, text } = installContext(machine, [false, true])
    home.write(file, '{"mcpServers":{"b":{"command":"x"}}}')
    const options = withKey({ clients: ['claude-desktop'], isYes: false })
    expect(await install(options, context)).toBe(0)
    expect(home.read(file)).not.toContain('voice-agents')
    expect(await install(options, context)).toBe(0)
    expect(asked).toMatchObject(
      Array(2).fill({ question: expect.stringContaining('Claude Desktop'), usual: false }),
    )
    expect(entryIn(home, machine, 'claude-desktop').entry).toMatchObject({
      env: { VOICE_AGENT_API_KEY: key },
    })
    expect(text()).not.toContain(key)
    expect(text()).toContain('(not shown)')
    const folder = join(home.path, dirname(file))
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600)
    }
  })

  test('in plain text is not written with --yes alone, or without the key', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const refused = await reported(machine, withKey({ clients: ['claude-desktop'] }))
    expect(refused).toMatchObject({ code: 1, statuses: { 'claude-desktop': 'failed' } })
    expect(refused.notes['claude-desktop']).toEqual([expect.stringContaining('--key-in-files')])
    const noKey = withKey({ clients: ['claude-desktop'], apiKey: undefined })
    const missing = await reported(machine, noKey)
    expect(missing).toMatchObject({ code: 1, statuses: { 'claude-desktop': 'failed' } })
    expect(missing.notes['claude-desktop']).toEqual([
      expect.stringMatching(/^(?!.*--key-in-files).*VOICE_AGENT_API_KEY/),
    ])
    expect(readdirSync(home.path)).toEqual([])
  })

  test('in plain text everywhere is what --key-in-files means; a later install takes it out', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const first = await reported(machine, withKey({ clients: ['codex'], mayKeyBePlain: true }))
    expect(first).toMatchObject({ code: 0, statuses: { codex: 'written' } })
    expect(entryIn(home, machine, 'codex').entry).toMatchObject({
      env: { VOICE_AGENT_API_KEY: key },
    })
    const later = await reported(machine, withKey({ clients: ['codex'] }))
    expect(later).toMatchObject({ code: 0, statuses: { codex: 'written' } })
    expect(entryIn(home, machine, 'codex').entry).toMatchObject({
      env: { VOICE_AGENT_BASE_URL: baseUrl },
      env_vars: ['VOICE_AGENT_API_KEY'],
    })
    expect(home.read('.codex/config.toml')).not.toContain(key)
    expect(JSON.stringify([first, later])).not.toContain(key)
    // The later note also mentions the backup.
    expect([first.notes, later.notes]).toMatchSnapshot()
  })
})

describe('a server that is there', () => {
  test('keeps what a person has added, and other servers stay', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const before = `{
  // mine
  "mcpServers": {
    "other": { "command": "x", "env": { "TOKEN": "s3cret" } },
    "voice-agents": {
      "command": "old", // by hand
      "args": ["a"],
      "env": { "VOICE_AGENT_CONFIRM": "always", "VOICE_AGENT_API_KEY": "old-key" },
      "disabled": true
    }
  }
}
`
    home.write('.cursor/mcp.json', before)
    const { context, text } = installContext(machine)
    expect(await install(wanted({ clients: ['cursor'] }), context)).toBe(0)
    expect(home.read('.cursor/mcp.json')).toBe(
      before
        .replace('"old"', '"/opt/node"')
        .replace('["a"]', '["/opt/program.js"]')
        .replace(', "VOICE_AGENT_API_KEY": "old-key"', ''),
    )
    expect(text()).not.toMatch(/s3cret|old-key/)
    expect(await reported(machine, wanted({ clients: ['cursor'] }))).toMatchObject({
      code: 0,
      statuses: { cursor: 'unchanged' },
    })
  })

  test.each(clients.map(({ id }) => id))(
    'of %s keeps its account and its limits when it is renewed',
    async (id) => {
      using home = clientHome()
      const machine = home.machine('linux')
      const { context, text } = installContext(machine, undefined, '/opt/new.js')
      const old = installContext(machine, undefined, '/opt/old.js')
      const flags = ['--account', 'acc-1', '--read-only']
      const mayKeyBePlain = id === 'claude-desktop'
      await install(withKey({ clients: [id], mayKeyBePlain, flags }), old.context)
      const before = entryIn(home, machine, id)
      const data = JSON.stringify(before.data)
      expect(data).toContain('--read-only')

      expect(await install(wanted({ clients: [id] }), context)).toBe(0)
      expect(entryIn(home, machine, id).data).toEqual(
        JSON.parse(data.replace('/opt/old.js', '/opt/new.js')),
      )
      expect(old.text() + text()).not.toContain(key)

      const other = ['--account', 'acc-2', '--toolsets', 'calls']
      await install(wanted({ clients: [id], flags: other }), context)
      const renewed = JSON.stringify(entryIn(home, machine, id).data)
      expect(renewed).toContain('"--account","acc-2","--toolsets","calls","--read-only"]')
      expect(renewed).not.toContain('acc-1')
      expect(renewed).toContain(baseUrl)
    },
  )

  test('loses the flags of its account when another is given', async () => {
    using home = clientHome()
    const { context, text } = installContext(home.machine('linux'))
    const flags = ['--base-url=https://old.example.com', '--api-key', 's3cret', '--log', 'json']
    const entry = { command: '/opt/node', args: ['/opt/old.js', ...flags], env: {} }
    home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { 'voice-agents': entry } }))
    await install(withKey({ clients: ['cursor'] }), context)
    const after = JSON.parse(home.read('.cursor/mcp.json')).mcpServers['voice-agents']
    expect(after.args).toEqual(['/opt/program.js', '--log', 'json'])
    expect(after.env).toMatchObject({ VOICE_AGENT_BASE_URL: baseUrl })
    expect(text()).not.toContain('s3cret')
  })

  test('loses the address among its flags when a file of settings is given', async () => {
    using home = clientHome()
    const { context } = installContext(home.machine('linux'))
    const args = ['/opt/old.js', '--base-url', 'https://old.example.com', '--read-only']
    const entry = { command: '/opt/node', args }
    home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { 'voice-agents': entry } }))
    const flags = ['--config', '/etc/voice.json']
    await install(wanted({ clients: ['cursor'], isSandbox: false, flags }), context)
    const after = JSON.parse(home.read('.cursor/mcp.json')).mcpServers['voice-agents']
    expect(after.args).toEqual(['/opt/program.js', ...flags, '--read-only'])
  })

  test.each([
    ['a file of settings', ['--config', '/etc/voice.json'], {}],
    ['a flag', ['--base-url=https://api.example.com'], {}],
    ['the variable of a file', [], { VOICE_AGENT_CONFIG: '/etc/voice.json' }],
  ])('keeps its key where %s names the platform', async (_, flags, more) => {
    using home = clientHome()
    const { context } = installContext(home.machine('linux'))
    const env = { ...more, VOICE_AGENT_API_KEY: 'old-key' }
    const entry = { command: '/opt/node', args: ['/opt/old.js', ...flags], env }
    home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { 'voice-agents': entry } }))
    expect(await install(wanted({ clients: ['cursor'] }), context)).toBe(0)
    expect(JSON.parse(home.read('.cursor/mcp.json')).mcpServers['voice-agents']).toEqual({
      ...entry,
      args: ['/opt/program.js', ...flags],
    })
  })

  test('on the network is replaced', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    home.write(
      '.codex/config.toml',
      '[mcp_servers.voice-agents]\nurl = "https://x/mcp"\n[mcp_servers.voice-agents.http_headers]\nX-API-Key = "s3cret"\n\n[a]\nb = 1\n',
    )
    const { context, text } = installContext(machine)
    expect(await install(wanted({ clients: ['codex'] }), context)).toBe(0)
    expect(home.read('.codex/config.toml')).toBe(
      '\n[a]\nb = 1\n\n[mcp_servers.voice-agents]\ncommand = "/opt/node"\nargs = ["/opt/program.js"]\n',
    )
    expect(text()).not.toContain('s3cret')
  })

  test('of VS Code takes its input with it, unless another server uses that', async () => {
    using home = clientHome()
    const machine = home.machine('linux')
    const { context } = installContext(machine)
    const file = '.config/Code/User/mcp.json'
    const before =
      '{\n\t"inputs": [\n\t\t{ "id": "a" }\n\t],\n\t"servers": {\n\t\t"b": {}\n\t}\n}\n'
    home.write(file, before)
    await install(withKey({ clients: ['vscode'] }), context)
    await uninstall(wanted({ clients: ['vscode'] }), context)
    expect(home.read(file)).toBe(before)
    await install(withKey({ clients: ['vscode'] }), context)
    const used = home
      .read(file)
      .replace('"b": {}', `"b": { "k": "${reference('input:voice-agents-api-key')}" }`)
    home.write(file, used)
    await uninstall(wanted({ clients: ['vscode'] }), context)
    expect(home.read(file)).toContain('"id": "voice-agents-api-key"')
  })
})

describe('questions', () => {
  test('each change is shown before it is asked about, and no leaves the file', async () => {
    using home = clientHome()
    const { context, asked } = installContext(home.machine('linux'), [true, false])
    expect(await install(wanted({ clients: ['cursor', 'zed'], isYes: false }), context)).toBe(0)
    const shown = (title: string) =>
      expect.stringMatching(new RegExp(`${title}: [^:]*\\n(  .*\\n)*  \\+ +"command": "/opt/node"`))
    expect(asked).toMatchObject([
      { usual: true, shown: shown('Cursor') },
      { usual: true, shown: shown('Zed') },
    ])
    expect(readdirSync(home.path)).toEqual(['.cursor'])
  })

  test.each([{ wantsJson: false }, { wantsJson: true }])(
    'without a terminal, --print or --yes is needed (%j)',
    async ({ wantsJson }) => {
      using home = clientHome()
      const { context, text } = installContext(
        home.machine('linux'),
        wantsJson ? [true] : undefined,
      )
      const options = wanted({ clients: ['cursor'], isYes: false, wantsJson })
      expect(await install(options, context)).toBe(2)
      expect(text()).toMatch(/--print .* --yes/)
      expect(readdirSync(home.path)).toEqual([])
    },
  )

  test('--print writes nothing', async () => {
    using home = clientHome()
    const { context, text } = installContext(home.machine('linux'))
    const options = withKey({ clients: ['cursor', 'claude-desktop'], isYes: false, isPrint: true })
    expect(await install(options, context)).toBe(0)
    expect(text().match(/--print/g)).toHaveLength(2)
    expect(text()).not.toContain(key)
    expect(readdirSync(home.path)).toEqual([])
  })
})

test('a file that cannot be read is left alone, and the others are done', async () => {
  using home = clientHome()
  home.write('.cursor/mcp.json', '{"mcpServers": {"a": {"env": {"K": "s3cret}}}')
  home.write('.codex/config.toml', 'a = 1\nb = = 2\n')
  home.write('.config/zed/settings.json', Buffer.from([0x7b, 0xff, 0x7d]))
  home.write('.config/goose/config.yaml', 'a: [\n')
  mkdirSync(join(home.path, '.gemini/settings.json'), { recursive: true })
  const broken = ['cursor', 'codex', 'zed', 'goose', 'gemini']
  const names = [...broken, 'windsurf']
  const { code, statuses, notes } = await reported(
    home.machine('linux'),
    wanted({ clients: names }),
  )
  expect(code).toBe(1)
  expect(statuses).toEqual({
    ...Object.fromEntries(broken.map((id) => [id, 'failed'])),
    windsurf: 'written',
  })
  expect(notes).toMatchSnapshot()
  expect(JSON.stringify(notes)).not.toContain('s3cret')
  expect(home.read('.codex/config.toml')).toBe('a = 1\nb = = 2\n')
  expect(home.read('.codeium/windsurf/mcp_config.json')).toContain('"voice-agents"')
})

test.each([
  ['claude-code', '.claude.json', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['zed', '.config/zed/settings.json', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['codex', '.codex/config.toml', `a = ${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['goose', '.config/goose/config.yaml', `a: ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
])('a file of %s that is nested very deeply is left alone', async (id, file, content) => {
  using home = clientHome()
  home.write(file, content)
  const { code, statuses } = await reported(home.machine('linux'), wanted({ clients: [id] }))
  expect({ code, statuses }).toEqual({ code: 1, statuses: { [id]: 'failed' } })
  expect(home.read(file)).toBe(content)
})

test('--json says what became of each client', async () => {
  using home = clientHome()
  home.write('.cursor/mcp.json', '{"a": 1}')
  home.write('.codex/config.toml', '=')
  const { context, text } = installContext(home.machine('linux'))
  expect(await install(wanted({ clients: ['cursor', 'codex'], wantsJson: true }), context)).toBe(1)
  expect(JSON.parse(text())).toEqual({
    clients: [
      {
        client: 'cursor',
        file: join(home.path, '.cursor/mcp.json'),
        status: 'written',
        change: expect.arrayContaining(['@@ line 1 @@']),
        notes: [],
        backup: expect.stringMatching(/mcp\.json\.\d{8}T\d{6}\.\d{3}Z\.voice-agent-mcp\.bak$/),
      },
      {
        client: 'codex',
        file: join(home.path, '.codex/config.toml'),
        status: 'failed',
        change: [],
        notes: [expect.stringContaining('(line 1, column 1)')],
        backup: null,
      },
    ],
    notes: [expect.stringContaining('sandbox')],
  })
})

test('no client on the machine is an error that names them', async () => {
  using home = clientHome()
  const { context } = installContext(home.machine('linux'))
  await expect(install(wanted(), context)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining(clients.map(({ id }) => id).join(', ')),
  })
})
