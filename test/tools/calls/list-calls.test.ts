import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTreePlatform, type TreeNode } from '../../harness/account-tree-platform.ts'
import { connectStdio, type TestClient } from '../../harness/client.ts'

type Listed = Record<string, unknown> & { items: Record<string, unknown>[] }

describe('calls of the sandbox', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connectStdio('v2 2026-07-28')
  })
  afterAll(() => client[Symbol.asyncDispose]())
  const list = async (args: object) => (await client.value('list_calls', { ...args })) as Listed

  test('are found by answer_status, with counts of the other answers', async () => {
    const all: Listed['items'] = []
    for (let offset: unknown = 0; offset !== null; ) {
      const page = await list({ limit: 50, offset })
      all.push(...page.items)
      offset = page.next_offset
    }
    expect(all).toHaveLength(120)
    const count = (answer: string) => all.filter((call) => call.answer_status === answer).length
    const listed = await list({ answer_status: ['user_unavailable', 'user_busy'] })
    expect(listed.total).toBe(count('user_unavailable') + count('user_busy'))
    expect(listed.items.map(({ id }) => id)).toEqual(
      all
        .filter((call) => /user_(unavailable|busy)/.test(String(call.answer_status)))
        .map(({ id }) => id),
    )
    expect(listed.by_answer_status).toEqual({
      human: count('human'),
      machine: count('machine'),
      user_busy: count('user_busy'),
      user_unavailable: count('user_unavailable'),
    })
    expect(listed.note).toMatch(/\(user_unavailable\).*\(user_busy\)/)
  })

  test('that failed are counted by the reason, on every page', async () => {
    for (const page of [{}, { limit: 2 }, { limit: 2, offset: 4 }]) {
      const listed = await list({ status: 'failed', ...page })
      expect(listed.by_answer_status).toEqual({ user_busy: 9, user_unavailable: 9 })
      expect(listed).toMatchObject({ total: 18 })
      for (const item of listed.items) {
        expect(item).toMatchObject({ status: 'failed', created: expect.any(String) })
      }
    }
  })

  test('of a day that nobody answered are found with the other filters', async () => {
    const { items } = await list({ answer_status: ['user_unavailable'] })
    const { id, created } = items[3] ?? {}
    const day = Date.parse(String(created))
    const range = {
      created_after: new Date(day - 1000).toISOString(),
      created_before: new Date(day + 1000).toISOString(),
    }
    const listed = await list({ answer_status: ['user_unavailable'], ...range })
    expect(listed).toMatchObject({ total: 1, items: [{ id }] })
  })

  test('that were transferred are found by status', async () => {
    const { total, items } = await list({ status: 'transferred' })
    expect(total).toBe(9)
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['transferred']))
  })

  test('with an unknown answer_status are an error that names the known ones', async () => {
    const { isError, content } = await client.call('list_calls', { answer_status: ['no_answer'] })
    expect(isError).toBe(true)
    expect(content[0]?.text).toContain('user_unavailable')
  })
})

const callsOf = (id: string, count: number, answer: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => ({ id: `${id}-${at}`, answer_status: answer(at) }))

async function connect(root: TreeNode) {
  const platform = await startTreePlatform(root)
  const client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
  return {
    ...platform,
    ...client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
    },
  }
}

describe('calls by answer_status', () => {
  const unanswered = { answer_status: ['user_unavailable'] }

  test('are on pages without gaps or overlap, from every account', async () => {
    const answer = (at: number) => (at % 3 === 0 ? 'user_unavailable' : 'human')
    const below = [{ id: 'north', items: callsOf('north', 120, answer) }]
    await using tree = await connect({ id: 'own', items: callsOf('own', 250, answer), below })
    const ids: unknown[] = []
    for (let offset: unknown = 0; offset !== null; ) {
      const args = { ...unanswered, include_subaccounts: true, limit: 50, offset }
      const page = (await tree.value('list_calls', args)) as Listed
      expect(page).toMatchObject({
        total: 124,
        by_answer_status: { user_unavailable: 124, human: 246 },
      })
      ids.push(...page.items.map(({ id }) => id))
      offset = page.next_offset
    }
    expect(ids).toHaveLength(124)
    expect(new Set(ids).size).toBe(124)
  })

  test('are searched among 2,000 calls, and the note says so', async () => {
    const answer = (at: number) => (at === 1500 || at === 2500 ? 'user_unavailable' : 'human')
    await using tree = await connect({ id: 'own', items: callsOf('own', 3000, answer) })
    const listed = await tree.value('list_calls', unanswered)
    expect(listed).toMatchObject({
      total: null,
      items: [{ id: 'own-1500' }],
      note: expect.stringMatching(/\b2000\b.*created_after/),
    })
    expect(tree.seen.filter(({ url }) => url.includes('/calls?'))).toHaveLength(20)
  })

  test('are counted even if the platform has other answers, or none', async () => {
    const answers = ['number_ported', null, undefined, 'human']
    const items = callsOf('own', 4, (at) => answers[at])
    await using tree = await connect({ id: 'own', items })
    const listed = await tree.value('list_calls', { status: 'failed' })
    expect(listed.by_answer_status).toEqual({ none: 2, number_ported: 1, human: 1 })
  })

  test('are an error if a page of the only account cannot be read', async () => {
    await using tree = await connect({ id: 'own' })
    tree.behave(({ url }, response) => {
      const isFirst = url.includes('offset=0')
      response.statusCode = isFirst ? 200 : 403
      response.end(JSON.stringify({ count: 200, items: callsOf('own', 100, () => 'human') }))
    })
    const { isError } = await tree.call('list_calls', unanswered)
    expect(isError).toBe(true)
  })

  test('have a note if the platform ignores offset', async () => {
    await using tree = await connect({ id: 'own' })
    tree.behave((_, response) => {
      const items = callsOf('own', 100, () => 'user_unavailable')
      response.end(JSON.stringify({ count: 300, items }))
    })
    expect(await tree.value('list_calls', unanswered)).toMatchObject({
      total: null,
      returned: 20,
      note: expect.stringContaining('offset'),
    })
  })

  test('are not all read without such a filter', async () => {
    await using tree = await connect({ id: 'own', items: callsOf('own', 250, () => 'user_busy') })
    const listed = await tree.value('list_calls', { status: 'completed' })
    expect(listed).toMatchObject({ total: 250, returned: 20 })
    expect(listed).not.toHaveProperty('by_answer_status')
    expect(listed.note).toContain('(user_busy)')
    expect(tree.seen).toHaveLength(1)
  })
})
