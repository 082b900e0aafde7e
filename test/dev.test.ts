import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv } from './harness/program.ts'

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
      'get_call',
      'get_usage',
    ]),
  )
  expect(stdout).toMatch(/agent +Hello Erika, this is Market Street Practice\./)
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
  ['tools', './agents.ts'],
  ['tools', '../src/mcp/call.ts'],
])('lint refuses that %s imports %s', (room, imported) => {
  const file = join(root, room, 'zz-forbidden-import.ts')
  writeFileSync(file, `export * from '${imported}'\n`)
  try {
    const { status, stdout, stderr } = node('node_modules/@biomejs/biome/bin/biome', 'lint', file)
    expect(stdout + stderr).toContain('noRestrictedImports')
    expect(status).toBe(1)
  } finally {
    rmSync(file)
  }
})
