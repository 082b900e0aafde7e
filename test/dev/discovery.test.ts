import { expect, test } from 'vitest'
import {
  findTools,
  heldOutRequests,
  leastShare,
  requests,
  shareWithin,
} from '../../src/dev/discovery.ts'
import { tools } from '../../tools/index.ts'

test('a plain search finds the tool for what a person asks', () => {
  expect(requests).toHaveLength(189)
  expect(shareWithin(3, findTools())).toBeGreaterThanOrEqual(leastShare)
})

test('requests ask for every tool, in three languages, each in its own words', () => {
  const asked = requests.map(({ tool }) => tool)
  expect(new Set(asked)).toEqual(new Set(tools.map(({ name }) => name)))
  expect(new Set(requests.map(({ language }) => language)).size).toBe(3)
  expect(new Set(requests.map(({ request }) => request)).size).toBe(189)
})

test('held-out requests are words of their own', () => {
  const worded = new Set(requests.map(({ request }) => request))
  expect(heldOutRequests).toHaveLength(84)
  expect(heldOutRequests.filter(({ request }) => worded.has(request))).toEqual([])
})
