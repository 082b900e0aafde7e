import { expect, test } from 'vitest'
import { routes } from '../../../src/contract/routes.ts'
import type { Client } from '../../../src/platform/client.ts'
import { replyCaches } from '../../harness/session.ts'

/** Replies with a catalog of `length` characters, and counts the requests. */
function platform(length: number) {
  const asked: string[] = []
  const voices = [{ id: 'v', name: 'x'.repeat(length) }]
  const client: Client = {
    call: async (_, { query }) => {
      asked.push(String(query.search))
      return { voices } as never
    },
  }
  return { asked, client }
}

const megabyte = 1024 * 1024
const voices = (search: string) => ({
  params: { account_id: 'a' },
  query: { provider: 'p', search },
})

const reader = (cache: ReturnType<ReturnType<typeof replyCaches>>) => (search: string) =>
  cache.read(routes.providers.voices, voices(search), 'catalog')

test('the replies of one API key are limited by their total size as well as by their number', async () => {
  const { asked, client } = platform(megabyte)
  const read = reader(replyCaches()('a key', client))
  const searches = Array.from({ length: 12 }, (_, index) => `s${index}`)
  for (const search of searches) await read(search)
  for (const search of searches.toReversed()) await read(search)
  // Only the latest seven fit; the other five were read again.
  expect(asked).toEqual([...searches, ...searches.slice(0, 5).toReversed()])
})

test('a reply that is too long for the cache is returned', async () => {
  const { asked, client } = platform(9 * megabyte)
  const read = reader(replyCaches()('a key', client))
  for (const _ of [1, 2]) expect(await read('long')).toHaveProperty('voices')
  expect(asked).toEqual(['long', 'long'])
})

test('the replies of all API keys are limited, and the least recently used key loses its replies', async () => {
  const { asked, client } = platform(6 * megabyte)
  const cacheOf = replyCaches()
  const reads = Array.from({ length: 7 }, (_, index) => reader(cacheOf(`key ${index}`, client)))
  for (const [index, read] of reads.entries()) await read(`of ${index}`)
  asked.length = 0
  for (const [index, read] of [...reads.entries()].toReversed()) await read(`of ${index}`)
  expect(asked).toEqual(['of 1', 'of 0'])
})
