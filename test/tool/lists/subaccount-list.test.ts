import { describe, expect, test } from 'vitest'
import type { ReplyOf } from '../../../src/contract/route.ts'
import { routes } from '../../../src/contract/routes.ts'
import type { Client } from '../../../src/platform/client.ts'
import { ApiError } from '../../../src/platform/failure.ts'
import { restrictedSession } from '../../../src/platform/sessions/restricted-session.ts'
import { rejectOnAbort } from '../../../src/platform/time-limit.ts'
import { readSubaccountList } from '../../../src/tool/lists/list-steps.ts'
import { tools } from '../../../tools/index.ts'
import { startTreePlatform, type TreeNode } from '../../harness/account-tree-platform.ts'
import { connectPerson } from '../../harness/answering-client.ts'
import {
  type ClientKind,
  clientKinds,
  connectStdio,
  errorOf,
  type TestClient,
} from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { seedIds } from '../../harness/sandbox.ts'
import { sessionOf } from '../../harness/session.ts'

const itemsOf = (account: string, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ id: `${account}-${at}`, name: `n${at}`, ...more }))

/** A tree of accounts: `own` has `north` and the disabled `south`; `shop` is below `north`. */
const family = (changes: Partial<Record<'own' | 'north' | 'south' | 'shop', object>> = {}) => {
  const node = (id: 'own' | 'north' | 'south' | 'shop', more: Partial<TreeNode>): TreeNode => ({
    id,
    name: `The ${id}`,
    items: itemsOf(id, 2),
    ...more,
    ...changes[id],
  })
  const shop = node('shop', {})
  const below = [node('north', { below: [shop] }), node('south', { is_active: false })]
  return node('own', { below })
}

