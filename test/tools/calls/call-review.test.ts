import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/text/token-estimate.ts'
import { resultBudget } from '../../../src/tool/results/shortening.ts'
import { startTreePlatform, type TreeNode } from '../../harness/account-tree-platform.ts'
import { connectPerson } from '../../harness/answering-client.ts'
import {
  clientKinds,
  connectStdio,
  errorOf,
  type TestClient,
  type ToolResult,
} from '../../harness/client.ts'
import { seedIds } from '../../harness/sandbox.ts'

type Figures = { calls: number | null; before: number | null; change: number | null }
type Group = Record<string, unknown> & { counts: Record<string, Figures> }
interface Review {
  start: string
  end: string
  tz: string
  partial: boolean
  before: { start: string; partial: boolean }
  counts: Record<string, Figures>
  by_outcome: (Figures & { status: string; answer_status: string; evidence: { id: string }[] })[]
  by_agent: Group[]
  by_number: Group[]
  by_account?: Group[]
}

const reviewIn = ({ structuredContent, content }: ToolResult) => ({
  review: structuredContent?.review as Review,
  result: structuredContent ?? {},
  text: content[0]?.text ?? '',
})
const reviewOf = async (client: Pick<TestClient, 'call'>, args: object = {}) =>
  reviewIn(await client.call('list_calls', { review: true, ...args }))

const week = { created_after: '2026-11-09T00:00:00Z', created_before: '2026-11-16T00:00:00Z' }
const thisWeek = (day: number) => `2026-11-${9 + day}T10:00:00Z`.replace('-9T', '-09T')
const weekBefore = (day: number) => `2026-11-0${2 + day}T10:00:00Z`

interface Seed {
  readonly created?: string | null
  readonly status?: string | null
  readonly answer_status?: string | null
  readonly agent?: string | null
}
/** A call; default: outbound by phone, completed, answered by a person. */
const call = (id: string, { agent = 'a', ...more }: Seed = {}) => ({
  ...{ id, type: 'phone', direction: 'outbound', status: 'completed', answer_status: 'human' },
  ...{ agent_id: agent, agent_name: agent && `Agent ${agent}` },
  ...{ from_number: '+12025550110', to_number: '+13035550141', created: thisWeek(1) },
  ...more,
})
const busy = { status: 'failed', answer_status: 'user_busy' }
const many = (count: number, one: (at: number) => object) =>
  Array.from({ length: count }, (_, at) => ({ ...one(at) }))

async function connect(root: TreeNode, env: Record<string, string> = {}) {
  const platform = await startTreePlatform(root)
  const person = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url, ...env },
  })
  return {
    ...platform,
    ...person,
    [Symbol.asyncDispose]: async () => {
      await person[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
    },
  }
}

