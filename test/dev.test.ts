import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv, scratchFolder } from './harness/program.ts'

const root = join(import.meta.dirname, '..')
const node = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: cleanEnv() })

test('the demo tells the whole story', () => {
  const { status, stdout } = node('src/dev/demo.ts')
  expect(status).toBe(0)
  const called = [...stdout.matchAll(/→ (\w+)/g)].map(([, name]) => name)
  expect(new Set(called)).toEqual(
    new Set([
      'get_current_account',
      'list_voices',
      'validate_agent_template',
      'create_agent',
      'list_sip_trunks',
      'create_phone_number',
      'place_call',
      'wait_for_call',
      'get_usage',
    ]),
  )
  expect(stdout).toMatch(/agent +Hello Erika, this is Market Street Practice\./)
  expect(stdout).toMatch(/Call \+12025550100\?.*\n.*Who is called/)
  expect(stdout).toMatch(/completed, answered by a human/)
})

test('the generated parts of the README are current', () => {
  const { status, stderr } = node('src/dev/docs.ts', '--check')
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test.each([
  ['src/contract', '../api/client.ts'],
  ['src/api', '../sandbox/store.ts'],
  ['src/sandbox', '../mcp/tool.ts'],
  ['src/sandbox', '../api/client.ts'],
  ['src/mcp', '../sandbox/store.ts'],
  ['src/mcp', '../../tools/index.ts'],
  ['src/transports', '../main.ts'],
  ['src/jinja', '../contract/route.ts'],
  ['src/mcp', '../flows/safe-update.ts'],
  ['src/policy', '../contract/field.ts'],
  ['src/calls', '../mcp/session.ts'],
  ['src/views', '../flows/changes.ts'],
  ['src/flows', '../../tools/agents.ts'],
  ['tools', './agents.ts'],
  ['tools', '../src/mcp/call.ts'],
])('lint refuses that %s imports %s', (room, imported) => {
  using folder = scratchFolder()
  cpSync(join(root, 'biome.json'), join(folder.path, 'biome.json'))
  mkdirSync(join(folder.path, room), { recursive: true })
  writeFileSync(join(folder.path, room, 'some-file.ts'), `export * from '${imported}'\n`)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'lint', '--vcs-enabled=false', '.'],
    { cwd: folder.path, encoding: 'utf8', env: cleanEnv() },
  )
  expect(stdout + stderr).toContain('noRestrictedImports')
  expect(status).toBe(1)
})

test('the build has the licence of data that others have made', () => {
  const licences = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  expect(licences).toMatch(
    /^Data in src\/policy\/north-american-areas\.ts$[\s\S]*Libphonenumber Authors[\s\S]*Apache License/m,
  )
})
