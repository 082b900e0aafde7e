import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { complete, listPrompts } from '../../src/mcp/prompts.ts'
import { resourceTemplates } from '../../src/mcp/resources.ts'
import { createClient } from '../../src/platform/client.ts'
import type { Send } from '../../src/platform/http-exchange.ts'
import { restrictedSession } from '../../src/platform/sessions/restricted-session.ts'
import { prompts } from '../../src/prompts/index.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { tools } from '../../tools/index.ts'
import { envelope } from '../harness/fake-platform.ts'
import { seedIds } from '../harness/sandbox.ts'
import { sessionOf } from '../harness/session.ts'

const fail = (error: unknown): never => {
  throw error
}
const platform = await openPlatform(
  { kind: 'sandbox', file: ':memory:', speed: 1, seed: 'small', webWaitMs: 0, llm: undefined },
  fail,
)
afterAll(() => platform.close())

/** Sends completion requests, and records the requests to the platform. */
function typist({ send = platform.send, account }: { send?: Send; account?: string } = {}) {
  const requests: string[] = []
  const client = createClient({
    send(request) {
      requests.push(request.target)
      return send(request)
    },
    apiKey: 'sandbox-key',
    userAgent: 'test',
    retry: { maxAttempts: 1, firstWaitMs: 0, maxRetryAfterSeconds: 0 },
  })
  const all = sessionOf(client, { pinnedAccount: account, isSandbox: true })
  const session = restrictedSession(all, tools)
  const context = { prompts, session, onBug: fail }
  const type = async (
    [where, name]: [where: string, name: string],
    value: string,
    filled: Record<string, string> = {},
    signal = new AbortController().signal,
  ) => {
    const ref = where.includes('://')
      ? { type: 'ref/resource' as const, uri: where }
      : { type: 'ref/prompt' as const, name: where }
    const params = { ref, argument: { name, value }, context: { arguments: filled } }
    return (await complete(context, params, signal)).completion
  }
  return { type, requests, session }
}

const reply = (body: unknown, status = 200) => ({
  status,
  header: () => undefined,
  body: JSON.stringify(body),
})

const agentOf: [string, string] = ['review_agent', 'agent_id']
const zoneOf: [string, string] = ['weekly_usage_report', 'tz']
const agentResource: [string, string] = ['voice-agents://agents/{agent_id}', 'agent_id']

describe('completions', () => {
  const { type } = typist()

  test.each([
    ['agents by name', agentOf, 'sup', ['Support line']],
    ['agents by a later word of the name', agentOf, 'LINE', ['Support line']],
    ['agents by id', agentOf, seedIds.supportAgent, ['Support line']],
    ['agents of a resource by name, as ids', agentResource, 'sup', [seedIds.supportAgent]],
    ['zones by city', zoneOf, 'new y', ['America/New_York']],
    ['zones by their present name', zoneOf, 'kolk', ['Asia/Kolkata']],
    ['zones, a beginning before a middle', zoneOf, 'rome', ['Europe/Rome']],
    ['UTC', zoneOf, 'utc', ['UTC']],
    ['languages by code', ['design_agent', 'language'], 'de', ['de-de']],
    ['languages by name', ['design_agent', 'language'], 'germ', ['de-de']],
    ['accounts by name', ['design_agent', 'account_id'], 'branch', [seedIds.subaccount]],
    [
      'own numbers without the plus',
      ['go_live_checklist', 'from_number'],
      '12025550111',
      ['+12025550111'],
    ],
    ['own numbers by name', ['go_live_checklist', 'from_number'], 'hot', ['+12025550112']],
    ['trunks by name, as ids', ['migrate_numbers', 'to_trunk_id'], 'office', [seedIds.trunk]],
    [
      'providers of voices',
      ['voice-agents://catalog/voices/{provider}', 'provider'],
      'el',
      ['elevenlabs'],
    ],
    ['nothing for free text', ['design_agent', 'brief'], 'a', []],
    ['nothing for an unknown argument', ['design_agent', 'constructor'], '', []],
  ] as [string, [string, string], string, string[]][])('%s', async (_, where, typed, values) => {
    expect(await type(where, typed)).toEqual({ values, total: values.length, hasMore: false })
  })

  test('values that begin with the text come before values that contain it', async () => {
    const { values } = await type(zoneOf, 'ber')
    expect(values).toEqual(['Atlantic/Bermuda', 'Europe/Berlin'])
    expect((await type(zoneOf, 'europe/b')).values.slice(0, 2)).toEqual([
      'Europe/Belgrade',
      'Europe/Berlin',
    ])
  })

  test('at most a hundred values are returned, with the total', async () => {
    const { values, total, hasMore } = await type(zoneOf, '')
    expect(values).toHaveLength(100)
    expect(total).toBeGreaterThan(400)
    expect(hasMore).toBe(true)
  })

  test('calls that failed come first', async () => {
    const { values } = await type(['investigate_call', 'call_id'], '')
    const { session } = typist()
    const { routes } = await import('../../src/contract/routes.ts')
    const params = { account_id: 'me', call_id: values[0] ?? '' }
    expect(await session.client.call(routes.calls.get, { params, query: {} })).toMatchObject({
      status: 'failed',
    })
    expect(values).toHaveLength(100)
  })
})

