import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { type ClientKind, connectStdio, errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'

const since = '2026-01-01T00:00:00Z'

interface Named {
  readonly name: string
}
const namesOf = (items: unknown) => (items as Named[]).map(({ name }) => name).sort()

describe('where', () => {
  let person: Person
  let branch: unknown
  let trunk: unknown

  const make = async (name: string, more: object = {}) =>
    String((await person.value('create_agent', { ...newAgent, name, ...more })).id)
  const number = (digits: string, more: object) =>
    person.value('create_phone_number', { number: `+1202555${digits}`, name: 'Line', ...more })

  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
    branch = (await person.value('create_subaccount', { name: 'Hamburg branch' })).id
    trunk = (await person.value('create_sip_trunk', { name: 'Old carrier' })).id
    const inbound_agent_id = await make('Answers', { tags: ['a', 'b'] })
    await number('1001', { sip_trunk_id: trunk, inbound_agent_id })
    await number('1002', { sip_trunk_id: trunk, inbound_agent_id })
    const agent_id = await make('Talks', { tags: ['a', 'c'] })
    await person.agreed('place_call', { agent_id, type: 'web' })
    await make('Rests', { tags: ['b', 'c'] })
    await make('Branch rests', { tags: ['b'], account_id: branch })
  })
  afterAll(() => person[Symbol.asyncDispose]())

  const cases: [string, object, string[]][] = [
    ['all tags', { tags: ['a', 'b'] }, ['Answers']],
    ['any tag', { any_tag: ['a', 'c'] }, ['Answers', 'Rests', 'Talks']],
    ['all and any tags', { tags: ['c'], any_tag: ['a', 'b'] }, ['Rests', 'Talks']],
    ['the trunk of their numbers', { sip_trunk_id: 'Old carrier' }, ['Answers']],
    ['disuse', { any_tag: ['a', 'b', 'c'], unused_since: since }, ['Rests']],
  ]
  test.each(cases)('selects by %s, and the list shows the same', async (_, where, names) => {
    const result = await person.call('update_agent', { where, note: 'x', dry_run: true })
    expect(await person.flaws('update_agent', result)).toBeUndefined()
    expect(namesOf(result.structuredContent?.agents)).toEqual(names)
    const list = await person.call('list_agents', where)
    expect(await person.flaws('list_agents', list)).toBeUndefined()
    expect(list.structuredContent).toMatchObject({ total: names.length, next_offset: null })
    expect(namesOf(list.structuredContent?.items)).toEqual(names)
  })

  test('finds agents of all subaccounts, or of one', async () => {
    const where = { any_tag: ['b'], unused_since: since }
    const args = { note: 'x', dry_run: true, include_subaccounts: true }
    const { agents } = await person.value('update_agent', { where, ...args })
    expect(namesOf(agents)).toEqual(['Branch rests', 'Rests'])
    const { items } = await person.value('list_agents', { ...where, include_subaccounts: true })
    expect(items).toMatchObject([{ name: 'Rests' }, { account: { name: 'Hamburg branch' } }])
    const alone = { account_id: 'Hamburg branch', agent_ids: ['*'], note: 'x', dry_run: true }
    expect(namesOf((await person.value('update_agent', alone)).agents)).toEqual(['Branch rests'])
  })

  test('counts conversations that began since then only', async () => {
    const filters = { any_tag: ['c'], unused_since: new Date().toISOString() }
    const { items } = await person.value('list_agents', filters)
    expect(namesOf(items)).toEqual(['Rests', 'Talks'])
  })

  test('names the lists that were searched', async () => {
    const where = { tags: ['b'], unused_since: since }
    const text = await person.text('update_agent', { where, note: 'x', dry_run: true })
    expect(text).toMatch(new RegExp(`\\b\\d+ numbers\\b.*\\bconversation\\b.*${since}`))
    const { note } = await person.value('list_agents', where)
    expect(note).toMatch(new RegExp(`\\b\\d+ numbers\\b.*\\bconversation\\b.*${since}`))
  })

  test('pages join without overlap', async () => {
    const filters = { any_tag: ['a', 'b', 'c'], limit: 2 }
    const first = await person.value('list_agents', filters)
    expect(first).toMatchObject({ total: 3, returned: 2, next_offset: 2 })
    const second = await person.value('list_agents', { ...filters, offset: 2 })
    expect(second).toMatchObject({ total: 3, returned: 1, next_offset: null })
    const both = [...(first.items as Named[]), ...(second.items as Named[])]
    expect(namesOf(both)).toEqual(['Answers', 'Rests', 'Talks'])
  })

  test('names a tag that no agent has', async () => {
    const { note } = await person.value('list_agents', { any_tag: ['a', 'zebra'] })
    expect(note).toContain('zebra')
    const none = { where: { any_tag: ['zebra'] }, note: 'x' }
    expect(errorOf(await person.call('update_agent', none)).fields).toEqual([
      { argument: 'where', message: expect.stringContaining('zebra') },
    ])
  })

  test.each<[string, object, string]>([
    ['nothing', { where: {} }, 'where'],
    ['nulls', { where: { tags: null } }, 'agent_id'],
    ['ids too', { where: { tags: ['a'] }, agent_ids: ['x'] }, 'agent_id'],
    ['* among ids', { agent_ids: ['*', 'Rests'] }, 'agent_ids'],
    ['a tag twice', { where: { tags: ['a'] }, with_tag: 'a' }, 'with_tag'],
    ['the future', { where: { unused_since: '2999-01-01T00:00:00Z' } }, 'unused_since'],
    ['a day alone', { where: { unused_since: '2026-01-01' } }, 'where.unused_since'],
    ['an unknown filter', { where: { tag: 'a' } }, 'where.tag'],
    ['no trunk of theirs', { where: { sip_trunk_id: 'Nobody' } }, 'where'],
  ])('is refused for %s', async (_, args, argument) => {
    const { fields } = errorOf(await person.call('update_agent', { ...args, note: 'x' }))
    expect(fields).toMatchObject([{ argument }])
  })

  test('refuses a trunk name that two trunks have, with both ids', async () => {
    const other = await person.value('create_sip_trunk', {
      name: 'Old carrier',
      account_id: branch,
    })
    await number('1003', { sip_trunk_id: other.id, account_id: branch })
    const args = { sip_trunk_id: 'Old carrier', include_subaccounts: true }
    const [field] = errorOf(await person.call('list_agents', args)).fields ?? []
    expect(field?.argument).toBe('sip_trunk_id')
    for (const id of [trunk, other.id]) expect(field?.message).toContain(id)
  })

  test.each<ClientKind>(['v2 2025', 'v1'])('works with older clients (%s)', async (kind) => {
    await using own = await connectPerson(kind, {})
    await own.value('create_agent', { ...newAgent, name: 'One', tags: ['x', 'y'] })
    const where = { tags: ['x', 'y'] }
    const { summary } = await own.value('update_agent', { where, note: 'n' })
    expect(summary).toEqual({ updated: 1 })
  })
})

