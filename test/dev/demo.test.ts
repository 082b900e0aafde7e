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
      'list_sip_trunks',
      'create_phone_number',
      'place_call',
      'wait_for_call',
      'get_usage',
    ]),
  )
  expect(stdout).toMatch(/agent +Hello Emma, this is Market Street Practice\./)
  expect(stdout).toMatch(/\+442079460123\?.*\n +\S/)
  expect(stdout).toMatch(/Office trunk/)
  expect(stdout).not.toMatch(/[^\S\n]\n/)
  expect(stdout).toMatch(/Hotel Lindenhof reservations {2}\d+ conversations/)
  expect(stdout).not.toMatch(/[^\d\s]\d+ conversation/)

  // The call lasted as long as the usage of its agent says, at any time of the day.
  const [, lasted] = /completed, answered by a human, (\d+) s$/m.exec(stdout) ?? []
  expect(lasted).toBeDefined()
  const [, used] =
    /Market Street Practice +1 conversation +(\d+) s {2}\(the call above\)/.exec(stdout) ?? []
  expect(used).toBe(lasted)
})
