import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  confirmationOf,
  connectPerson,
  factsOf,
  type Person,
  tokenOf,
} from '../../harness/answering-client.ts'
import { type ClientKind, connectStdio, errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

/** Creates a subaccount and returns its id. Default parent: the key's own account. */
const makeBranch = async (person: Person, name: string, account_id?: string) => {
  const made = await person.value('create_subaccount', { name, ...(account_id && { account_id }) })
  return String(made.id)
}

const makeAgent = async (person: Person, name: string, more: object = {}) =>
  String((await person.value('create_agent', { ...newAgent, name, ...more })).id)

const recording = { capture_settings: { recording_enabled: false } }

describe('agents of the account and its subaccounts', () => {
  let person: Person
  let hamburg: string
  let altona: string
  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
    hamburg = await makeBranch(person, 'Hamburg branch')
    altona = await makeBranch(person, 'Altona branch', hamburg)
  })
  afterAll(() => person[Symbol.asyncDispose]())

  test.each<ClientKind>(['v2 2026-07-28', 'v2 2025', 'v1'])(
    'are changed by their tag in one call, each with its account (%s)',
    async (kind) => {
      await using own = await connectPerson(kind, {})
      const branch = await makeBranch(own, 'Hamburg branch')
      const below = await makeBranch(own, 'Altona branch', branch)
      await makeAgent(own, 'Reception', { tags: ['hh'] })
      await makeAgent(own, 'Reception', { tags: ['hh'], account_id: branch })
      const third = await makeAgent(own, 'Sales', { tags: ['hh'], account_id: below })
      await makeAgent(own, 'Other', { account_id: branch })
      const args = { with_tag: 'hh', include_subaccounts: true, ...recording }
      const dry = await own.value('update_agent', { ...args, dry_run: true })
      expect(dry.summary).toEqual({ would_change: 3 })
      const result = await own.call('update_agent', args)
      expect(await own.flaws('update_agent', result)).toBeUndefined()
      expect(result.structuredContent).toMatchObject({
        account_id: seedIds.account,
        summary: { updated: 3 },
        agents: [
          { name: 'Reception', account: { id: seedIds.account } },
          { name: 'Reception', account: { id: branch, name: 'Hamburg branch' } },
          { name: 'Sales', account: { id: below, name: 'Altona branch' } },
        ],
      })
      const textOf = async (args: object) =>
        (await own.text('update_agent', args))
          .replace(/^Account: .*$/m, 'Account')
          .replace(/ Take it back with undo \w+\./, '')
      // The text explains the tag's reach, and names the account of agents with equal names.
      expect(await textOf({ ...args, note: 'y' })).toMatchSnapshot()
      const read = await own.value('get_agent', { agent_id: third, account_id: below })
      expect(read).toMatchObject(recording)
      const alone = { with_tag: 'hh', note: 'x', dry_run: true }
      expect((await own.value('update_agent', alone)).summary).toEqual({ would_change: 1 })
      expect(await textOf(alone)).toMatchSnapshot()
    },
  )

  test('are selected by id or exact name, archived ones by id', async () => {
    const [one, two] = [
      await makeAgent(person, 'Front', { account_id: hamburg }),
      await makeAgent(person, 'Back', { account_id: altona }),
    ]
    const given = { agent_ids: [one, 'Back', two], include_subaccounts: true }
    const changed = await person.call('update_agent', { ...given, add_tags: ['x'] })
    expect(changed.structuredContent).toMatchObject({ summary: { updated: 2 } })
    // Agents are shown by name; only the one given twice also by its id.
    expect(changed.content[0]?.text.match(new RegExp(two, 'g'))).toHaveLength(1)
    const archived = await person.call('archive_agent', given)
    expect(archived.structuredContent).toMatchObject({
      agents: [
        { agent_id: one, outcome: 'archived', account: { id: hamburg } },
        { agent_id: two, outcome: 'archived', account: { id: altona } },
      ],
    })
    const back = { agent_ids: [one, two], include_subaccounts: true, is_archived: false }
    expect((await person.value('update_agent', back)).summary).toEqual({ updated: 2 })
    const read = { agent_id: two, account_id: altona }
    expect(await person.value('get_agent', read)).toMatchObject({ is_archived: false })
  })

  test('name their account once if all belong to it', async () => {
    const tags = ['pier']
    await makeAgent(person, 'East', { tags, account_id: hamburg })
    await makeAgent(person, 'West', { tags, account_id: hamburg })
    const args = { with_tag: 'pier', include_subaccounts: true }
    const updated = await person.call('update_agent', { ...args, ...recording })
    const archived = await person.agreed('archive_agent', args)
    for (const { structuredContent } of [updated, archived]) {
      const { account, agents } = structuredContent ?? {}
      expect(account).toEqual({ id: hamburg, name: 'Hamburg branch' })
      for (const agent of agents as object[]) expect(agent).not.toHaveProperty('account')
    }
  })

  test('of the same name are not confused, and an unknown name is reported', async () => {
    const ids = [
      await makeAgent(person, 'Twin', { account_id: hamburg }),
      await makeAgent(person, 'Twin', { account_id: altona }),
    ]
    const ok = await makeAgent(person, 'Certain')
    const given = { agent_ids: ['Twin', 'Certian', ok], include_subaccounts: true, note: 'n' }
    const { summary, agents } = await person.value('update_agent', given)
    expect(summary).toEqual({ failed: 2, updated: 1 })
    const [twins, unknown] = agents as { problem: string }[]
    for (const id of ids) expect(twins?.problem).toContain(id)
    expect(twins?.problem).toContain('Altona branch')
    expect(unknown?.problem).toMatch(/\bCertian\b.*\bCertain\b/)
  })

  test('are archived after one question that names the account of each and what uses it', async () => {
    const tags = ['closing']
    await makeAgent(person, 'Main bot', { tags })
    const used = await makeAgent(person, 'Harbour bot', { tags, account_id: hamburg })
    const trunk = await person.value('create_sip_trunk', { name: 'T', account_id: hamburg })
    await person.value('create_phone_number', {
      ...{ number: '+4940123456', name: 'Harbour', sip_trunk_id: trunk.id },
      ...{ inbound_agent_id: used, account_id: hamburg },
    })
    const args = { with_tag: 'closing', include_subaccounts: true }
    const left = await person.agreed('archive_agent', { ...args, unused_only: true })
    const { summary, agents } = { ...left.structuredContent }
    expect(summary).toEqual({ in_use: 1, archived: 1 })
    await person.value('update_agent', {
      ...{ agent_ids: (agents as { agent_id: string }[]).map(({ agent_id }) => agent_id) },
      ...{ include_subaccounts: true, is_archived: false },
    })
    const preview = await person.call('archive_agent', args)
    expect(confirmationOf(preview)?.question).toContain('2')
    expect(factsOf(preview)).toMatchObject({
      Agents: `"Main bot" in "Sandbox account" (${seedIds.account}); "Harbour bot" in "Hamburg branch" (${hamburg})`,
      'In use': expect.stringMatching(/^"Harbour bot" .*\+4940123456 \("Harbour"\)$/),
    })
    const confirm_token = tokenOf(preview)
    const done = await person.call('archive_agent', { ...args, confirm_token })
    expect(await person.flaws('archive_agent', done)).toBeUndefined()
    expect(done.structuredContent?.summary).toEqual({ archived: 2 })
    expect(done.content[0]?.text).toMatch(/include_subaccounts.*is_archived/)
  })

  test('stay unchanged with unused_only if they are archived and alone in their account', async () => {
    const active = await makeAgent(person, 'Still here', { account_id: hamburg })
    const account_id = await makeBranch(person, 'Closed branch')
    const gone = await makeAgent(person, 'Long gone', { account_id })
    await person.value('archive_agent', { agent_id: gone, account_id })
    const args = { agent_ids: [active, gone], include_subaccounts: true, unused_only: true }
    const { summary } = await person.value('archive_agent', args)
    expect(summary).toEqual({ archived: 1, unchanged: 1 })
  })

  test('are not selected together with agent_id, and an unknown tag is reported', async () => {
    const one = { agent_id: seedIds.supportAgent, include_subaccounts: true, note: 'x' }
    expect(errorOf(await person.call('update_agent', one)).fields).toMatchObject([
      { argument: 'include_subaccounts' },
    ])
    const tag = { with_tag: 'remindr', include_subaccounts: true, note: 'x' }
    expect(errorOf(await person.call('update_agent', tag)).fields).toEqual([
      { argument: 'with_tag', message: expect.stringMatching(/\bremindr\b.*\breminder\b/) },
    ])
  })
})

