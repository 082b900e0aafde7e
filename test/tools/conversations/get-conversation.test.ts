import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { estimateTokens } from '../../../src/text/token-estimate.ts'
import { resultBudget } from '../../../src/tool/results/shortening.ts'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { type FakePlatform, json, startFakePlatform } from '../../harness/fake-platform.ts'

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

/** A platform with `total` conversations, c0 onwards, that ignores filters. */
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

  test('is not found if none has that id', async () => {
    unfiltered(3)
    expect(await refusal('c3')).toMatch(/^(?!.*created_after).*list_conversations/)
  })

  test('is unknown if not all could be read, within 20 pages', async () => {
    unfiltered(5000)
    // The advice names the argument that narrows the search.
    expect(await refusal('c4999')).toContain('created_after')
    expect(platform.seen).toHaveLength(20)
    unfiltered(500, { ignoresOffset: true })
    expect(await refusal('c300')).toContain('created_after')
  })

  test('costs one request if the filter works', async () => {
    platform.seen.length = 0
    platform.behave((_, res) => json(res, 200, { count: 1, items: [{ conversation_id: 'c1' }] }))
    await client.value('get_conversation', { id: 'c1' })
    expect(platform.seen).toHaveLength(1)
  })
})

describe('a list of conversations with transcripts', () => {
  const words = 'I would like to move my appointment to Thursday afternoon, please. '
  const spoken = (at: number, times: number) => ({
    conversation_id: `7c9e6679-7425-40de-944b-e07fc1f9${1000 + at}`,
    type: 'phone',
    status: 'completed',
    direction: 'inbound',
    start_timestamp: `2026-11-10T09:${10 + (at % 50)}:00Z`,
    duration_seconds: 60 + at,
    agent_id: `550e8400-e29b-41d4-a716-44665544${1000 + at}`,
    // Zero-width joiners are escaped in text, where they take more room.
    agent_name: `Front desk 👩‍👩‍👧 ${at}`,
    contact_number: `+1202555${1000 + at}`,
    messages: [{ role: 'user', message: words.repeat(times), latency_ms: 1 }],
  })
  const Page = z.object({
    total: z.int(),
    returned: z.int(),
    next_offset: z.int().nullish(),
    items: z.array(z.looseObject({ conversation_id: z.string() })),
  })

  test.each<[string, (at: number) => number]>([
    ['short', () => 4],
    ['empty', () => 0],
    ['of all lengths', (at) => (at % 7 === 3 ? 120 : at % 5)],
    ['longer than a result', (at) => (at % 9 === 4 ? 2000 : 2)],
  ])('is cut at an item, in data and text alike: transcripts are %s', async (_, times) => {
    const all = Array.from({ length: 45 }, (_, at) => spoken(at, times(at)))
    platform.behave(({ url }, res) => {
      const { searchParams } = new URL(url, platform.url)
      const [offset = 0, limit = 0] = ['offset', 'limit'].map((name) =>
        Number(searchParams.get(name)),
      )
      json(res, 200, { count: all.length, items: all.slice(offset, offset + limit) })
    })
    const seen: unknown[] = []
    for (let offset: number | null | undefined = 0; offset != null; ) {
      const { content, structuredContent } = await client.call('list_conversations', {
        fields: ['messages.role', 'messages.message'],
        limit: 40,
        offset,
      })
      const text = content[0]?.text ?? ''
      expect(estimateTokens(text)).toBeLessThanOrEqual(resultBudget + 50)
      const page = Page.parse(JSON.parse(text.slice(0, text.indexOf('\n'))))
      const ids = page.items.map((item) => item.conversation_id)
      const data = Page.parse(structuredContent)
      expect(data.items.map((item) => item.conversation_id)).toEqual(ids)
      expect([...text.matchAll(/^- ([\da-f-]{36}): /gm)].map(([, id]) => id)).toEqual(ids)
      expect(page.returned).toBe(ids.length)
      expect(data.next_offset ?? null).toBe(page.next_offset ?? null)
      if (page.next_offset != null) expect(page.next_offset).toBe(offset + ids.length)
      seen.push(...page.items)
      offset = page.next_offset
    }
    expect(seen).toEqual(all.map(({ messages: _, ...known }) => known))
  })
})
