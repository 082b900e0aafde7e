import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type ClientHome, clientHome } from '../../harness/client-home.ts'
import { bin, cleanEnv, startProgram } from '../../harness/program.ts'

/** Runs the program as the owner of this home folder, on Linux without a terminal. */
async function run(home: ClientHome, args: string[], env: Record<string, string> = {}) {
  await using program = startProgram(args, { ...homeEnv(home), ...env })
  const code = await program.exited
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

const homeEnv = ({ path }: ClientHome) => ({
  HOME: path,
  USERPROFILE: path,
  XDG_CONFIG_HOME: join(path, '.config'),
  XDG_DATA_HOME: join(path, '.data'),
  APPDATA: join(path, 'Roaming'),
  LOCALAPPDATA: join(path, 'Local'),
  CODEX_HOME: '',
  CLAUDE_CONFIG_DIR: '',
})

const Entry = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
})
const CursorFile = z.object({ mcpServers: z.object({ 'voice-agents': Entry }) })

test.concurrent('what install writes starts the server, and uninstall takes it out', async () => {
  using home = clientHome()
  const before = '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n'
  home.write('.cursor/mcp.json', before)
  const installed = await run(home, ['install', 'cursor', '--yes', '--read-only'])
  expect(installed).toMatchObject({ code: 0, stderr: '' })
  expect(installed.stdout).toContain('built-in sandbox')
  const file = CursorFile.parse(JSON.parse(home.read('.cursor/mcp.json')))
  const { command, args, env } = file.mcpServers['voice-agents']
  expect(args).toEqual([bin, '--read-only'])
  const memory = { VOICE_AGENT_SANDBOX_DB: ':memory:', VOICE_AGENT_STATE_DIR: ':memory:' }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command, args, env: cleanEnv({ ...memory, ...env }) }),
  )
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toContain('list_agents')
  expect(names).not.toContain('create_agent')
  await client.close()
  expect(await run(home, ['uninstall', '--yes'])).toMatchObject({ code: 0 })
  expect(home.read('.cursor/mcp.json')).toBe(before)
})

test.concurrent('the list shows which clients are there and which have the server', async () => {
  using home = clientHome()
  mkdirSync(join(home.path, '.codex'), { recursive: true })
  home.write('.gemini/settings.json', '{"mcpServers": {"voice-agents": {}}}')
  home.write('.cursor/mcp.json', '{')
  const { code, stdout } = await run(home, ['install', '--list'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^codex +found +\S/m)
  expect(stdout).toMatch(/^gemini +installed +\S/m)
  expect(stdout).toMatch(/^windsurf +not found +\S/m)
  expect(stdout).toMatch(/\(line 1, column 2\)/)
  const json = await run(home, ['install', '--list', '--json'])
  expect(JSON.parse(json.stdout).clients).toContainEqual({
    client: 'gemini',
    title: 'Gemini CLI',
    found: true,
    installed: true,
    file: join(home.path, '.gemini/settings.json'),
    problem: null,
  })
})

test.concurrent('without a terminal it says what to do, with exit code 2', async () => {
  using home = clientHome()
  const { code, stdout, stderr } = await run(home, ['install', 'cursor'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^voice-agent-mcp: .* --print .* --yes/)
})

test.concurrent.each([
  [2, ['install', 'curser'], /"curser".* cursor [^,]*\?/],
  [2, ['uninstall', 'zedd', '--yes'], /"zedd".* zed [^,]*\?/],
  [1, ['install', 'zed', '--name', 'a b'], /--name /],
  [1, ['install', 'zed', '--key-in-files'], /--key-in-files .*VOICE_AGENT_API_KEY/],
  [
    1,
    ['install', 'zed', '--base-url', 'http://example.com'],
    /VOICE_AGENT_BASE_URL .*https.* example\.com/,
  ],
  [1, ['install', 'zed', '--yes', '--toolsets', 'callz'], /callz\..* calls\b/],
  [1, ['install', 'zed', '--yes', '--tools', 'list_cals'], /list_cals\..* list_calls\b/],
  [2, ['uninstall', '--read-only'], /--read-only .*\buninstall\b/],
  [2, ['stdio', 'zed'], /\bzed\b/],
  [2, ['help', 'install', 'zed'], /\bzed\b/],
])('%i: %j is refused', async (exitCode, args, message) => {
  using home = clientHome()
  const { code, stderr } = await run(home, args)
  expect(code).toBe(exitCode)
  expect(stderr).toMatch(message)
  expect(existsSync(join(home.path, '.config/zed'))).toBe(false)
})

// Windows has no HOME. Without HOME, the program must not use the home of the user who runs the
// tests.
test.skipIf(process.platform === 'win32').each([
  ['', '--yes'],
  ['home', '--yes'],
  [undefined, '--print'],
])('with HOME %j, install %s refuses and writes nothing', (HOME, flag) => {
  using home = clientHome()
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'install', 'cursor', flag], {
    cwd: home.path,
    env: { ...cleanEnv(), HOME },
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/\bHOME\b/)
  expect(readdirSync(home.path)).toEqual([])
})

test.concurrent('a client whose folder cannot be read fails alone', async () => {
  using home = clientHome()
  home.write('.cursor/mcp.json', '{}')
  // A file in place of the folder, because root can read any folder.
  home.write('.gemini', '')
  home.write('.config/zed/settings.json', '{}')
  const list = await run(home, ['install', '--list'])
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list.stdout).toMatch(/^zed +found/m)
  const { code, stdout } = await run(home, ['install', 'cursor', 'gemini', 'zed', '--yes'])
  expect(code).toBe(1)
  expect(stdout).toContain('(ENOTDIR)')
  expect(home.read('.cursor/mcp.json')).toContain('voice-agents')
  expect(home.read('.config/zed/settings.json')).toContain('voice-agents')
})

test.concurrent('the key of the environment is neither written nor shown', async () => {
  using home = clientHome()
  const { code, stdout } = await run(home, ['install', 'cursor', 'codex', '--yes', '--json'], {
    VOICE_AGENT_API_KEY: 'sk-live-0123456789',
    VOICE_AGENT_BASE_URL: 'https://api.example.com/v1',
  })
  expect(code).toBe(0)
  const all = stdout + home.read('.cursor/mcp.json') + home.read('.codex/config.toml')
  expect(all).not.toContain('sk-live')
  expect(all).toContain('https://api.example.com/v1')
})

test.concurrent('a configuration file is named by its absolute path, and its key is left in it', async () => {
  using home = clientHome()
  const file = home.write(
    'settings.json',
    '{"base-url": "https://api.example.com", "api-key": "sk-live-0123456789"}',
  )
  const { code, stdout } = await run(home, ['install', 'zed', '--yes', '--config', file])
  expect(code).toBe(0)
  expect(stdout).not.toContain('sandbox')
  const written = home.read('.config/zed/settings.json')
  expect(JSON.parse(written).context_servers['voice-agents'].args).toEqual([bin, '--config', file])
  expect(written).not.toMatch(/sk-live|api\.example\.com/)
})

test.concurrent('the help has the clients as operands, and examples', async () => {
  using home = clientHome()
  const { code, stdout } = await run(home, ['install', '--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Usage: \S+ \S+ install \[CLIENT…\] \[options\]\n/)
  expect(stdout).toMatch(/\nExamples:\n(?: {2}# .*\n)? {2}\S+ \S+ install/)
})
