import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchCommand, type Program } from '../../../src/cli/install/launch-command.ts'
import { scratchFolder } from '../../harness/program.ts'

const version = 'voice-agent-mcp@1.2.3'

const started = (more: Partial<Program>): Program => ({
  execPath: '/opt/node/bin/node',
  script: '/opt/lib/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js',
  packageId: version,
  ...more,
})

const linux = { platform: 'linux', env: {} } as const

test('an installed program is started by absolute paths', () => {
  expect(launchCommand(started({}), linux)).toEqual({
    command: '/opt/node/bin/node',
    args: ['/opt/lib/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js'],
    env: {},
  })
})

test.each([
  '/home/u/.npm/_npx/0a1b/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js',
  'C:\\Users\\u\\AppData\\Local\\npm-cache\\_npx\\0a1b\\node_modules\\voice-agent-mcp\\dist\\voice-agent-mcp.js',
  '/home/u/.cache/pnpm/dlx-123/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js',
  '/tmp/bunx-0-voice-agent-mcp@latest/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js',
])('a program in a cache is fetched again by npx: %s', (script) => {
  expect(launchCommand(started({ script }), linux)).toEqual({
    command: '/opt/node/bin/npx',
    args: ['-y', version],
    env: { PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin' },
  })
})

test('on Windows npx is a batch file and needs the shell', () => {
  const script = 'C:\\npm-cache\\_npx\\0a\\node_modules\\voice-agent-mcp\\dist\\voice-agent-mcp.js'
  expect(launchCommand(started({ script }), { platform: 'win32', env: {} })).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', version],
    env: {},
  })
})

test('links that survive an update are preferred to what they lead to', () => {
  using folder = scratchFolder()
  const make = (path: string) => {
    mkdirSync(join(folder.path, path, '..'), { recursive: true })
    writeFileSync(join(folder.path, path), '')
    return join(folder.path, path)
  }
  const link = (path: string, target: string) => {
    mkdirSync(join(folder.path, path, '..'), { recursive: true })
    symlinkSync(target, join(folder.path, path))
    return join(folder.path, path)
  }
  const node = make('Cellar/node/24.9.0/bin/node')
  const old = make('old/node')
  const stable = link('homebrew/bin/node', node)
  const passing = [
    link('run/fnm_multishells/1/bin/node', node),
    link('project/node_modules/.bin/node', node),
  ]
  const path = ['relative', old, ...passing, stable].map((file) => join(file, '..')).join(':')
  const program = make('lib/voice-agent-mcp/dist/voice-agent-mcp.js')
  const script = link('homebrew/bin/voice-agent-mcp', program)
  expect(
    launchCommand(started({ execPath: node, script }), { ...linux, env: { PATH: path } }),
  ).toEqual({
    command: stable,
    args: [program],
    env: {},
  })
})
