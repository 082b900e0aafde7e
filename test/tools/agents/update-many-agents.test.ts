import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson } from '../../harness/answering-client.ts'
import { type ClientKind, connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import {
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../../harness/fake-platform.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

let made = 0
const makeAgents = (count: number, more: object = {}) =>
  Promise.all(
    Array.from({ length: count }, () =>
      client.value('create_agent', { ...newAgent, name: `Bot ${made++}`, ...more }),
    ),
  )

const names = (agents: readonly Record<string, unknown>[]) => agents.map(({ name }) => name)

const update = (args: Record<string, unknown>) => client.call('update_agent', args)

const textOf = async (args: Record<string, unknown>, name = 'update_agent') =>
  (await client.call(name, args)).content[0]?.text ?? ''

describe('update_agent for many', () => {
  test.each<ClientKind>(['v2 2026-07-28', 'v2 2025', 'v1'])(
    'changes all agents with a tag, and keeps the rest of each (%s)',
    async (kind) => {
      await using person = await connectPerson(kind, {})
      for (const [name, speed, stability] of [
        ['One', 1, 0.1],
        ['Two', 1.1, 0.2],
      ] as const)
        await person.value('create_agent', {
          ...newAgent,
          ...{
            name,
            tags: ['sales', name],
            voice: { ...newAgent.voice, settings: { speed, stability } },
          },
        })
      const result = await person.call('update_agent', {
        with_tag: 'sales',
        voice: { settings: { speed: 1.2 } },
        add_tags: ['fast'],
        remove_tags: ['One'],
      })
      expect(await person.flaws('update_agent', result)).toBeUndefined()
      expect(result.structuredContent).toMatchObject({
        summary: { updated: 2 },
        agents: [
          {
            name: 'Two',
            outcome: 'updated',
            changes: [
              { field: 'tags', before: ['sales', 'Two'], after: ['sales', 'Two', 'fast'] },
              { field: 'voice.settings.speed', before: 1.1, after: 1.2 },
            ],
          },
          { name: 'One', outcome: 'updated' },
        ],
      })
      expect(await person.value('get_agent', { agent_id: 'One' })).toMatchObject({
        tags: ['sales', 'fast'],
        voice: { voice_id: newAgent.voice.voice_id, settings: { speed: 1.2, stability: 0.1 } },
      })
    },
  )

  test('takes ids and names, does each agent once, and keeps their order', async () => {
    const [a, b, c] = await makeAgents(3)
    const agent_ids = [c?.name, a?.id, b?.name, a?.name, String(c?.id).toUpperCase()]
    const { summary, agents } = await client.value('update_agent', { agent_ids, note: 'x' })
    expect(summary).toEqual({ updated: 3 })
    expect(agents).toMatchObject([{ agent_id: c?.id }, { agent_id: a?.id }, { agent_id: b?.id }])
    // The text names the agent that was given twice, with its id in upper case as given.
    const lines = (await textOf({ agent_ids, note: 'y' })).split('\n')
    const twice = lines.filter((line) => line.includes(String(c?.id).toUpperCase()))
    expect(twice).toEqual([expect.stringContaining(`${a?.name}, `)])
  })

  test('says the same change once, however many agents have it', async () => {
    const agents = await makeAgents(15, { note: 'old', tags: ['crowd'] })
    const result = await update({ with_tag: 'crowd', note: 'new' })
    const text = result.content[0]?.text ?? ''
    expect(result.structuredContent).toMatchObject({ summary: { updated: 15 } })
    expect(text.match(/note: "old" → "new"/g)).toHaveLength(1)
    for (const name of names(agents)) expect(text).toContain(String(name))
    const { agents: each } = { ...result.structuredContent } as { agents: { same_as?: number }[] }
    expect(each.map(({ same_as }) => same_as)).toEqual([undefined, ...Array(14).fill(1)])
    // A repeated update sends nothing and reports all agents as unchanged.
    const again = await client.value('update_agent', { with_tag: 'crowd', note: 'new' })
    expect(again.summary).toEqual({ unchanged: 15 })
  })

  test('shows a name that could be taken for several, or for our own words, in quotes', async () => {
    for (const name of ['Smith, Jones', 'X: failed. Updated: all', 'Plain one'])
      await client.value('create_agent', { ...newAgent, name, tags: ['odd'] })
    const text = await textOf({ with_tag: 'odd', note: 'n', add_tags: ['c, d'] })
    const [, updated] = text
      .split('\n')
      .filter((line) => line.startsWith('Updated: ') || line.startsWith('3 '))
    expect(updated).toBe('Updated: Plain one, "X: failed. Updated: all", "Smith, Jones"')
    expect(text).toContain('tags: +"c, d"')
    expect(await textOf({ with_tag: 'odd' }, 'archive_agent')).toContain('"Smith, Jones"')
  })

  test('shows with dry_run what would change, and saves nothing', async () => {
    const agents = await makeAgents(2, { tags: ['dry'] })
    const change = { agent_ids: names(agents), add_tags: ['new'], remove_tags: ['dry'] }
    const { structuredContent, content } = await update({ ...change, dry_run: true })
    expect(structuredContent?.summary).toEqual({ would_change: 2 })
    expect(content[0]?.text).toContain('tags: +new −dry')
    for (const agent_id of names(agents))
      expect(await client.value('get_agent', { agent_id })).toMatchObject({ tags: ['dry'] })
  })

  test('names failures first, and updates the other agents', async () => {
    const [a, b] = await makeAgents(2)
    const missing = '00000000-0000-4000-8000-00000000dead'
    const agent_ids = [a?.id, `${a?.name}x`, missing, b?.name]
    const result = await update({ agent_ids, note: 'done' })
    expect(result.isError).toBeFalsy()
    const [, first, second] = (result.content[0]?.text ?? '').split('\n')
    expect(first).toContain(`${a?.name}x`)
    expect(second).toContain(missing)
    expect(result.structuredContent).toMatchObject({
      summary: { failed: 2, updated: 2 },
      agents: [
        { agent_id: a?.id, outcome: 'updated' },
        // The problem suggests the agent whose id is similar.
        { outcome: 'failed', problem: expect.stringContaining(String(a?.id)) },
        { agent_id: missing, outcome: 'failed', problem: expect.stringContaining(missing) },
        { agent_id: b?.id, outcome: 'updated' },
      ],
    })
  })

  test('is an error if all fail, with the reason of each', async () => {
    const { kind, fields } = errorOf(await update({ agent_ids: ['nobody', '..'], note: 'x' }))
    expect(kind).toBe('all_failed')
    expect(fields).toEqual([
      { argument: 'agent_ids nobody', message: expect.stringContaining('nobody') },
      { argument: 'agent_ids ..', message: expect.stringContaining('".."') },
    ])
  })

  test('refuses a name that several agents have, and updates the other agents', async () => {
    const [other] = await makeAgents(1)
    const twins = await makeAgents(2, { name: 'Twin' })
    const result = await client.value('update_agent', {
      agent_ids: ['Twin', other?.name],
      note: 'x',
    })
    expect(result.summary).toEqual({ failed: 1, updated: 1 })
    const [failed] = result.agents as { problem: string }[]
    for (const { id } of twins) expect(failed?.problem).toContain(String(id))
  })

  test('refuses an invalid change for many agents as for one, and sends nothing', async () => {
    const agents = await makeAgents(3)
    const message = 'Hello {% if x'
    const change = { agent_ids: names(agents), note: 'lost?', initial_message: { message } }
    expect(errorOf(await update(change))).toMatchObject({
      kind: 'bad_arguments',
      fields: [{ argument: 'initial_message.message' }],
    })
    for (const agent_id of names(agents))
      expect((await client.value('get_agent', { agent_id })).note).toBeNull()
  })

  test('unarchives agents', async () => {
    const agents = await makeAgents(2)
    const agent_ids = agents.map(({ id }) => id)
    for (const agent_id of agent_ids) await client.value('archive_agent', { agent_id })
    const { summary } = await client.value('update_agent', { agent_ids, is_archived: false })
    expect(summary).toEqual({ updated: 2 })
    const { items } = await client.value('list_agents', { name: String(agents[0]?.name) })
    expect(items).toHaveLength(1)
  })

  test('requires exactly one of agent_id, agent_ids and where', async () => {
    const refused = async (args: Record<string, unknown>) =>
      errorOf(await update({ note: 'x', ...args })).fields
    const choice = [{ argument: 'agent_id', message: expect.stringMatching(/agent_ids.*where/) }]
    expect(await refused({})).toEqual(choice)
    expect(await refused({ agent_id: 'a', with_tag: 'b' })).toEqual(choice)
    expect(await refused({ agent_ids: ['a'], agent_id: 'b' })).toEqual(choice)
    const expected = { agent_ids: ['a'], expected_modified: '2026-11-01T00:00:00Z' }
    expect(await refused(expected)).toMatchObject([{ argument: 'expected_modified' }])
    const many = Array.from({ length: 101 }, (_, at) => `a${at}`)
    expect(await refused({ agent_ids: many })).toEqual([
      { argument: 'agent_ids', message: expect.stringContaining('100') },
    ])
  })

  test('reports that no agent has the tag, with the closest tag', async () => {
    await makeAgents(1, { tags: ['reception'] })
    const { fields } = errorOf(await update({ with_tag: 'recepton', note: 'x' }))
    expect(fields).toEqual([
      { argument: 'with_tag', message: expect.stringContaining('reception?') },
    ])
  })
})

describe('add_tags and remove_tags', () => {
  test('change single tags of one agent, and say what was no change', async () => {
    const [agent] = await makeAgents(1, { tags: ['a', 'b', 'billing'] })
    const agent_id = agent?.id
    const { changes } = await client.value('update_agent', {
      ...{ agent_id, add_tags: ['c', 'a', 'c'], remove_tags: ['b'] },
    })
    expect(changes).toEqual([
      { field: 'tags', before: ['a', 'b', 'billing'], after: ['a', 'billing', 'c'] },
    ])
    const none = { agent_id, add_tags: ['a'], remove_tags: ['biling'] }
    expect(await client.value('update_agent', none)).toMatchObject({
      applied: false,
      changes: [],
      warnings: [expect.stringMatching(/^remove_tags: .*biling\b.*billing/)],
    })
  })

  test('warn of a tag to remove only if none of many agents has it', async () => {
    const agents = [...(await makeAgents(1, { tags: ['x1', 'y'] })), ...(await makeAgents(1))]
    const agent_ids = names(agents)
    const text = await textOf({ agent_ids, remove_tags: ['x1', 'x2'], dry_run: true })
    const warnings = text.split('\n').filter((line) => line.includes('remove_tags'))
    expect(warnings).toEqual([expect.stringMatching(/\bx2\b.*\bx1\b/)])
  })

  test('are refused with tags, and if they contradict each other', async () => {
    const agent_id = 'Support line'
    const refused = async (change: object) => errorOf(await update({ agent_id, ...change })).fields
    expect(await refused({ add_tags: ['a'], tags: ['b'] })).toMatchObject([
      { argument: 'add_tags' },
    ])
    expect(await refused({ remove_tags: ['a'], clear: ['tags'] })).toMatchObject([
      { argument: 'remove_tags' },
    ])
    expect(await refused({ remove_tags: ['a'], add_tags: ['a'] })).toEqual([
      { argument: 'remove_tags', message: expect.stringContaining('add_tags') },
    ])
  })
})

describe('a greeting with unknown variables', () => {
  const message = 'Hello {{ shop.name }}, order {{ order | default("none") }}.'
  const auto = { env: { VOICE_AGENT_CONFIRM: 'auto' } }
  const twoAgents = async (person: Awaited<ReturnType<typeof connectPerson>>) =>
    [
      await person.value('create_agent', { ...newAgent, name: 'Door' }),
      await person.value('create_agent', { ...newAgent, name: 'Desk' }),
    ].map(({ id }) => String(id))

  test.each<ClientKind>(['v2 2026-07-28', 'v2 2025', 'v1'])(
    'is saved for several agents only after a question (%s)',
    async (kind) => {
      await using person = await connectPerson(kind, auto)
      const [agent_id] = await twoAgents(person)
      const args = { agent_ids: ['Door', 'Desk'], initial_message: { message } }
      const preview = await person.call('update_agent', args)
      expect(await person.flaws('update_agent', preview)).toBeUndefined()
      const { confirmation } = Object(preview.structuredContent)
      expect(confirmation.facts).toMatchObject({
        'Unknown variables': '"shop.name"',
        Agents: '"Door", "Desk"',
        'initial_message.message': expect.stringContaining('shop.name'),
      })
      expect(await person.value('get_agent', { agent_id })).not.toMatchObject({
        initial_message: { message },
      })
      const { confirm_token } = confirmation
      const done = await person.value('update_agent', { ...args, confirm_token })
      expect(done).toMatchObject({ summary: { updated: 2 } })
      // Restoring the earlier values needs no confirmation.
      expect(await person.value('update_agent', { undo: done.undo })).toMatchObject({
        summary: { updated: 2 },
      })
    },
  )

  test('names no undo in the question if undo is switched off', async () => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { ...auto.env, VOICE_AGENT_UNDO_DAYS: '0' },
    })
    const agent_ids = await twoAgents(person)
    const args = { agent_ids, initial_message: { message } }
    const { confirmation } = Object(await person.value('update_agent', args))
    expect(confirmation.facts).not.toHaveProperty('Undo')
  })

  test('needs no question for one agent, in a dry run, or if all are known', async () => {
    await using person = await connectPerson('v2 2026-07-28', auto)
    const agent_ids = await twoAgents(person)
    const greeting = { initial_message: { message } }
    for (const args of [
      { agent_id: agent_ids[0], ...greeting },
      { agent_ids: agent_ids.slice(1), ...greeting },
      { agent_ids, ...greeting, dry_run: true },
      { agent_ids, initial_message: { message: 'Hello {{ contact.first_name }}.' } },
    ])
      expect(await person.value('update_agent', args)).not.toHaveProperty('confirmation')
  })
})

