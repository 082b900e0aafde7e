import { execFileSync, execSync, spawnSync } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { settings } from '../../src/cli/commands/index.ts'
import { connectStdio } from '../harness/client.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import {
  bin,
  cleanEnv,
  freePort,
  quietly,
  scratchFolder,
  startHttpProgram,
  startPlatformProgram,
  startProcess,
  startProgram,
} from '../harness/program.ts'

const memory = { VOICE_AGENT_SANDBOX_DB: ':memory:' }

const network = {
  VOICE_AGENT_BASE_URL: 'https://api.example.com',
  VOICE_AGENT_API_KEY: 'k-123456',
}

/** Runs the program to its end, with `input` on standard input. */
function run(args: string[], env: Record<string, string> = {}, input = '') {
  return spawnSync(process.execPath, [bin, ...args], {
    env: cleanEnv({ ...memory, ...env }),
    input,
    encoding: 'utf8',
    timeout: 15_000,
  })
}

const lines = (...messages: object[]) =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')

const hello = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
]

describe('a variable that is no setting', () => {
  test('but nearly one ends the program, and says which is meant', () => {
    const { status, stderr, stdout } = run(['http'], { VOICE_AGENT_READONLY: 'true' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('VOICE_AGENT_READ_ONLY')
  })

  test('is reported in the form of the log, and the server starts', () => {
    const env = { VOICE_AGENT_TEAM_NAME: 'blue', VOICE_AGENT_LOG: 'json' }
    const { status, stdout, stderr } = run([], env, lines(...hello))
    expect(status).toBe(0)
    expect(stdout).toContain('"protocolVersion"')
    const logged = stderr.trimEnd().split('\n')
    const entries = logged.map((line) =>
      z.object({ level: z.string(), message: z.string().optional() }).parse(JSON.parse(line)),
    )
    expect(entries).toContainEqual({
      level: 'warn',
      message: expect.stringContaining('VOICE_AGENT_TEAM_NAME'),
    })
  })
})

describe('standard output', () => {
  test('holds protocol messages only, and every request piped in is answered', () => {
    const call = (id: number, name: string) => ({
      id,
      method: 'tools/call',
      params: { name, arguments: {} },
    })
    const { stdout, status, stderr } = run(
      [],
      {},
      lines(...hello, call(2, 'list_agents'), call(3, 'nope'), call(4, 'list_models')),
    )
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids.sort()).toEqual([1, 2, 3, 4])
    expect(status).toBe(0)
    expect(stderr).toMatch(/SANDBOX: .*:memory:/)
  })

  test('holds protocol messages only, whatever comes in', () => {
    const { stdout, status } = run([], {}, `garbage\n{"jsonrpc":"2.0"}\n[]\n${lines(...hello)}`)
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc')
    expect(status).toBe(0)
  })

  test('ends with one clear line and exit code 1 over a message of more than 10 MB', () => {
    const { status, stdout, stderr } = run([], {}, `${lines(...hello)}${'x'.repeat(11_000_000)}\n`)
    expect(status).toBe(1)
    expect(stdout.trim().split('\n')).toHaveLength(1)
    const logged = stderr.trimEnd().split('\n')
    for (const line of logged) expect(line).toMatch(/^voice-agent-mcp: /)
    expect(logged.at(-1)).toContain('MESSAGE_TOO_LONG')
  })

  test('answers two requests of the same id that are piped in', async () => {
    await using platform = await startFakePlatform((_, res) => {
      setTimeout(() => json(res, 200, { id: 'slow', name: null }), 200)
    })
    await using program = startProgram([], {
      VOICE_AGENT_API_KEY: 'some-key',
      VOICE_AGENT_BASE_URL: platform.url,
    })
    const call = { id: 2, method: 'tools/call', params: { name: 'get_current_account' } }
    program.process.stdin?.end(lines(...hello, call, { ...call, id: 2 }))
    expect(await program.exited).toBe(0)
    expect(program.stdout().match(/slow/g)?.length).toBeGreaterThanOrEqual(2)
  })

  test('answers a slow platform before it ends with its input', async () => {
    await using platform = await startFakePlatform((_, res) => {
      setTimeout(() => json(res, 200, { id: 'slow', name: null }), 300)
    })
    await using program = startProgram([], {
      VOICE_AGENT_API_KEY: 'k',
      VOICE_AGENT_BASE_URL: platform.url,
    })
    const call = { id: 2, method: 'tools/call', params: { name: 'get_current_account' } }
    program.process.stdin?.end(lines(...hello, call))
    expect(await program.exited).toBe(0)
    expect(program.stdout()).toContain('slow')
  })
})

describe('stopping', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends stdio cleanly', async (signal) => {
    await using program = startProgram([], memory)
    await program.waitFor(/SANDBOX/)
    program.process.kill(signal)
    expect(await program.exited).toBe(0)
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends http cleanly', async (signal) => {
    await using program = await startHttpProgram()
    program.process.kill(signal)
    expect(await program.exited).toBe(0)
    // No request is in flight, so no wait is announced.
    expect(program.stderr()).toMatch(/Stopping\.\n$/)
  })

  test('SIGTERM ends the sandbox cleanly', async () => {
    await using program = await startPlatformProgram()
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  test('the end of standard input ends stdio', () => {
    expect(run([]).status).toBe(0)
  })
})

