import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scarceMemory } from '../labs/attack/attack.ts'
import { scenarios } from '../labs/attack/scenarios.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
// Line breaks have no meaning.
const document = read('docs/security.md').replace(/\s+/g, ' ')

const named = [...document.matchAll(/`(test\/[^`]+)`, "([^"]+)"/g)]
const attacks = [...document.matchAll(/attack `([a-z-]+)`/g)].map(([, name]) => name)

test('each test that docs/security.md names is there', () => {
  expect(named.length).toBeGreaterThan(20)
  for (const [, file = '', name = ''] of named) {
    expect(read(file).includes(name), `${file}: ${name}`).toBe(true)
  }
  // Each file is named together with a test in it.
  expect(document.match(/`test\//g)).toHaveLength(named.length)
})

test('docs/security.md names every attack, and none that is not there', () => {
  expect(new Set(attacks)).toEqual(new Set(scenarios.map(({ name }) => name)))
})

test('each guarantee of docs/security.md is shown by a test or an attack', () => {
  const [guaranteed = ''] = document.split('## Not guaranteed')
  const [, ...guarantees] = guaranteed.split(' - ')
  expect(guarantees.length).toBeGreaterThan(20)
  for (const guarantee of guarantees) expect(guarantee).toMatch(/`test\/|attack `/)
})

test('attacks on memory use the options that docs/deployment.md gives for little memory', () => {
  const { MALLOC_ARENA_MAX, NODE_OPTIONS } = scarceMemory
  expect(read('docs/deployment.md')).toContain(
    `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}"`,
  )
})
