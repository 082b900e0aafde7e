import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv } from '../harness/program.ts'

const root = join(import.meta.dirname, '../..')
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

test('the generated parts of the documents are up to date', () => {
  const { status, stderr } = node('src/dev/docs.ts', '--check')
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('the build has the licence of data that others have made', () => {
  const licences = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  expect(licences).toMatch(
    /^Data in src\/policy\/north-american-areas\.ts$[\s\S]*Libphonenumber Authors[\s\S]*Apache License/m,
  )
})
