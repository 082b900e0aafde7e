import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder } from '../harness/program.ts'

const script = join(import.meta.dirname, '../../src/dev/require-node.cjs')
const node = `node/bin/node${process.platform === 'win32' ? '.exe' : ''}`

/** Runs the script in a clone as npm does, with another version of Node.js. */
function runAs(
  version: string,
  installed: readonly string[],
  event = 'start',
  args: string[] = [],
) {
  using folder = scratchFolder()
  const copy = join(folder.path, 'src/dev/require-node.cjs')
  mkdirSync(dirname(copy), { recursive: true })
  cpSync(script, copy)
  for (const file of installed) {
    mkdirSync(dirname(join(folder.path, 'node_modules', file)), { recursive: true })
    writeFileSync(join(folder.path, 'node_modules', file), '')
  }
  const pretend = join(folder.path, 'pretend.cjs')
  writeFileSync(
    pretend,
    `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`,
  )
  const main = join(folder.path, 'main.cjs')
  writeFileSync(main, '')
  return spawnSync(process.execPath, ['-r', pretend, '-r', copy, main, ...args], {
    encoding: 'utf8',
    env: { ...process.env, npm_lifecycle_event: event },
  })
}

const all = ['esbuild/package.json', node]

test.each<[string, readonly string[], string, string[], string]>([
  ['18.20.8', [], 'start', ['http'], 'npm ci && npm start'],
  ['20.20.2', [], 'start', ['http', '--port', '1'], 'npm ci && npm start -- --port 1'],
  ['24.0.0', [], 'sandbox', ['sandbox'], 'npm ci && npm run sandbox'],
  ['22.18.0', all.slice(0, 1), 'test', [], 'npm rebuild node --ignore-scripts=false && npm test'],
  ['22.18.0', all, 'build', [], 'npm run build'],
])(
  'Node.js %s with %j is refused by npm run %s, with what to run',
  (version, installed, event, args, next) => {
    const { status, stderr } = runAs(version, installed, event, args)
    expect(status).toBe(1)
    expect(stderr).toMatch(new RegExp(`^Run: ${next}$`, 'm'))
    expect(stderr.includes(`22.19 or newer; this is ${version}.`)).toBe(version !== '24.0.0')
    expect(stderr).not.toMatch(/^\s+at /m)
  },
)

test.each(['22.19.0', '24.0.0'])('Node.js %s goes on', (version) => {
  expect(runAs(version, all)).toMatchObject({ status: 0, stderr: '' })
})
