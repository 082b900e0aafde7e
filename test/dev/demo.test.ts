import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv } from '../harness/program.ts'

const root = join(import.meta.dirname, '../..')

test('the demo shows every step', () => {
  const { status, stdout } = spawnSync(process.execPath, ['src/dev/demo.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: cleanEnv(),
  })
  expect(status).toBe(0)
  const called = [...stdout.matchAll(/→ (\w+)/g)].map(([, name]) => name)
  expect(new Set(called)).toEqual(
    new Set([
      'get_current_account',
      'list_voices',
      'validate_agent_template',
      'create_agent',
      'create_phone_number',
      'place_call',
      'wait_for_call',
      'get_usage',
    ]),
  )
  expect(stdout).toMatch(/^ +\d+ agent: Hello Emma, this is Market Street Practice\.$/m)
  expect(stdout).toMatch(/\+442079460123\?\n +To: /)
  expect(stdout).toMatch(/Office trunk/)
  expect(stdout).not.toMatch(/[^\S\n]\n/)
  expect(stdout).toMatch(/Hotel Lindenhof reservations \(.*\): \d/)

  // Usage counts the same seconds as the call reports, at any time of day.
  const [, lasted] = /completed, answered by a person .* (\d+) s; \d+ turns/.exec(stdout) ?? []
  expect(lasted).toBeDefined()
  const [, used] = /Market Street Practice \(.*\): .* min \((\d+) s\), 1;/.exec(stdout) ?? []
  expect(used).toBe(lasted)
})