describe('a review of calls', () => {
  test.each(clientKinds)('counts what the lists hold, in both times, for %s', async (kind) => {
    await using client = await connectStdio(kind)
    const end = new Date()
    const ago = (days: number) => new Date(end.getTime() - days * 86_400_000).toISOString()
    const [now, before] = await Promise.all(
      [
        { created_after: ago(6), created_before: ago(0) },
        { created_after: ago(12), created_before: ago(6) },
      ].map(async (range) => {
        const listed = await client.value('list_calls', { ...range, limit: 100, fields: ['type'] })
        return listed.items as Record<string, unknown>[]
      }),
    )
    const { review, result, text } = await reviewOf(client, {
      created_after: ago(6),
      created_before: ago(0),
    })
    const figures = (isOne: (one: Record<string, unknown>) => boolean): Figures => {
      const [calls = 0, earlier = 0] = [now, before].map((all) => all?.filter(isOne).length)
      return { calls, before: earlier, change: calls - earlier }
    }
    expect(now?.length).toBeGreaterThan(5)
    expect(result).toMatchObject({ total: now?.length, returned: 0, items: [] })
    expect(review).toMatchObject({ start: ago(6), end: ago(0), tz: 'UTC', partial: false })
    expect(review.before).toMatchObject({ start: ago(12), partial: false })
    expect(review.counts.all).toEqual(figures(() => true))
    expect(review.counts.failed).toEqual(figures(({ status }) => status === 'failed'))
    for (const { status, answer_status, evidence, ...counted } of review.by_outcome) {
      const isOne = (one: Record<string, unknown>) =>
        one.status === status && one.answer_status === answer_status
      expect(counted).toEqual(figures(isOne))
      const ids = now?.filter(isOne).map(({ id }) => id)
      expect(evidence.map(({ id }) => id)).toEqual(ids?.slice(0, 3))
      for (const { id } of evidence) expect(text).toContain(id)
    }
    expect(review.by_agent.length).toBeGreaterThan(1)
    for (const { id, counts } of review.by_agent) {
      expect(counts.all).toEqual(figures(({ agent_id }) => agent_id === id))
      expect(counts.completed).toEqual(
        figures(({ agent_id, status }) => agent_id === id && status === 'completed'),
      )
    }
    const line = review.by_number.find(({ number }) => number === '+12025550110')
    expect(line?.counts.all).toEqual(
      figures(({ direction, from_number, to_number }) =>
        [direction === 'inbound' ? to_number : from_number].includes('+12025550110'),
      ),
    )
    expect(text).toContain('UTC')
    expect(review.by_account).toBeUndefined()
  })

  test('covers the last seven days if no time is given', async () => {
    await using client = await connectStdio('v2 2026-07-28')
    const { review } = await reviewOf(client)
    const days = (Date.parse(review.end) - Date.parse(review.start)) / 86_400_000
    expect(days).toBe(7)
    expect(Math.abs(Date.now() - Date.parse(review.end))).toBeLessThan(60_000)
  })

  test('of no calls has no empty headings', async () => {
    await using tree = await connect({ id: 'own', items: [] })
    const { review, text } = await reviewOf(tree, week)
    expect(review.counts).toEqual({ all: { calls: 0, before: 0, change: 0 } })
    expect(text).not.toMatch(/^By /m)
  })

  test.each([
    ['created_after', { created_after: '0001-01-01T00:00:00Z' }],
    ['created_before', { created_before: '9999-12-31T23:59:59Z' }],
  ])('of a period without a period before is refused: %s', async (argument, time) => {
    await using tree = await connect({ id: 'own', items: [] })
    const { fields } = errorOf(await tree.call('list_calls', { review: true, ...time }))
    expect(fields).toEqual([expect.objectContaining({ argument })])
    expect(tree.seen.filter(({ url }) => url.includes('/calls'))).toEqual([])
  })

  test('takes the filters of the list in both times', async () => {
    const items = [
      call('1', { agent: 'b', ...busy }),
      call('2', busy),
      call('3', { created: weekBefore(3), ...busy }),
    ]
    await using tree = await connect({ id: 'own', items })
    const { review, text } = await reviewOf(tree, {
      ...week,
      direction: 'outbound',
      answer_status: ['user_busy'],
    })
    expect(text).toContain('match the filters')
    expect(review.counts.all).toEqual({ calls: 2, before: 1, change: 1 })
    const asked = tree.seen.filter(({ url }) => url.includes('/calls?'))
    expect(asked).toHaveLength(2)
    for (const { url } of asked) expect(url).toContain('direction=outbound')
    expect((await reviewOf(tree, week)).text).not.toContain('match the filters')
  })

  test('shows unknown instead of zero if the platform gives no value', async () => {
    const none = { status: null, answer_status: null, agent: null }
    const items = [{ ...call('1', none), direction: null }, call('2')]
    await using tree = await connect({ id: 'own', items })
    const { review, text } = await reviewOf(tree, week)
    expect(review.by_outcome).toContainEqual(
      expect.objectContaining({ status: 'unknown', answer_status: 'unknown', calls: 1 }),
    )
    expect(review.by_agent.map(({ id }) => id)).toEqual(expect.arrayContaining([null, 'a']))
    expect(review.by_number.map(({ number }) => number)).toContain('unknown')
    expect(text).toMatch(/^- unknown: 1 /m)
  })

  test('counts web calls without a number separately', async () => {
    const web = { type: 'web', direction: 'inbound', from_number: null, to_number: null }
    await using tree = await connect({ id: 'own', items: [{ ...call('1'), ...web }] })
    const { review, text } = await reviewOf(tree, week)
    expect(review.by_number).toMatchObject([{ number: expect.stringContaining('web') }])
    expect(text).toMatch(/^- completed.*; 1 2026-11-10 10:00 Agent a, web$/m)
  })

  test('begins and ends in the given time zone, also across a change of its clock', async () => {
    await using tree = await connect({ id: 'own', items: [call('1')] })
    const { review, text } = await reviewOf(tree, {
      created_after: '2026-10-26T00:00:00+01:00',
      created_before: '2026-11-02T00:00:00+01:00',
      tz: 'Europe/Berlin',
    })
    // Clocks went back on 25 October, so the week before had 169 hours.
    expect(review.before.start).toBe('2026-10-18T22:00:00.000Z')
    expect(review.tz).toBe('Europe/Berlin')
    expect(text).toContain('2026-10-26 00:00 to 2026-11-02 00:00 Europe/Berlin')
    expect(text).toContain('2026-10-19 00:00 to 2026-10-26 00:00 Europe/Berlin')
    const hours = await reviewOf(tree, {
      created_after: '2026-10-26T06:00:00+01:00',
      created_before: '2026-10-26T18:00:00+01:00',
      tz: 'Europe/Berlin',
    })
    expect(hours.review.before.start).toBe('2026-10-25T17:00:00.000Z')
  })

  test('says that its period has not ended', async () => {
    await using tree = await connect({ id: 'own', items: [call('1')] })
    const created_before = new Date(Date.now() + 86_400_000).toISOString()
    const { result } = await reviewOf(tree, { created_before })
    expect(result.note).toContain('has not ended')
    expect((await reviewOf(tree)).result.note ?? '').not.toContain('has not ended')
  })

  test.each([
    [{ evidence: 5 }, 'evidence'],
    [{ tz: 'Europe/Berlin' }, 'tz'],
    [{ review: true, tz: 'Europe/Berln' }, 'tz'],
    [{ review: true, evidence: 0 }, 'evidence'],
    [{ review: true, limit: 50 }, 'limit'],
    [{ review: true, offset: 20 }, 'offset'],
    [{ review: true, fields: ['*'] }, 'fields'],
    [{ review: true, ...week, created_before: week.created_after }, 'created_after'],
  ])('is refused with %j', async (args, argument) => {
    await using tree = await connect({ id: 'own' })
    const result = await tree.call('list_calls', args)
    expect(errorOf(result).fields.map((field) => field.argument)).toEqual([argument])
    expect(tree.seen).toEqual([])
  })
})

