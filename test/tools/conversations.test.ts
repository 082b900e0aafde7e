import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, errorOf, type TestClient } from '../harness/client.ts'
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
  const { kind, fields } = errorOf(await client.call('get_conversation', { id }))
  expect(kind).toBe('bad_arguments')
  expect(fields).toEqual([{ argument: 'id', message: expect.stringContaining(id) }])
  return fields[0]?.message
}

describe('a conversation, of a platform that ignores conversation_id', () => {
  test('is the one with that id, on whichever page', async () => {
    unfiltered(250)
    for (const id of ['c0', 'c3', 'c230'])
      expect(await client.value('get_conversation', { id })).toMatchObject({ conversation_id: id })
  })

  test('is not there if none has that id', async () => {
    unfiltered(3)
    expect(await refusal('c3')).toMatch(/^(?!.*created_after).*list_conversations/)
  })

  test('is unknown if not all could be read, within 20 pages', async () => {
    unfiltered(5000)
    // How to narrow what is to be read.
    expect(await refusal('c4999')).toContain('created_after')
    expect(platform.seen).toHaveLength(20)
    unfiltered(500, { ignoresOffset: true })
    expect(await refusal('c300')).toContain('created_after')
  })

  test('costs one request where the filter works', async () => {
    platform.seen.length = 0
    platform.behave((_, res) => json(res, 200, { count: 1, items: [{ conversation_id: 'c1' }] }))
    await client.value('get_conversation', { id: 'c1' })
    expect(platform.seen).toHaveLength(1)
  })
})
