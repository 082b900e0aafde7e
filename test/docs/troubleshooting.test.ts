import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examine } from '../harness/doctor.ts'
import { firstColumn, root, rowsUnder } from './documents.ts'

const document = 'docs/troubleshooting.md'

test('docs/troubleshooting.md has every check of doctor, and no other', async () => {
  const { names } = await examine({ VOICE_AGENT_SANDBOX_DB: ':memory:' })
  expect(firstColumn(document, 'What it checks')).toEqual(names)
})

test.each([
  ['Messages at the start', 'src/**/*.ts'],
  ['Messages of tools', '{src,tools}/**/*.ts'],
  ['Messages over HTTP', 'src/**/*.ts'],
])('docs/troubleshooting.md quotes messages of this program: %s', (heading, sources) => {
  const files = globSync(sources, { cwd: root })
  const source = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const messages = rowsUnder(document, heading).flatMap(([first = '']) =>
    [...first.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
  )
  expect(messages.length).toBeGreaterThan(6)
  for (const message of messages) expect(source).toContain(message)
})
