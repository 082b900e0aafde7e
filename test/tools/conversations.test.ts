import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../harness/client.ts'
import { type FakePlatform, json, startFakePlatform } from '../harness/fake-platform.ts'

let platform: FakePlatform
let client: TestClient
beforeAll(async () => {
  platform = await startFakePlatform(() => undefined, { account: 'own' })
  client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

/** The platform has so many conversations, c0 to the last, and ignores the filter. */
const unfiltered = (total: number, { ignoresOffset = false } = {}) => {
  platform.seen.length = 0
  platform.behave(({ url }, res) => {
    const { searchParams } = new URL(url, platform.url)
    const [offset, limit] = ['offset', 'limit'].map((name) => Number(searchParams.get(name)))
    const from = ignoresOffset ? 0 : (offset ?? 0)
    const all = Array.from({ length: total }, (_, at) => ({ conversation_id: `c${at}` }))
    json(res, 200, { count: total, items: all.slice(from, from + (limit ?? 0)) })
  })
}

const refusal = async (id: string) => {
  const { isError, content } = await client.call('get_conversation', { id })
  expect(isError).toBe(true)
  return content[0]?.text
}

describe('a conversation, of a platform that ignores conversation_id', () => {
  test('is the one with that id, on whichever page', async () => {
    unfiltered(250)
    for (const id of ['c0', 'c3', 'c230'])
      expect(await client.value('get_conversation', { id })).toMatchObject({ conversation_id: id })
  })

  test('is not there if none has that id', async () => {
    unfiltered(3)
    expect(await refusal('c3')).toContain('no conversation c3 in this account')
  })

  test('is unknown if not all could be read, within 20 pages', async () => {
    unfiltered(5000)
    expect(await refusal('c4999')).toContain(
      'it is not known whether there is a conversation c4999',
    )
    expect(platform.seen).toHaveLength(20)
    unfiltered(500, { ignoresOffset: true })
    expect(await refusal('c300')).toContain('it is not known whether there is a conversation c300')
  })

  test('costs one request where the filter works', async () => {
    platform.seen.length = 0
    platform.behave((_, res) => json(res, 200, { count: 1, items: [{ conversation_id: 'c1' }] }))
    await client.value('get_conversation', { id: 'c1' })
    expect(platform.seen).toHaveLength(1)
  })
})
