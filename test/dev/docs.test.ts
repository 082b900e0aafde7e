import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv } from '../harness/program.ts'

const root = join(import.meta.dirname, '../..')

test('the generated parts of the documents are up to date', () => {
  const { status, stderr } = spawnSync(process.execPath, ['src/dev/docs.ts', '--check'], {
    cwd: root,
    encoding: 'utf8',
    env: cleanEnv(),
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
