import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const script = join(import.meta.dirname, '../../src/dev/require-node.cjs')

/** Runs the script as another version of Node.js would. */
function runAs(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
  const code = `${pretend}; require(${JSON.stringify(script)})`
  return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' })
}

test.each(['18.20.8', '20.20.2', '22.18.0'])('Node.js %s is refused in words', (version) => {
  const { status, stderr } = runAs(version)
  expect(status).toBe(1)
  expect(stderr).toMatch(new RegExp(`^[^\\n]*22\\.19[^\\n]*${version}\\.[\\s\\S]*npm rebuild node`))
  expect(stderr).not.toMatch(/^\s+at /m)
})

test.each(['22.19.0', '24.0.0'])('Node.js %s goes on', (version) => {
  expect(runAs(version)).toMatchObject({ status: 0, stderr: '' })
})
