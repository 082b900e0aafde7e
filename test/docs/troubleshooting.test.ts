import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examine } from '../harness/doctor.ts'
import { firstColumn, root } from './documents.ts'

const document = 'docs/troubleshooting.md'

test('docs/troubleshooting.md has every check of doctor, and no other', async () => {
  const { names } = await examine({ VOICE_AGENT_SANDBOX_DB: ':memory:' })
  expect(firstColumn(document, 'What it checks')).toEqual(names)
})

test('docs/troubleshooting.md quotes messages of this program', () => {
  const files = globSync('src/**/*.ts', { cwd: root })
  const source = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const messages = firstColumn(document, 'Messages at the start')
  expect(messages.length).toBeGreaterThan(10)
  for (const message of messages) expect(source).toContain(message)
})
