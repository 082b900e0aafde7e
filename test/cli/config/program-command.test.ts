import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  commandLine,
  type ProgramStart,
  packageId,
} from '../../../src/cli/config/program-command.ts'
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