describe('include_subaccounts of a change is refused', () => {
  const args = { with_tag: 'hh', include_subaccounts: true }
  test.each<[string, Record<string, string>, RegExp]>([
    ['where the account is pinned', { VOICE_AGENT_ACCOUNT: seedIds.account }, /\bone account\b/],
    [
      'where subaccounts are not exposed',
      { VOICE_AGENT_TOOLS: 'update_agent,archive_agent,list_agents' },
      /list_subaccounts/,
    ],
    [
      'where agents are not listed',
      { VOICE_AGENT_TOOLS: 'update_agent,archive_agent,list_subaccounts' },
      /list_agents/,
    ],
  ])('%s', async (_, env, reason) => {
    await using client = await connectStdio('v2 2026-07-28', { env })
    for (const [tool, more] of [
      ['update_agent', { note: 'x' }],
      ['archive_agent', {}],
    ] as const) {
      const { fields } = errorOf(await client.call(tool, { ...args, ...more }))
      expect(fields).toEqual([
        { argument: 'include_subaccounts', message: expect.stringMatching(reason) },
      ])
    }
  })
})

describe('a branch that fails', () => {
  const agentIn = (id: string) => ({ id: `agent-${id}`, name: `Bot ${id}`, tags: ['hh'] })
  const start = (fails: readonly string[]) =>
    startFakePlatform(
      ({ method, url }, res) => {
        const { pathname } = new URL(url, 'http://x')
        const [, , , account = '', list, one] = pathname.split('/')
        const below =
          account === 'own'
            ? [
                { id: 'b1', name: 'B1' },
                { id: 'b2', name: 'B2' },
              ]
            : []
        if (list === 'subaccounts') return json(res, 200, { count: below.length, items: below })
        if (fails.includes(account)) return json(res, 500, envelope('internal_error'))
        const agent = agentIn(account)
        if (one === undefined) return json(res, 200, { count: 1, items: [agent] })
        return json(res, 200, method === 'PATCH' ? { ...agent, note: 'x' } : agent)
      },
      { account: 'own' },
    )
  const connect = (url: string) =>
    connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: url },
    })

  test('is named, and the others are changed', async () => {
    await using platform = await start(['b2'])
    await using person = await connect(platform.url)
    const args = { with_tag: 'hh', include_subaccounts: true, note: 'x' }
    const { structuredContent, content } = await person.call('update_agent', args)
    expect(structuredContent).toMatchObject({
      summary: { updated: 2 },
      failed_accounts: [
        { accounts: [{ id: 'b2', name: 'B2' }], reason: expect.stringContaining('500') },
      ],
    })
    expect(content[0]?.text).toMatch(/NOT COMPLETE: .*B2 \(b2\): .*500/)
    // The unread account might have an agent of this name; an id is unambiguous.
    const ids = { agent_ids: ['Bot b1', 'agent-own'], include_subaccounts: true, note: 'x' }
    const named = await person.call('update_agent', ids)
    expect(named.structuredContent).toMatchObject({
      summary: { failed: 1, updated: 1 },
      // The problem names the likely agent, and the account that could not be read.
      agents: [{ problem: expect.stringMatching(/B2 \(b2\): .*500.* agent-b1$/) }, {}],
    })
    const patched = platform.seen.filter(({ method }) => method === 'PATCH').map(({ url }) => url)
    expect(patched.join()).not.toContain('/b2/')
  })

  test('is an error if all accounts fail', async () => {
    await using platform = await start(['own', 'b1', 'b2'])
    await using person = await connect(platform.url)
    const args = { with_tag: 'hh', include_subaccounts: true, note: 'x' }
    expect((await person.call('update_agent', args)).isError).toBe(true)
    expect(platform.seen.some(({ method }) => method === 'PATCH')).toBe(false)
  })
})
