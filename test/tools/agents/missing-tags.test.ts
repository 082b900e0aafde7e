import { expect, test } from 'vitest'
import { missingWarnings } from '../../../src/tool/list-edits.ts'
import { updatesResult } from '../../../tools/agents/updated-agents.ts'

const tags = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `${word}-${at}-${'x'.repeat(50)}`)

const list = { path: 'tags', word: 'tag', keyOf: (tag: string) => tag }

test('of many tags that are not there some are named, and the others counted', () => {
  const before = process.cpuUsage()
  const warnings = missingWarnings({
    ...{ list, argument: 'remove.tags', entries: tags(5000, 'wanted') },
    known: tags(2000, 'stored'),
  })
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
  expect(warnings).toHaveLength(11)
  expect(warnings[0]).toContain('wanted-0-')
  expect(warnings.at(-1)).toContain('4990')
})

test('the tags that none of many agents has are found at once', () => {
  const missing = [
    { list, argument: 'remove.tags', entries: tags(5000, 'wanted'), known: ['sales'] },
  ]
  const agent = { id: 'a', name: 'A', tags: ['sales'] }
  const report = { agent, applied: false, changes: [], warnings: [], isIgnored: false, missing }
  const outcomes = Array.from({ length: 100 }, () => ({
    given: 'A',
    id: 'a',
    outcome: { state: 'done' as const, value: report },
  }))
  const before = process.cpuUsage()
  const selection = {
    items: [],
    repeated: [],
    failed: [],
    notes: [],
    isByFilter: false,
    argument: 'agent_ids',
  }
  const { lines = [] } = updatesResult(outcomes, selection, {})
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
  expect(lines.filter((line) => line.startsWith('Warning: '))).toHaveLength(11)
})
