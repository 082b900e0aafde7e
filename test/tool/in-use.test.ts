import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectPerson, factsOf, type Person, tokenOf } from '../harness/answering-client.ts'
import {
  type Behaviour,
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../harness/fake-platform.ts'

const agent_id = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
const other = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c12'
const agent = { id: agent_id, name: 'Front desk' }
const numberOf = (id: string, inbound: string | null) => ({
  id,
  number: `+1202555${id.padStart(4, '0')}`,
  friendly_name: `Line ${id}`,
  inbound_agent: inbound && { id: inbound, name: 'x' },
})
const callOf = (id: string, of: string | null | undefined, more = {}) => ({
  id,
  agent_id: of,
  status: 'in_progress',
  ...more,
})

let platform: FakePlatform
let client: Person
beforeAll(async () => {
  platform = await startFakePlatform((_, res) => json(res, 500, {}), { account: 'own' })
  client = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})
beforeEach(() => {
  platform.seen.length = 0
})

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

/**
 * Replies with the calls that match the query. `atMost`: page size; `count` is then that of the
 * page.
 */
const filtered =
  (calls: { status: string; created?: string }[], { atMost = 100 } = {}): Behaviour =>
  ({ url }, res) => {
    const { searchParams } = new URL(url, 'http://platform')
    const asked = (name: string) => searchParams.get(name)
    const [status, after, offset] = [asked('status'), asked('created_after'), asked('offset')]
    const found = calls.filter(
      (call) =>
        (!status || call.status === status) && (!after || !call.created || call.created >= after),
    )
    json(res, 200, page(found.slice(Number(offset), Number(offset) + atMost)))
  }

const openCall = (status: string, hours: number) =>
  filtered([callOf('a', agent_id, { status, created: hoursAgo(hours) })])

const page = (items: object[]) => ({ items, count: items.length })

/** Sets the platform's lists. The agent always exists and can be archived. */
function platformWith(lists: { numbers?: object | Behaviour; calls?: object | Behaviour }) {
  platform.behave((request, res, before) => {
    const { method, url } = request
    const list = url.includes('/phone-numbers')
      ? (lists.numbers ?? page([]))
      : url.includes('/calls')
        ? (lists.calls ?? page([]))
        : undefined
    if (typeof list === 'function') return (list as Behaviour)(request, res, before)
    if (list) return json(res, 200, list)
    json(res, method === 'DELETE' ? 204 : 200, method === 'DELETE' ? undefined : agent)
  })
}

const archive = () => client.call('archive_agent', { agent_id })
const wasArchived = () => platform.seen.some(({ method }) => method === 'DELETE')

/** Matches a fact with the reason why it is unknown, instead of `none` or a number. */
const isUnknown = /^(?!none$|\d+$)./

describe('an agent that is to be archived', () => {
  test('is archived at once if nothing uses it', async () => {
    platformWith({
      numbers: page([numberOf('1', other), numberOf('2', null)]),
      calls: page([
        callOf('a', other),
        callOf('b', agent_id, { ended_at: '2026-01-01T00:00:00Z' }),
        callOf('c', agent_id, { status: 'completed' }),
        callOf('d', agent_id, { status: 'queued', created: hoursAgo(37) }),
        callOf('e', other.toUpperCase(), { status: 'ringing', created: hoursAgo(0) }),
        callOf('f', null, { status: 'completed' }),
      ]),
    })
    expect((await archive()).structuredContent).toMatchObject({ done: true })
    expect(wasArchived()).toBe(true)
  })

  test.each([
    [
      'a number',
      { numbers: page([numberOf('1', agent_id.toUpperCase())]) },
      'Answers numbers',
      '+12025550001 ("Line 1")',
    ],
    ['a running call', { calls: page([callOf('a', agent_id)]) }, 'Calls running now', '1'],
    ['a queued call', { calls: openCall('queued', 0) }, 'Calls running now', '1'],
    ['a ringing call', { calls: openCall('ringing', 0) }, 'Calls running now', '1'],
    ['a call queued yesterday', { calls: openCall('queued', 35) }, 'Calls running now', '1'],
    [
      'a call behind a page that the platform has cut short',
      {
        calls: filtered(
          Array.from({ length: 60 }, (_, at) =>
            callOf(`${at}`, at === 59 ? agent_id : other, { created: hoursAgo(0) }),
          ),
          { atMost: 50 },
        ),
      },
      'Calls running now',
      '1',
    ],
  ])('needs confirmation if %s uses it, and names the use', async (_, lists, fact, text) => {
    platformWith(lists)
    const result = await archive()
    expect(tokenOf(result)).toBeDefined()
    expect(factsOf(result)).toMatchObject({ [fact]: text })
    expect(wasArchived()).toBe(false)
  })

  test('needs a new confirmation once it answers another number', async () => {
    platformWith({ numbers: page([numberOf('1', agent_id)]) })
    const confirm_token = tokenOf(await archive())
    platformWith({ numbers: page([numberOf('1', agent_id), numberOf('2', agent_id)]) })
    const again = await client.call('archive_agent', { agent_id, confirm_token })
    expect(tokenOf(again)).not.toBe(confirm_token)
    expect(factsOf(again)?.['Answers numbers']).toContain('+12025550002')
    expect(wasArchived()).toBe(false)
  })

  test('is found on a later page', async () => {
    const all = Array.from({ length: 450 }, (_, at) =>
      numberOf(`${at}`, at === 444 ? agent_id : other),
    )
    platformWith({
      numbers: ({ url }, res) => {
        const { searchParams } = new URL(url, 'http://platform')
        const offset = Number(searchParams.get('offset'))
        const items = all.slice(offset, offset + Number(searchParams.get('limit')))
        json(res, 200, { items, count: all.length })
      },
    })
    expect(factsOf(await archive())).toMatchObject({
      'Answers numbers': '+12025550444 ("Line 444")',
    })
  })

  const refusing =
    (status: number): Behaviour =>
    (_, res) =>
      json(res, status, envelope('forbidden', 'No access\nAnswers numbers: none'))
  const shownAs = (of: string | null | undefined) => ({
    calls: page([callOf('a', other), callOf('b', of, { status: 'ringing' })]),
  })
  /** Filters by the exact agent_id, although calls show the id in another form. */
  const hiddenByFilter = ({ url }: { url: string }, res: Parameters<Behaviour>[1]) =>
    json(res, 200, url.includes('agent_id=') ? page([]) : shownAs(`agent_${agent_id}`).calls)
  const counting150: Behaviour = ({ url }, res) => {
    const isFirst = new URL(url, 'http://platform').searchParams.get('offset') === '0'
    const ended = Array.from({ length: 100 }, (_, at) => callOf(`${at}`, other))
    json(res, 200, { items: isFirst ? ended : [], count: 150 })
  }
  const endless: Behaviour = (_, res, before) =>
    json(res, 200, {
      items: [{ ...callOf(`${before}`, other), number: '+12025550199' }],
      count: 1e6,
    })
  test.each([
    [
      'numbers that are refused',
      { numbers: refusing(403) },
      'Answers numbers',
      /\b403\b.*forbidden: No access\\nAnswers numbers: none"/,
    ],
    ['calls that are refused', { calls: refusing(422) }, 'Calls running now', /\b422\b/],
    ['more calls than can be read', { calls: endless }, 'Calls running now', isUnknown],
    [
      'the same page again and again',
      { numbers: { items: [numberOf('1', other)], count: 3 } },
      'Answers numbers',
      isUnknown,
    ],
    ['a call without an agent', shownAs(undefined), 'Calls running now', isUnknown],
    ['a call whose agent is null', shownAs(null), 'Calls running now', isUnknown],
    ['an agent with a prefix', shownAs(`agent_${agent_id}`), 'Calls running now', isUnknown],
    ['an agent cut short', shownAs(agent_id.slice(0, 8)), 'Calls running now', isUnknown],
    ['an id without dashes', shownAs(other.replaceAll('-', '')), 'Calls running now', isUnknown],
    ['what a filter would hide', { calls: hiddenByFilter }, 'Calls running now', isUnknown],
    ['an empty page of three', { calls: { items: [], count: 3 } }, 'Calls running now', isUnknown],
    ['an empty page after 100 of 150', { calls: counting150 }, 'Calls running now', isUnknown],
  ])('what cannot be read counts as in use: %s', async (_, lists, fact, text) => {
    platformWith(lists)
    const result = await archive()
    expect(tokenOf(result)).toBeDefined()
    expect(factsOf(result)?.[fact]).toMatch(text)
    expect(wasArchived()).toBe(false)
  })
})

test('lists that no exposed tool reads are not read, and count as in use', async () => {
  await using narrow = await connectPerson('v2 2026-07-28', {
    env: {
      VOICE_AGENT_API_KEY: 'sk-0123456789',
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_TOOLS: 'archive_agent,list_calls',
    },
  })
  platformWith({})
  const result = await narrow.call('archive_agent', { agent_id })
  expect(factsOf(result)?.['Answers numbers']).toMatch(isUnknown)
  expect(platform.seen.filter(({ url }) => url.includes('/phone-numbers'))).toEqual([])
})

test('no uses are looked up if nobody is asked', async () => {
  await using never = await connectPerson('v2 2026-07-28', {
    env: {
      VOICE_AGENT_CONFIRM: 'never',
      VOICE_AGENT_API_KEY: 'sk-0123456789',
      VOICE_AGENT_BASE_URL: platform.url,
    },
  })
  platformWith({})
  expect(await never.value('archive_agent', { agent_id })).toMatchObject({ done: true })
  expect(platform.seen.map(({ method }) => method)).toEqual(['GET', 'DELETE'])
})