describe('unused_since on a platform with undocumented replies', () => {
  const agents = ['a', 'b'].map((id) => ({ id, name: id, tags: [] }))
  const page = (items: object[]) => ({ count: items.length, items })

  test.each<[string, object, object, string]>([
    [
      'conversations of other agents',
      { id: 'n' },
      { conversation_id: 'c', agent_id: 'z' },
      'conversations',
    ],
    ['the agents of numbers in another form', { id: 'n', inbound_agent: 'a' }, {}, 'numbers'],
  ])('finds none with %s', async (_, number, conversation, reason) => {
    await using platform = await startFakePlatform(
      ({ url }, res) => {
        if (url.includes('phone-numbers')) return json(res, 200, page([number]))
        if (url.includes('/conversations')) return json(res, 200, page([conversation]))
        return json(res, 200, page(agents))
      },
      { account: 'own' },
    )
    const env = { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url }
    await using client = await connectStdio('v2 2026-07-28', { env })
    const { fields } = errorOf(await client.call('list_agents', { unused_since: since }))
    expect(fields).toEqual([{ argument: 'unused_since', message: expect.stringContaining(reason) }])
  })

  test('counts no agent as unused if numbers of its account were not read', async () => {
    await using platform = await startFakePlatform(
      ({ url }, res) => {
        if (url.includes('/own/subaccounts')) return json(res, 200, page([{ id: 'sub' }]))
        if (url.includes('subaccounts')) return json(res, 200, page([]))
        if (url.includes('/sub/phone-numbers')) return json(res, 403, { code: 'forbidden' })
        if (url.includes('phone-numbers')) return json(res, 200, page([]))
        if (url.includes('/conversations')) return json(res, 200, page([]))
        return json(res, 200, page([{ id: url.includes('/sub/') ? 'below' : 'above', name: 'x' }]))
      },
      { account: 'own' },
    )
    const env = { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url }
    await using client = await connectStdio('v2 2026-07-28', { env })
    const args = { unused_since: since, include_subaccounts: true }
    const list = await client.value('list_agents', args)
    expect(list).toMatchObject({
      total: null,
      failed_accounts: [{ accounts: [{ id: 'sub' }] }],
      items: [{ id: 'above' }],
    })
  })
})