describe('started wrongly', () => {
  test.each([
    [1, [], { VOICE_AGENT_API_KEY: 'k' }, /API_KEY .*VOICE_AGENT_BASE_URL /],
    [1, [], { VOICE_AGENT_BASE_URL: 'https://api.example.com' }, /VOICE_AGENT_API_KEY is not/],
    [2, ['--nope'], {}, /--nope/],
    [2, ['--reed-only'], {}, / --read-only\?/],
    [2, ['http', '--pot', '4000'], {}, / --port\?/],
    [2, ['http', '--prot', '4000'], {}, / --port\?/],
    [2, ['htp'], {}, / htp; .* http\?/],
    [2, ['stdio', '--port', '1'], {}, /--port .* stdio, .* http /],
    [2, ['http', '4000'], {}, / 4000\./],
    [
      1,
      ['http', '--host', '203.0.113.1', '--allowed-hosts', '*'],
      {},
      / 203\.0\.113\.1:3000: .* --host/,
    ],
    [
      1,
      ['http', '--host', 'nowhere.invalid', '--allowed-hosts', '*'],
      {},
      / nowhere\.invalid:3000: .* --host/,
    ],
    [1, ['stdio', '--dial-policy', '/nowhere.json'], {}, / \/nowhere\.json .* --dial-policy /],
    [1, ['http', '--sandbox-db', `${bin}/sandbox.db`], {}, /VOICE_AGENT_SANDBOX_DB/],
    [1, [], { ...network, VOICE_AGENT_API_KEY: '"k-123456"' }, /VOICE_AGENT_API_KEY /],
    [1, [], { ...network, VOICE_AGENT_BASE_URL: "'https://a.example'" }, /VOICE_AGENT_BASE_URL /],
    [1, [], { ...network, VOICE_AGENT_API_KEY: 'Bearer k-123456' }, /VOICE_AGENT_API_KEY /],
    [
      1,
      [],
      { ...network, VOICE_AGENT_BASE_URL: 'api.example.com' },
      /VOICE_AGENT_BASE_URL .*https:/,
    ],
  ])('exits %i over %j, and says what to do in one line', (code, args, env, message) => {
    const { status, stdout, stderr } = run(args, env)
    expect(status).toBe(code)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('a port in use is reported', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    const { status, stderr } = run(['http', '--port', String(port)])
    expect(status).toBe(1)
    expect(stderr).toMatch(new RegExp(`:${port} .* --port`))
    await new Promise((resolve) => other.close(resolve))
  })

  test('a Node that is too old is reported in one line, without a syntax error', () => {
    const versions = JSON.stringify({ ...process.versions, node: '20.11.0' })
    const script = `Object.defineProperty(process,'versions',{value:${versions}})`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(script)}`, bin, '--version'],
      { encoding: 'utf8', env: cleanEnv() },
    )
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^voice-agent-mcp .* Node\.js 22\.19 .* 20\.11\.0\..*\n$/)
    const [, next = ''] = /Run: (.*)\n/.exec(stderr) ?? []
    expect(execSync(next, { encoding: 'utf8' })).toBe(run(['--version']).stdout)
  })

  const system = '/usr/bin/node'
  const isOld =
    existsSync(system) &&
    Number(execFileSync(system, ['-p', 'parseInt(process.versions.node)'], { encoding: 'utf8' })) <
      22
  test.skipIf(!isOld)('the same on a real old Node, where this machine has one', () => {
    const { status, stderr } = spawnSync(system, [bin], { encoding: 'utf8', env: cleanEnv() })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^voice-agent-mcp .* Node\.js 22\.19 .*\n$/)
  })

  test('every tool reports a sandbox file that is not a database, with what to do', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'broken.db')
    writeFileSync(file, 'this is not a database, it is a letter to a friend'.repeat(40))
    await using client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_SANDBOX_DB: file },
    })
    const { isError, content } = await client.call('list_agents')
    expect(isError).toBe(true)
    expect(content[0]?.text).toContain(` ${file} `)
    expect(content[0]?.text).toContain('VOICE_AGENT_SANDBOX_DB')
  })
})

describe('in a terminal', () => {
  // `script` of util-linux gives the program a pseudo-terminal as standard input.
  const hasScript = spawnSync('script', ['--version']).status === 0
  test.skipIf(!hasScript)('stdio says what it is waiting for', () => {
    const { stdout } = spawnSync(
      'script',
      ['--quiet', '--return', '--command', `timeout 2 ${process.execPath} ${bin}`, '/dev/null'],
      { encoding: 'utf8', env: cleanEnv(memory), timeout: 15_000 },
    )
    expect(stdout).toMatch(/voice-agent-mcp\.js install.*--help/)
  })

  test('--version and --help go to standard output', () => {
    expect(run(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(run(['--help']).stdout).toMatch(/^Usage: \S*node \S*voice-agent-mcp\.js /)
    expect(run(['http', '--help']).stdout).toMatch(/--port/)
  })

  test('help and version are commands, too', () => {
    expect(run(['version']).stdout).toBe(run(['--version']).stdout)
    expect(run(['help']).stdout).toBe(run(['--help']).stdout)
    expect(run(['help', 'http']).stdout).toBe(run(['http', '--help']).stdout)
  })

  test.skipIf(!hasScript)('the help is readable in a terminal that does not know its size', () => {
    const { stdout } = spawnSync(
      'script',
      ['--quiet', '--return', '--command', `${process.execPath} ${bin} help`, '/dev/null'],
      {
        encoding: 'utf8',
        env: cleanEnv(memory),
        timeout: 15_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    expect(stdout).toMatch(/^Usage: [^\n]+\n(?=.{60})/)
  })

  test.each([[['--help']], [['http', '--help']], [['help', 'install']], [['call', '-h']]])(
    '%j fits on a screen',
    (argv) => {
      // Run as `node` from PATH, so that the length of lines does not depend on the path of
      // Node.js.
      using folder = scratchFolder()
      symlinkSync(process.execPath, join(folder.path, 'node'))
      const { status, stdout } = run(argv, { PATH: folder.path })
      const lines = stdout.trimEnd().split('\n')
      expect(status).toBe(0)
      expect(lines.length).toBeLessThanOrEqual(30)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100)
    },
  )

  test('--help all has every setting', () => {
    const { status, stdout } = run(['--help', 'all'])
    expect(status).toBe(0)
    for (const [name, { variable = '' }] of Object.entries(settings))
      expect(stdout).toMatch(new RegExp(`^  --${name}\\b.*${variable}`, 'm'))
    expect(run(['help', 'all']).stdout).toBe(stdout)
    expect(run(['help', 'http', 'all']).stdout).toBe(run(['http', '--help', 'all']).stdout)
  })

  test('the help of a tool has its arguments', () => {
    const { status, stdout } = run(['help', 'call', 'place_call'])
    expect(status).toBe(0)
    expect(stdout).toContain('--to-number')
    expect(stdout).toBe(run(['call', 'place_call', '--help']).stdout)
    expect(run(['help', 'call', 'place_cal']).status).toBe(2)
  })

  test('commands to run next are shown as the program was started', () => {
    const [, next = ''] =
      /To call it: (.*) call list_agents/.exec(run(['list_agents']).stderr) ?? []
    const ran = (words: string) =>
      execSync(`${next} ${words}`, { encoding: 'utf8', env: cleanEnv() })
    expect(ran('--version')).toBe(run(['--version']).stdout)
    expect(run(['--nope']).stderr).toContain(`See ${next} --help\n`)
    expect(run(['--help']).stdout).toMatch(
      new RegExp(`^  ${next.replaceAll(/[.\\/]/g, '\\$&')} doctor\\s`, 'm'),
    )
    const { stderr } = run(['http', '--port', 'x'], {
      npm_package_name: 'voice-agent-mcp',
      npm_lifecycle_event: 'start',
    })
    expect(stderr).toContain('See npm start -- --help\n')
  })

  test('the help is as wide as the terminal', () => {
    const widest = (columns: string) =>
      Math.max(
        ...run(['--help', 'all'], { COLUMNS: columns })
          .stdout.split('\n')
          .map((l) => l.length),
      )
    expect(widest('80')).toBeLessThanOrEqual(80)
    expect(widest('60')).toBeLessThanOrEqual(60)
    expect(widest('')).toBeGreaterThan(200)
  })

  test('npm start takes the flags of http', async () => {
    const start = join(import.meta.dirname, '../../src/dev/start.ts')
    const port = await freePort()
    await using program = startProcess(
      [process.execPath, start, 'http', '--port', String(port)],
      cleanEnv({ ...memory, ...quietly }),
    )
    const [, url] = await program.waitFor(/Serving MCP at (\S+)/)
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`)
  })

  test('http shows how to connect, ready to paste', async () => {
    await using program = await startHttpProgram()
    const [, pasted = ''] = await program.waitFor(/Other clients: +(\{.*\})/)
    expect(JSON.parse(pasted)).toEqual({
      mcpServers: { 'voice-agents': { type: 'http', url: program.url } },
    })
    expect(program.stderr()).toContain(
      `claude mcp add --transport http voice-agents ${program.url}`,
    )
  })
})

describe('the sandbox keeps its data', () => {
  test('from one start to the next', async () => {
    using folder = scratchFolder()
    const env = { VOICE_AGENT_SANDBOX_DB: join(folder.path, 'deep', 'sandbox.db') }
    let id: unknown
    {
      await using client = await connectStdio('v1', { env })
      id = (await client.value('create_subaccount', { name: 'Kept' })).id
    }
    await using client = await connectStdio('v1', { env })
    expect((await client.value('get_subaccount', { subaccount_id: id })).name).toBe('Kept')
  })

  test('and two programs can share a file', async () => {
    using folder = scratchFolder()
    const env = { VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db') }
    await using one = await connectStdio('v1', { env })
    await using other = await connectStdio('v2 2026-07-28', { env })
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? one : other).value('create_subaccount', { name: `S${index}` }),
      ),
    )
    const seen = await one.value('list_subaccounts')
    expect(seen.total).toBe(2 + created.length)
  })
})
