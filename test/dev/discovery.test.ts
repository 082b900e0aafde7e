import { expect, test } from 'vitest'
import {
  findTools,
  heldOutRequests,
  leastHeldOutShare,
  leastShare,
  requests,
  shareWithin,
} from '../../src/dev/discovery.ts'
import { tools } from '../../tools/index.ts'

test('a plain search finds the tool for what a person asks', () => {
  expect(requests).toHaveLength(251)
  expect(shareWithin(3, findTools())).toBeGreaterThanOrEqual(leastShare)
})

test('it finds the tool for requests that no tool was worded for', () => {
  expect(heldOutRequests).toHaveLength(50)
  const found = findTools(heldOutRequests)
  expect(shareWithin(3, found)).toBeGreaterThanOrEqual(leastHeldOutShare)
})

test('requests ask for every tool, in three languages, each in its own words', () => {
  const asked = requests.map(({ tool }) => tool)
  expect(new Set(asked)).toEqual(new Set(tools.map(({ name }) => name)))
  expect(new Set(requests.map(({ language }) => language)).size).toBe(3)
  const all = [...requests, ...heldOutRequests].map(({ request }) => request)
  expect(new Set(all).size).toBe(301)
})