describe('the evidence of a review', () => {
  const failures = (count: number) =>
    many(count, (at) => call(`00000000-0000-4000-8005-${String(at).padStart(12, '0')}`, busy))

  test('has three calls of each outcome, and as many ids of failed calls as asked for', async () => {
    const items = [...failures(40), ...many(40, (at) => call(`completed-${at}`))]
    await using tree = await connect({ id: 'own', items })
    const ids = async (args: object) => {
      const { review, text, result } = await reviewOf(tree, { ...week, ...args })
      const [failed, completed] = review.by_outcome
      expect(failed).toMatchObject({ status: 'failed', calls: 40 })
      expect(completed).toMatchObject({ status: 'completed', calls: 40 })
      expect(completed?.evidence).toHaveLength(3)
      for (const { id } of failed?.evidence ?? []) expect(text).toContain(id)
      expect(failed?.evidence[2]).toMatchObject({ created: thisWeek(1), agent_name: 'Agent a' })
      return { count: new Set(failed?.evidence.map(({ id }) => id)).size, note: result.note }
    }
    const few = await ids({})
    expect(few.count).toBe(3)
    // The note's value of `evidence` returns all of them.
    const [, wanted] = /evidence: (\d+)/.exec(String(few.note)) ?? []
    expect(await ids({ evidence: Number(wanted) })).toEqual({ count: 40, note: undefined })
  })

  test('and the groups fit the result, and the sums stay right', async () => {
    const items = [
      ...failures(900),
      ...many(900, (at) => call(`c-${at}`, { agent: `agent number ${at % 300}` })),
    ]
    await using tree = await connect({ id: 'own', items })
    const { review, text, result } = await reviewOf(tree, { ...week, evidence: 900 })
    expect(estimateTokens(text)).toBeLessThan(resultBudget)
    expect(estimateTokens(text)).toBeGreaterThan(resultBudget / 2)
    expect(estimateTokens(JSON.stringify(review))).toBeLessThan(resultBudget * 1.6)
    expect(review.counts.all?.calls).toBe(1800)
    const shown = review.by_outcome[0]?.evidence.length ?? 0
    expect(shown).toBeGreaterThan(50)
    expect(shown).toBeLessThan(900)
    expect(result.note).toMatch(new RegExp(`\\b${shown}\\b.*status failed`))
    const [, others] = /^- (\d+) others: /m.exec(text) ?? []
    expect(review.by_agent.length + Number(others)).toBe(301)
    const [, agents = ''] = /^By agent:\n((?:- .*\n)*)/m.exec(text) ?? []
    const sum = [...agents.matchAll(/: (\d+) \(/g)].reduce((all, [, one]) => all + Number(one), 0)
    expect(sum).toBe(1800)
  })
})

describe('a review that could not read everything', () => {
  test('is partial beyond 2,000 calls of a period, and reads no more', async () => {
    const items = [
      ...many(2500, (at) => call(`c-${at}`)),
      ...many(5, (at) => call(`b-${at}`, { created: weekBefore(1) })),
    ]
    await using tree = await connect({ id: 'own', items })
    const { review, result, text } = await reviewOf(tree, week)
    expect(review).toMatchObject({ partial: true, before: { partial: false } })
    expect(review.counts.all).toEqual({ calls: 2000, before: 5, change: null })
    expect(result).toMatchObject({ total: null, note: expect.stringMatching(/\b2000\b/) })
    expect(text).toMatch(/at least 2000 calls \(partial\)/)
    expect(tree.seen.filter(({ url }) => url.includes('/calls?'))).toHaveLength(21)
  })

  test('of exactly 2,000 calls is complete', async () => {
    await using tree = await connect({ id: 'own', items: many(2000, (at) => call(`c-${at}`)) })
    const { review, result } = await reviewOf(tree, week)
    expect(review.partial).toBe(false)
    expect(result.note).toBeUndefined()
  })

  test('counts the calls that were read before a page failed', async () => {
    await using tree = await connect({ id: 'own' })
    tree.behave(({ url }, response) => {
      const isFirst = url.includes('offset=0')
      response.statusCode = isFirst ? 200 : 403
      response.end(JSON.stringify({ count: 200, items: many(100, (at) => call(`c-${at}`)) }))
    })
    const { review, result, text } = await reviewOf(tree, week)
    expect(review.counts.all).toMatchObject({ calls: 100, change: null })
    expect(review.partial).toBe(true)
    expect(result.failed_accounts).toMatchObject([{ accounts: [{ id: 'me' }] }])
    expect(text).toContain('403')
  })

  test('is an error if no call of the period could be read', async () => {
    await using tree = await connect({ id: 'own', fails: 403 })
    const { isError } = await tree.call('list_calls', { review: true })
    expect(isError).toBe(true)
  })

  test('shows the period before as unknown if it could not be read', async () => {
    await using tree = await connect({ id: 'own' })
    tree.behave(({ url }, response) => {
      const isNow = url.includes(encodeURIComponent('2026-11-16'))
      response.statusCode = isNow ? 200 : 403
      response.end(JSON.stringify({ count: 1, items: [call('1')] }))
    })
    const { review, text } = await reviewOf(tree, week)
    expect(review.counts.all).toEqual({ calls: 1, before: null, change: null })
    expect(review).toMatchObject({ partial: false, before: { partial: true } })
    expect(text).toMatch(/unknown/)
  })

  test('drops calls of other times, which a platform without these filters returns', async () => {
    await using tree = await connect({ id: 'own' })
    const items = [
      call('1'),
      call('2', { created: weekBefore(1) }),
      call('3', { created: week.created_before }),
    ]
    tree.behave((_, response) => response.end(JSON.stringify({ count: 3, items })))
    const { review, result } = await reviewOf(tree, week)
    expect(review.counts.all).toEqual({ calls: 1, before: 1, change: 0 })
    expect(result.note).toMatch(/\b4\b/)
  })
})

describe('a review with subaccounts', () => {
  const family = (north: Partial<TreeNode> = {}): TreeNode => ({
    id: 'own',
    name: 'The own',
    items: [call('1'), call('2', busy), call('3', { created: weekBefore(1) })],
    below: [
      { id: 'north', name: 'The north', items: [call('4', { agent: 'n' })], ...north },
      { id: 'south', name: 'The south', items: [] },
    ],
  })
  const all = { ...week, include_subaccounts: true }

  test('counts per account, those without calls too', async () => {
    await using tree = await connect(family())
    const { review, text } = await reviewOf(tree, all)
    expect(review.counts.all).toEqual({ calls: 3, before: 1, change: 2 })
    expect(review.by_account).toMatchObject([
      {
        id: 'own',
        counts: { all: { calls: 2, before: 1 }, failed: { calls: 1 } },
      },
      { id: 'north', counts: { all: { calls: 1, before: 0, change: 1 } } },
      { id: 'south', counts: { all: { calls: 0, before: 0, change: 0 } } },
    ])
    expect(text).toMatch(/^- The north \(north\): 1 \(0, \+1\)/m)
    // The tree of accounts is read once for both periods.
    expect(tree.seen.filter(({ url }) => url.includes('/own/subaccounts'))).toHaveLength(1)
  })

  test('shows an unreadable account as unknown, and all figures as minimums', async () => {
    await using tree = await connect(family({ fails: 403 }))
    const { review, result, text } = await reviewOf(tree, all)
    expect(review).toMatchObject({ partial: true, counts: { all: { calls: 2, change: null } } })
    expect(review.by_account).toMatchObject([
      { id: 'own', counts: { all: { calls: 2, before: 1, change: 1 } } },
      { id: 'north', counts: { all: { calls: null, before: null, change: null } } },
      { id: 'south', counts: { all: { calls: 0 } } },
    ])
    expect(result.failed_accounts).toMatchObject([{ accounts: [{ id: 'north' }] }])
    expect(text).toMatch(/^- The north \(north\): unknown .*\(partial\)$/m)
    expect(text).toMatch(/403/)
  })

  test('has the calls that were read when the time is over', async () => {
    await using tree = await connect(family({ fails: 'hangs' }), { VOICE_AGENT_TIMEOUT: '2' })
    const { review } = await reviewOf(tree, all)
    expect(review).toMatchObject({ partial: true, counts: { all: { calls: 2 } } })
  })

  test('covers only the pinned account', async () => {
    await using tree = await connect(family(), { VOICE_AGENT_ACCOUNT: 'north' })
    const { review, result } = await reviewOf(tree, all)
    expect(review.counts.all?.calls).toBe(1)
    expect(result.note).toEqual(expect.any(String))
  })

  test('is not offered for the calls of one account that has some', async () => {
    await using tree = await connect(family())
    await reviewOf(tree, week)
    expect(tree.seen.filter(({ url }) => url.includes('subaccounts'))).toEqual([])
    await using empty = await connect({ ...family(), items: [] })
    const { result } = await reviewOf(empty, week)
    expect(result.note).toContain('include_subaccounts')
  })
})

describe('a long review', () => {
  test('reports progress, and stops reading when it is cancelled', async () => {
    await using tree = await connect({ id: 'own', items: many(1000, (at) => call(`c-${at}`)) })
    const progress: number[] = []
    const onProgress = (message: string) => void progress.push(Number(/\d+/.exec(message)?.[0]))
    await tree.call('list_calls', { review: true, ...week }, { onProgress })
    expect(progress).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900])
    tree.seen.length = 0
    const cancelled = new AbortController()
    const stop = (message: string) => {
      if (message.startsWith('200')) cancelled.abort()
    }
    const waiting = tree.call(
      'list_calls',
      { review: true, ...week },
      { onProgress: stop, signal: cancelled.signal },
    )
    await expect(waiting).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(tree.seen.filter(({ url }) => url.includes('/calls?')).length).toBeLessThan(9)
  })
})

test('lists show the type of a call that is no phone call', async () => {
  await using client = await connectStdio('v2 2026-07-28')
  const types = async (args: object) => {
    const { items } = await client.value('list_calls', { limit: 30, ...args })
    return new Set((items as Record<string, unknown>[]).map(({ type }) => type))
  }
  expect(await types({})).toEqual(new Set(['web', undefined]))
  expect(await types({ agent_id: seedIds.supportAgent, type: 'phone' })).toEqual(
    new Set([undefined]),
  )
  expect(await types({ fields: ['type'] })).toEqual(new Set(['web', 'phone']))
})

test('a shortened list mentions fields only if some were asked for', async () => {
  await using client = await connectStdio('v2 2026-07-28')
  const note = async (args: object) =>
    (await client.value('list_calls', { limit: 100, ...args })).note
  expect(await note({})).toMatch(/Shortened: .*next_offset\.$/)
  expect(await note({ fields: ['type'] })).toMatch(/Shortened: .*fewer fields\.$/)
})