async function connect(root: TreeNode, { env = {}, kind = 'v2 2026-07-28' as ClientKind } = {}) {
  const platform = await startTreePlatform(root)
  const client = await connectStdio(kind, {
    env: {
      VOICE_AGENT_API_KEY: 'sk-0123456789',
      VOICE_AGENT_BASE_URL: platform.url,
      ...env,
    },
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

type Listed = Record<string, unknown> & { items: { id: string; account: unknown }[] }

/** Reads all pages of a list. Returns their ids and notes. */
async function allPages(
  client: TestClient,
  name: string,
  args: { limit: number; include_subaccounts: boolean },
) {
  const ids: string[] = []
  for (let offset: unknown = 0; offset !== null; ) {
    const page = (await client.value(name, { ...args, offset })) as Listed
    expect(page.items.length).toBeLessThanOrEqual(args.limit)
    ids.push(...page.items.map(({ id }) => id))
    offset = page.next_offset
  }
  return ids
}

const lists = ['list_agents', 'list_phone_numbers', 'list_sip_trunks', 'list_calls']
const all = { include_subaccounts: true }

describe('a list with include_subaccounts', () => {
  test.each(clientKinds)(
    'has the items of every depth with their account, for %s',
    async (kind) => {
      await using tree = await connect(family(), { kind })
      for (const name of lists) {
        const { total, next_offset, items } = (await tree.value(name, all)) as Listed
        expect([name, total, next_offset]).toEqual([name, 8, null])
        expect(items.map(({ id, account }) => [id, account])).toEqual([
          ['own-0', { id: 'own' }],
          ['own-1', { id: 'own' }],
          ['north-0', { id: 'north', name: 'The north' }],
          ['north-1', { id: 'north', name: 'The north' }],
          ['south-0', { id: 'south', name: 'The south', is_active: false }],
          ['south-1', { id: 'south', name: 'The south', is_active: false }],
          ['shop-0', { id: 'shop', name: 'The shop' }],
          ['shop-1', { id: 'shop', name: 'The shop' }],
        ])
      }
    },
  )

  test('is explained once, by the instructions', async () => {
    await using person = await connectPerson('v2 2026-07-28', {})
    const { instructions } = await person.offered()
    expect(instructions).toContain('include_subaccounts')
  })

  test('reads only the one account without it', async () => {
    await using tree = await connect(family())
    for (const name of lists) {
      expect(await tree.value(name)).toMatchObject({ total: 2, items: [{}, {}] })
    }
    expect(tree.seen.filter(({ url }) => !url.includes('/accounts/own/'))).toEqual([])
  })

  test('passes the filters to every account', async () => {
    await using tree = await connect(family())
    await tree.value('list_agents', { ...all, name: 'Sales', tags: ['a', 'b'], limit: 5 })
    const asked = tree.seen.flatMap(({ url }) => /accounts\/(\w+)\/agents\?(.*)/.exec(url) ?? [])
    const query = 'name=Sales&tags=a&tags=b&limit=5&offset=0'
    expect(asked.filter((_, at) => at % 3 === 1).sort()).toEqual(['north', 'own', 'shop', 'south'])
    expect(new Set(asked.filter((_, at) => at % 3 === 2))).toEqual(new Set([query]))
  })

  test('begins at the account that is named', async () => {
    await using tree = await connect(family())
    const listed = await tree.value('list_agents', { ...all, account_id: 'north' })
    expect(listed).toMatchObject({
      total: 4,
      items: [{ id: 'north-0', account: { id: 'north', name: 'The north' } }, {}, {}, {}],
    })
  })

  test('names the account once if all items of a page belong to it', async () => {
    await using tree = await connect(family())
    const page = await tree.value('list_agents', { ...all, account_id: 'north', limit: 1 })
    expect(page).toMatchObject({ account: { id: 'north' }, items: [{ id: 'north-0' }] })
    expect((page as Listed).items[0]).not.toHaveProperty('account')
  })

  test.each([1, 3, 20])('has each item once on pages of %i', async (limit) => {
    const shop = { items: itemsOf('shop', 7) }
    await using tree = await connect(family({ shop, own: { items: [] } }))
    for (const name of lists) {
      const ids = await allPages(tree, name, { ...all, limit })
      expect(ids).toHaveLength(11)
      expect(new Set(ids).size, name).toBe(11)
    }
  })

  test('reads accounts with more items than a page to the end', async () => {
    await using tree = await connect(family({ north: { items: itemsOf('north', 260) } }))
    const page = (await tree.value('list_agents', { ...all, offset: 255, limit: 10 })) as Listed
    expect(page).toMatchObject({ total: 266, next_offset: 265 })
    expect(page.items.map(({ id }) => id)).toEqual([
      ...Array.from({ length: 7 }, (_, at) => `north-${253 + at}`),
      ...['south-0', 'south-1', 'shop-0'],
    ])
    // Items may move between pages if others are added or removed. The first page is exact.
    expect(page).toHaveProperty('note')
    expect(await tree.value('list_agents', { ...all, limit: 10 })).not.toHaveProperty('note')
  })

  test('of calls has the latest of all accounts first', async () => {
    const at = (hour: number) => ({ created: `2026-11-20T${hour}:00:00Z` })
    const calls = (account: string, ...hours: number[]) => ({
      items: hours.map((hour) => ({ id: `${account}-${hour}`, ...at(hour) })),
    })
    await using tree = await connect(
      family({
        own: calls('own', 18, 12),
        north: calls('north', 19, 17, 13),
        south: { items: [] },
        shop: calls('shop', 16, 15, 14),
      }),
    )
    const hours = [19, 18, 17, 16, 15, 14, 13, 12]
    const ids = await allPages(tree, 'list_calls', { ...all, limit: 3 })
    expect(ids.map((id) => Number(id.split('-')[1]))).toEqual(hours)
  })

  test('shows an item once, even if it moves to a later page meanwhile', async () => {
    await using platform = await connect(family())
    const items = itemsOf('own', 150)
    let pages = 0
    platform.behave(({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://x')
      const isList = pathname.endsWith('/own/agents')
      // One item was added after the first page, so the second repeats the first's last item.
      const offset = Number(searchParams.get('offset')) - (isList && pages++ > 0 ? 1 : 0)
      const page = isList ? items.slice(offset, offset + Number(searchParams.get('limit'))) : []
      response.end(JSON.stringify({ count: isList ? 150 : 0, items: page }))
    })
    const { items: listed } = (await platform.value('list_agents', {
      ...all,
      limit: 149,
    })) as Listed
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    expect(listed).toHaveLength(149)
  })

  test('names accounts that could not be read, and shows the others', async () => {
    await using tree = await connect(
      family({ north: { fails: 403 }, shop: { fails: 403 }, south: { fails: 'hangs' } }),
      { env: { VOICE_AGENT_TIMEOUT: '3' } },
    )
    const listed = await tree.value('list_agents', all)
    expect(listed).toMatchObject({
      total: null,
      returned: 2,
      note: expect.stringContaining('failed_accounts'),
      failed_accounts: [
        {
          reason: expect.stringMatching(/\b403\b.*it was no/),
          accounts: [{ id: 'north', name: 'The north' }, { id: 'shop' }],
        },
        { reason: expect.not.stringContaining('403'), accounts: [{ id: 'south' }] },
      ],
      items: [{ id: 'own-0' }, { id: 'own-1' }],
    })
    const { content } = await tree.call('list_agents', all)
    expect(content[0]?.text).toContain('The north')
  })

  test('shows subaccounts if the account itself could not be read', async () => {
    await using tree = await connect(family({ own: { fails: 403 } }))
    const listed = await tree.value('list_agents', all)
    expect(listed).toMatchObject({ returned: 6, failed_accounts: [{ accounts: [{ id: 'own' }] }] })
  })

  test('is an error if no account could be read', async () => {
    const fails = { fails: 403 }
    await using tree = await connect(
      family({ own: fails, north: fails, south: fails, shop: fails }),
    )
    const result = await tree.call('list_agents', all)
    expect(errorOf(result)).toMatchObject({ kind: 'rejected', status: 403 })
  })

  test('names the accounts whose subaccounts could not be read', async () => {
    await using tree = await connect(family())
    tree.behave(({ url }, response) => {
      const isTree = url.includes('/subaccounts')
      response.statusCode = isTree ? 403 : 200
      const error = { code: 'forbidden', message: 'no', detail: null, errors: null }
      response.end(JSON.stringify(isTree ? error : { count: 1, items: [{ id: 'a' }] }))
    })
    expect(await tree.value('list_agents', all)).toMatchObject({
      items: [{ id: 'a' }],
      failed_accounts: [
        {
          reason: expect.stringMatching(/subaccounts.*\b403\b/),
          accounts: [{ id: 'own' }],
        },
      ],
    })
  })

  test('reads at most 100 accounts, 8 at a time, and says that there are more', async () => {
    const below = Array.from({ length: 130 }, (_, at) => ({
      id: `b${at}`,
      items: itemsOf(`b${at}`, 1),
    }))
    await using tree = await connect(family({ own: { below } }))
    const listed = await tree.value('list_agents', { ...all, limit: 200 })
    expect(listed).toMatchObject({ total: null, returned: 101 })
    expect(listed.note).toMatch(/\b100\b.*account_id/)
    const asked = tree.seen.filter(({ url }) => url.includes('/agents?'))
    expect(asked).toHaveLength(100)
    expect(tree.peakConcurrency()).toBeGreaterThan(2)
    expect(tree.peakConcurrency()).toBeLessThanOrEqual(8)
  })

  test('ends although accounts contain each other', async () => {
    const own: TreeNode = { id: 'own', items: itemsOf('own', 1), below: [] }
    const north = { id: 'north', items: itemsOf('north', 1), below: [own] }
    await using tree = await connect({ ...own, below: [north] })
    expect(await tree.value('list_agents', all)).toMatchObject({ total: 2 })
  })
})

describe('requests that take too long', () => {
  const never = new Promise<never>(() => undefined)
  /** A client for `own` and its subaccount `slow`, whose list of agents never replies. */
  const clientOf = (asked: string[]): Client => ({
    async call(route, { params: { account_id } }, signal) {
      asked.push(`${route.id} ${account_id ?? ''}`)
      const cancelled = new ApiError(
        { kind: 'cancelled', maybeSent: true },
        { ...route, attempts: 1 },
      )
      signal?.throwIfAborted()
      const reply = {
        'accounts.current': { id: 'own', name: 'Own' },
        'subaccounts.list': { count: 1, items: account_id === 'own' ? [{ id: 'slow' }] : [] },
        'agents.list': account_id === 'own' ? { count: 1, items: [{ id: 'a' }] } : undefined,
      }[route.id]
      return (await (reply ?? rejectOnAbort(never, signal, () => cancelled))) as ReplyOf<
        typeof route
      >
    },
  })
  const runOf = (asked: string[], more: { msLeft: number; signal?: AbortSignal }) => ({
    request: { params: { account_id: 'me' }, query: { limit: 20 } },
    restricted: restrictedSession(sessionOf(clientOf(asked)), tools),
    signal: more.signal,
    answerBy: performance.now() + more.msLeft,
  })

  test('end when the time is over, and their accounts are named', async () => {
    const listed = readSubaccountList(routes.agents.list, runOf([], { msLeft: 1000 }), 'by_account')
    expect(await listed).toMatchObject({
      items: [{ id: 'a', account: { id: 'own', name: 'Own' } }],
      total: null,
      rest: {
        failed_accounts: [
          { reason: expect.not.stringContaining('cancel'), accounts: [{ id: 'slow' }] },
        ],
      },
    })
  })

  test('end when the caller gives up, with an error', async () => {
    const abort = new AbortController()
    const asked: string[] = []
    const run = runOf(asked, { msLeft: 10_000, signal: abort.signal })
    const listed = readSubaccountList(routes.agents.list, run, 'by_account')
    await expect.poll(() => asked).toContain('agents.list slow')
    const before = asked.length
    abort.abort()
    await expect(listed).rejects.toMatchObject({ failure: { kind: 'cancelled' } })
    expect(asked).toHaveLength(before)
  })
})

describe('a server that may not read subaccounts', () => {
  test('reads the pinned account alone, and says so', async () => {
    await using tree = await connect(family(), { env: { VOICE_AGENT_ACCOUNT: 'north' } })
    for (const name of lists) {
      const listed = await tree.value(name, all)
      expect(listed).toMatchObject({ total: 2, items: [{ id: 'north-0' }, { id: 'north-1' }] })
      expect(listed.note).toEqual(expect.any(String))
      expect(listed.note).not.toBe((await tree.value(name)).note)
      expect(JSON.stringify(listed)).not.toContain('shop')
    }
    expect(tree.seen.filter(({ url }) => /accounts\/(own|south|shop)\//.test(url))).toEqual([])
    const tools = JSON.stringify(await tree.listTools())
    expect(tools).not.toContain('include_subaccounts')
  })

  test('reads no subaccounts if their list is not exposed', async () => {
    const env = { VOICE_AGENT_EXCLUDE_TOOLS: 'list_subaccounts' }
    await using tree = await connect(family(), { env })
    const listed = await tree.value('list_agents', all)
    expect(listed.total).toBe(2)
    expect(listed.note).toContain('list_subaccounts')
    expect(tree.seen.filter(({ url }) => url.includes('subaccounts'))).toEqual([])
  })
})

test('the sandbox lists the agents of its branches', async () => {
  await using client = await connectStdio('v2 2026-07-28')
  const branch = { id: seedIds.subaccount, name: 'Sandbox branch' }
  await client.value('create_agent', { ...newAgent, name: 'Of a branch', account_id: branch.id })
  const { items } = (await client.value('list_agents', all)) as Listed
  expect(items).toContainEqual(expect.objectContaining({ name: 'Of a branch', account: branch }))
})
