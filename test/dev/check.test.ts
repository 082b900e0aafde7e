import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const check = (...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, '../../src/dev/check.ts'), ...args], {
    encoding: 'utf8',
  })

test('npm run check lists its steps, and refuses to start with an unknown step', () => {
  const { status, stdout } = check('--help')
  expect(status).toBe(0)
  for (const step of ['lint', 'types', 'test:slow', 'soak'])
    expect(stdout).toMatch(new RegExp(`^ {2}${step} `, 'm'))
  expect(check('--from', 'tests')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^[^\n]*\btests\b/),
  })
})
