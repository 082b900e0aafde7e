import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  commandLine,
  launchCommand,
  type ProgramStart,
  packageId,
  withCommandLines,
} from '../../../src/cli/config/launch-command.ts'
import { readCallStop } from '../../../src/state/call-stop.ts'
import { messageOf } from '../../../src/text/safe-text.ts'
import { scratchFolder } from '../../harness/program.ts'

const scratch = scratchFolder()
afterAll(() => scratch[Symbol.dispose]())

/** A file in the folder of the tests. */
function file(path: string): string {
  const made = join(scratch.path, path)
  mkdirSync(dirname(made), { recursive: true })
  writeFileSync(made, '')
  return made
}

const clone = join(scratch.path, 'clone')
const script = file('clone/dist/voice-agent-mcp.js')
const bundled = file('clone/node_modules/node/bin/node')
const node = file('usr/bin/node')
const installed = file('usr/lib/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js')
mkdirSync(join(scratch.path, 'opt/bin'), { recursive: true })
symlinkSync(installed, join(scratch.path, 'opt/bin/voice-agent-mcp'))
const usr = dirname(node)
const opt = join(scratch.path, 'opt/bin')

const started = (more: Partial<ProgramStart>): ProgramStart => ({
  ...{ execPath: node, script, cwd: clone, env: { PATH: usr }, platform: 'linux' },
  ...more,
})

const npm = (event: string, more = {}) => ({
  ...{ npm_package_name: 'voice-agent-mcp', npm_lifecycle_event: event, PATH: usr, ...more },
})

test.each<[string, string, Partial<ProgramStart>]>([
  ['in a clone', 'node dist/voice-agent-mcp.js doctor', {}],
  [
    'with a Node.js that the shell does not find',
    'node_modules/node/bin/node dist/voice-agent-mcp.js doctor',
    { execPath: bundled, env: { PATH: `${dirname(bundled)}:${usr}` } },
  ],
  ['from elsewhere', `node ${script} doctor`, { cwd: '/very/far/away/from/it/all' }],
  [
    'installed',
    'voice-agent-mcp doctor',
    { script: join(opt, 'voice-agent-mcp'), env: { PATH: opt } },
  ],
  [
    'installed where the shell does not find it',
    `${join(opt, 'voice-agent-mcp')} doctor`,
    { script: join(opt, 'voice-agent-mcp'), cwd: '/very/far/away/from/it/all' },
  ],
  [
    'installed, by a shim that names the file',
    'voice-agent-mcp doctor',
    { script: installed, env: { PATH: opt } },
  ],
  [
    'by npx',
    `npx -y ${packageId} doctor`,
    { script: '/home/u/.npm/_npx/0a/node_modules/.bin/voice-agent-mcp' },
  ],
  [
    'by npx in a project that has it',
    'npx voice-agent-mcp doctor',
    { script: '/project/node_modules/.bin/voice-agent-mcp', env: { npm_command: 'exec' } },
  ],
  ['by npm start', 'node dist/voice-agent-mcp.js doctor', { env: npm('start') }],
  [
    'by npm start in a folder of the clone',
    'node ../../dist/voice-agent-mcp.js doctor',
    { env: npm('start', { INIT_CWD: join(clone, 'docs/examples') }) },
  ],
  ['by another program', 'voice-agent-mcp doctor', { script: '/usr/bin/other.js' }],
])('%s', (_, expected, start) => {
  expect(commandLine('doctor', started(start))).toBe(expected)
})

test('a path with a space is quoted', () => {
  const start = started({
    script: '/my clone/dist/voice-agent-mcp.js',
    cwd: '/very/far/away/from/it/all',
  })
  expect(commandLine('doctor', start)).toBe("node '/my clone/dist/voice-agent-mcp.js' doctor")
})

test.each([
  ['start', 'http', 'npm start'],
  ['start', 'http --port 3001', 'npm start -- --port 3001'],
  ['start', 'sandbox', 'node dist/voice-agent-mcp.js sandbox'],
  ['sandbox', 'sandbox --reset', 'npm run sandbox -- --reset'],
])('npm run %s is the same again: %s', (event, words, expected) => {
  expect(commandLine(words, started({ env: npm(event) }))).toBe(expected)
})

test('npm start of another package is not meant', () => {
  const env = { ...npm('start'), npm_package_name: 'other' }
  expect(commandLine('http', started({ env }))).toBe('node dist/voice-agent-mcp.js http')
})

test('every command in an error takes the form in which the program was started', async () => {
  const damaged: unknown = await readCallStop({ readNote: async () => '{' }).catch(
    (error: unknown) => error,
  )
  expect(withCommandLines(messageOf(damaged), started({}))).toMatch(
    / with node dist\/voice-agent-mcp\.js calls stop or node dist\/voice-agent-mcp\.js calls resume\.$/,
  )
  expect(withCommandLines('voice-agent-mcp doctor finds the cause.', started({}))).toBe(
    'node dist/voice-agent-mcp.js doctor finds the cause.',
  )
})

/** A program that a client is to start. */
const launched = (more: Partial<ProgramStart>): ProgramStart => ({
  execPath: '/opt/node/bin/node',
  script: '/opt/lib/node_modules/voice-agent-mcp/dist/voice-agent-mcp.js',
  cwd: '/',
  env: {},
  platform: 'linux',
  ...more,
})

test('an installed program is started by absolute paths', () => {
  expect(launchCommand(launched({}))).toEqual({
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
  expect(launchCommand(launched({ script }))).toEqual({
    command: '/opt/node/bin/npx',
    args: ['-y', packageId],
    env: { PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin' },
  })
})

test('on Windows npx is a batch file and needs the shell', () => {
  const script = 'C:\\npm-cache\\_npx\\0a\\node_modules\\voice-agent-mcp\\dist\\voice-agent-mcp.js'
  expect(launchCommand(launched({ script, platform: 'win32' }))).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', packageId],
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
  expect(launchCommand(launched({ execPath: node, script, env: { PATH: path } }))).toEqual({
    command: stable,
    args: [program],
    env: {},
  })
})
