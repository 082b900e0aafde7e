import { expect, test } from 'vitest'
import { requests } from '../../src/dev/tool-search.ts'
import { tools } from '../../tools/index.ts'

test('requests ask for every tool, in three languages, each in its own words', () => {
  const asked = requests.map(({ tool }) => tool)
  expect(new Set(asked)).toEqual(new Set(tools.map(({ name }) => name)))
  expect(new Set(requests.map(({ language }) => language)).size).toBe(3)
  expect(new Set(requests.map(({ request }) => request)).size).toBe(requests.length)
})
