import { expect, test } from 'vitest'
import { scenarios } from '../labs/attack/scenarios.ts'
import { scarceMemory } from '../labs/measure/program.ts'
import { read, rowsUnder } from './documents.ts'

const document = 'docs/security.md'
const rows = rowsUnder(document, 'Tests')
const evidence = rows.map(([, tests = '']) => tests).join('<br>')

test('each promise of docs/security.md has a row of tests, in the same order', () => {
  const [, promises = ''] = /^## Promises$([\s\S]*?)^## /m.exec(read(document)) ?? []
  const leads = [...promises.matchAll(/^- \*\*(.+?)[.:]?\*\*/gm)].map(([, lead = '']) =>
    lead.replaceAll(/\[(.+?)\]\(.+?\)/g, '$1'),
  )
  expect(leads.length).toBeGreaterThan(60)
  expect(promises.match(/^- /gm)).toHaveLength(leads.length)
  expect(rows.map(([promise]) => promise)).toEqual(leads)
})

test('each test that docs/security.md names exists', () => {
  for (const shown of evidence.split('<br>')) {
    expect(shown).toMatch(/^(?:`test\/[^`]+`, "[^"]+"|attack `[a-z-]+`)$/)
  }
  for (const [, file = '', name = ''] of evidence.matchAll(/`(test\/[^`]+)`, "([^"]+)"/g)) {
    expect(read(file).includes(name), `${file}: ${name}`).toBe(true)
  }
})

test('docs/security.md names exactly the existing attacks', () => {
  const attacks = [...evidence.matchAll(/attack `([a-z-]+)`/g)].map(([, name]) => name)
  expect(new Set(attacks)).toEqual(new Set(scenarios.map(({ name }) => name)))
})

test('attacks on memory use the low-memory options of docs/deployment.md', () => {
  const { MALLOC_ARENA_MAX, NODE_OPTIONS } = scarceMemory
  expect(read('docs/deployment.md')).toContain(
    `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}"`,
  )
})