test('every argument that is not free text has values', async () => {
  const { type, session } = typist()
  const free = ['brief', 'to_number']
  for (const { name, arguments: args = [] } of listPrompts({ prompts, session, onBug: fail })
    .prompts) {
    for (const argument of args.filter((one) => !free.includes(one.name))) {
      const { values } = await type([name, argument.name], '')
      expect(values.length, `${name} ${argument.name}`).toBeGreaterThan(0)
    }
  }
  for (const { uriTemplate } of resourceTemplates(session)) {
    const [, variable = ''] = /\{(\w+)\}/.exec(uriTemplate) ?? []
    expect((await type([uriTemplate, variable], '')).values.length, uriTemplate).toBeGreaterThan(0)
  }
})

test('further keystrokes cost no request', async () => {
  const { type, requests } = typist()
  for (const typed of ['', 's', 'su', 'sup', 'supp']) await type(agentOf, typed)
  expect(requests).toHaveLength(1)
})

test('values come from the account that is filled in already', async () => {
  const { type, requests } = typist()
  expect(await type(agentOf, '', { account_id: seedIds.subaccount })).toMatchObject({ values: [] })
  expect(requests[0]).toContain(`/accounts/${seedIds.subaccount}/agents`)
})

test('values come only from the pinned account', async () => {
  const { type, requests } = typist({ account: seedIds.account })
  await type(agentOf, '', { account_id: seedIds.subaccount })
  expect(requests[0]).toContain(`/accounts/${seedIds.account}/agents`)
  expect((await type(['design_agent', 'account_id'], '')).values).toEqual([seedIds.account])
})

test('agents whose names are ambiguous are completed as ids', async () => {
  const uuid = '00000000-0000-4000-8000-00000000000f'
  const items = [
    { id: 'a', name: 'Twin' },
    { id: 'b', name: 'Twin' },
    { id: 'c', name: uuid },
    { id: 'd', name: ' spaced' },
    { id: 'e', name: null },
    { id: 'f', name: 'a' },
    { id: 'g', name: 'Only' },
  ]
  const { type } = typist({ send: async () => reply({ count: items.length, items }) })
  const { values } = await type(agentOf, '')
  expect([...values].sort()).toEqual(['Only', 'a', 'b', 'c', 'd', 'e', 'f'])
  expect((await type(agentOf, 'twin')).values).toEqual(['a', 'b'])
})

test('of a long list only some pages are read, and ids are used instead of names', async () => {
  const send: Send = async ({ target }) => {
    const offset = Number(new URL(target, 'http://x').searchParams.get('offset'))
    const items = Array.from({ length: 100 }, (_, index) => ({
      id: `id-${offset + index}`,
      name: `Agent ${offset + index}`,
    }))
    return reply({ count: 5000, items })
  }
  const { type, requests } = typist({ send })
  expect(await type(agentOf, 'agent 499')).toEqual({ values: ['id-499'], hasMore: true })
  expect(requests).toHaveLength(5)
})

test('when the platform fails there are no values; when one of two requests fails, those of the other', async () => {
  const broken = typist({ send: async () => reply(envelope('internal_error'), 500) })
  for (const where of [agentOf, ['design_agent', 'language']] as [string, string][]) {
    expect(await broken.type(where, '')).toEqual({ values: [], total: 0, hasMore: false })
  }
  const half = typist({
    send: (request) =>
      request.target.includes('subaccounts')
        ? Promise.resolve(reply(envelope('internal_error'), 500))
        : platform.send(request),
  })
  expect((await half.type(['design_agent', 'account_id'], '')).values).toEqual([seedIds.account])
})

test('a platform that does not answer delays a completion only for a short time', async () => {
  const { type } = typist({ send: () => new Promise(() => {}) })
  vi.useFakeTimers({
    fakeNodeBuiltins: true,
    toFake: ['setTimeout', 'clearTimeout', 'performance'],
  })
  onTestFinished(() => void vi.useRealTimers())
  const started = performance.now()
  const typed = type(agentOf, '').then(({ values }) => ({
    values,
    ms: performance.now() - started,
  }))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await typed).toEqual({ values: [], ms: 3000 })
  const gone = AbortSignal.abort()
  expect((await type(['design_agent', 'language'], '', {}, gone)).values).toEqual([])
})

test.each(['no_prompt', 'voice-agents://nothing/{x}'])('%s cannot be completed', async (where) => {
  await expect(typist().type([where, 'x'], '')).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining(where),
  })
})