describe('on a platform that fails', () => {
  const agent = (at: number, more: object = {}) => ({
    ...{ id: `00000000-0000-4000-8000-0000000000${10 + at}`, name: `Bot ${at}`, note: null },
    ...{ tags: ['all'], voice: { provider: 'azure', voice_id: 'v' }, ...more },
  })
  const agents = Array.from({ length: 12 }, (_, at) => agent(at))
  let platform: FakePlatform
  let wired: TestClient
  beforeAll(async () => {
    platform = await startFakePlatform(() => undefined, { account: 'own' })
    wired = await connectStdio('v2 2026-07-28', {
      env: {
        ...{ VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
        VOICE_AGENT_HEADERS_TIMEOUT: '3',
      },
    })
  })
  afterAll(async () => {
    await wired[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })

  /** Sets the platform's behaviour. `patch`: replies to updates; `undefined`: success. */
  const behave = (
    patch: (at: number, before: number) => [status: number, body: object] | 'late' | undefined,
  ) => {
    const patches = new Map<number, number>()
    platform.behave(({ method, url, body }, res) => {
      const { pathname, searchParams } = new URL(url, platform.url)
      const id = pathname.split('/').at(-1)
      const at = agents.findIndex((one) => one.id === id)
      if (url.includes('validate-template'))
        return json(res, 200, {
          valid: true,
          errors: [],
          warnings: [],
          variables: [],
          unknown_variables: [],
        })
      if (url.includes('voices')) return json(res, 200, { voices: [{ id: 'v', name: 'V' }] })
      if (at < 0) {
        const offset = Number(searchParams.get('offset') ?? 0)
        return json(res, 200, { count: agents.length, items: agents.slice(offset, offset + 5) })
      }
      if (method === 'GET') return json(res, 200, agents[at])
      const before = patches.get(at) ?? 0
      patches.set(at, before + 1)
      const own = patch(at, before)
      if (own === 'late') return undefined
      if (own) return json(res, own[0], own[1], own[0] === 429 ? { 'retry-after': '0' } : {})
      return json(res, 200, { ...agents[at], ...JSON.parse(body) })
    })
    platform.seen.length = 0
    return patches
  }

  test('reports the outcome of each agent', async () => {
    const patches = behave((at, before) => {
      if (at === 1)
        return [
          422,
          envelope('validation_error', 'No', {
            errors: [{ field: 'body.note', message: 'too bold', type: 'value_error' }],
          }),
        ]
      if (at === 2) return [500, envelope('internal_error', 'Boom')]
      if (at === 3) return 'late'
      if (at === 4 && before < 2) return [429, envelope('rate_limit_exceeded')]
      return undefined
    })
    const result = await wired.call('update_agent', { with_tag: 'all', note: 'x' })
    expect(result.structuredContent).toMatchObject({
      summary: { failed: 1, unknown: 2, updated: 9 },
      agents: [
        { name: 'Bot 0', outcome: 'updated' },
        { name: 'Bot 1', outcome: 'failed', problem: expect.stringMatching(/422.*note: too bold/) },
        { name: 'Bot 2', outcome: 'unknown', problem: expect.stringContaining('500') },
        { name: 'Bot 3', outcome: 'unknown' },
        ...Array(8).fill({ outcome: 'updated' }),
      ],
    })
    // Failures come first, with advice.
    const text = (result.content[0]?.text ?? '').replace(/(?<=undo )\w{12}/, 'an id')
    expect(text.split('\n').slice(0, 5).join('\n')).toMatchSnapshot()
    expect(result.isError).toBeFalsy()
    // A rate-limited request is repeated; a request that may have been processed is not.
    expect([...patches].sort(([a], [b]) => a - b).map(([, sent]) => sent)).toEqual([
      1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1,
    ])
  })

  test('stops once the API key is refused', async () => {
    const patches = behave(() => [401, envelope('unauthorized')])
    const result = await wired.call('update_agent', { with_tag: 'all', note: 'x' })
    expect(result.isError).toBe(true)
    expect(patches.size).toBeLessThanOrEqual(8)
  })

  test('checks the same greeting and voice once for all', async () => {
    behave(() => undefined)
    const change = { initial_message: { message: 'Hi {{ x }}' }, voice: { voice_id: 'unheard-of' } }
    const { summary } = await wired.value('update_agent', { with_tag: 'all', ...change })
    expect(summary).toEqual({ updated: 12 })
    const checks = (part: string) => platform.seen.filter(({ url }) => url.includes(part)).length
    expect(checks('validate-template')).toBe(1)
    // The first read is from the cache; the second is fresh, because the cached list lacks the
    // voice.
    expect(checks('voices')).toBe(2)
  })

  test('selects only agents that have the whole tag', async () => {
    behave(() => undefined)
    const result = await wired.call('update_agent', { with_tag: 'al', note: 'x' })
    expect(errorOf(result).fields).toEqual([
      { argument: 'with_tag', message: expect.stringContaining('all?') },
    ])
    expect(platform.seen.some(({ method }) => method === 'PATCH')).toBe(false)
  })

  test('refuses a tag that more agents have than one call takes', async () => {
    const crowd = Array.from({ length: 130 }, (_, at) => ({
      id: `a${at}`,
      name: `A${at}`,
      tags: ['all'],
    }))
    platform.behave(({ url }, res) => {
      const offset = Number(new URL(url, platform.url).searchParams.get('offset') ?? 0)
      json(res, 200, { count: crowd.length, items: crowd.slice(offset, offset + 100) })
    })
    platform.seen.length = 0
    const result = await wired.call('update_agent', { with_tag: 'all', note: 'x' })
    expect(errorOf(result).fields).toEqual([
      { argument: 'with_tag', message: expect.stringMatching(/\b130\b.*\b100\b/) },
    ])
    expect(platform.seen.every(({ method }) => method === 'GET')).toBe(true)
  })
})
