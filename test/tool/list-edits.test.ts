import { expect, test } from 'vitest'
import { missingEverywhere, missingWarnings } from '../../src/tool/list-edits.ts'

const tags = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `${word}-${at}-${'x'.repeat(50)}`)

const list = { path: 'tags', word: 'tag', keyOf: (tag: string) => tag }

test('of many missing tags some are named, and the others counted', () => {
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

test('the tags that none of many agents has are found quickly', () => {
  const missing = [
    { list, argument: 'remove.tags', entries: tags(5000, 'wanted'), known: ['sales'] },
  ]
  const before = process.cpuUsage()
  const warnings = missingEverywhere(Array.from({ length: 100 }, () => missing)).flatMap(
    missingWarnings,
  )
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000)
  expect(warnings).toHaveLength(11)
})
