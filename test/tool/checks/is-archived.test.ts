import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { type FakePlatform, json, startFakePlatform } from '../../harness/fake-platform.ts'

/*
 * The platform leaves `is_archived` out of its replies: only the lists, filtered by it, show the
 * state.
 */

const id = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
const agent = { id, name: 'Old', account_id: 'own', modified: '2026-11-01T00:00:00Z', note: 'x' }
const number = '+12025550110'
const line = { id: 'n', number, sip_trunk: { id: 'gone', name: 'Old trunk' } }

let archived: boolean
let takesIt: boolean
let hasFilter: boolean
let note: unknown
let platform: FakePlatform
let client: TestClient
beforeEach(() => {
  archived = true
  takesIt = true
  hasFilter = true
  note = 'x'
  platform.seen.length = 0
})
beforeAll(async () => {
  platform = await startFakePlatform(
    ({ method, url, body }, res) => {
      const { pathname, searchParams } = new URL(url, 'http://x')
      if (method === 'PATCH') {
        const change = JSON.parse(body)
        if (takesIt && change.is_archived === false) archived = false
        note = change.note ?? note
        return json(res, 200, { ...agent, note })
      }
      if (pathname.endsWith('/agents')) {
        const isWanted = !hasFilter || (searchParams.get('is_archived') === 'true') === archived
        return json(res, 200, isWanted ? { count: 1, items: [agent] } : { count: 0, items: [] })
      }
      if (pathname.endsWith('/phone-numbers')) return json(res, 200, { items: [line] })
      if (pathname.endsWith(`/agents/${id}`)) return json(res, 200, { ...agent, note })
      json(res, 404, { code: 'not_found', message: 'Not found.', detail: null, errors: null })
    },
    { account: 'own' },
  )
  client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

const bodies = () =>
  platform.seen.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body))

/** Requests for archived agents, as indexes into `platform.seen`. */
const archivedListRequests = () =>
  platform.seen.flatMap(({ url }, at) => (url.includes('is_archived=true') ? [at] : []))

describe('update_agent with is_archived false', () => {
  const restore = (more: object = {}) =>
    client.call('update_agent', { agent_id: id, is_archived: false, ...more })
  const change = { field: 'is_archived', after: false }

  test('sends it, and the list shows that it worked', async () => {
    const { structuredContent, content } = await restore()
    expect(bodies()).toEqual([{ is_archived: false }])
    expect(structuredContent).toMatchObject({ applied: true, warnings: [] })
    // The earlier value is unknown, because no reply contains it.
    expect(structuredContent?.changes).toEqual([change])
    expect(content[0]?.text).toContain('is_archived: unknown → false')
  })

  test('asks the list of archived agents only after the update', async () => {
    await restore()
    const update = platform.seen.findIndex(({ method }) => method === 'PATCH')
    expect(update).toBeGreaterThan(-1)
    expect(archivedListRequests().length).toBeGreaterThan(0)
    expect(archivedListRequests().filter((at) => at < update)).toEqual([])
  })

  test('says if the platform ignored it', async () => {
    takesIt = false
    const { structuredContent, content } = await restore()
    expect(bodies()).toEqual([{ is_archived: false }])
    expect(structuredContent).toMatchObject({
      applied: false,
      changes: [],
      warnings: [expect.stringMatching(/^is_archived:/)],
    })
    expect(content[0]?.text.split('\n')[0]).toContain('Old')
  })

  test('says if the platform ignored only this field', async () => {
    takesIt = false
    const { structuredContent } = await restore({ note: 'new' })
    expect(bodies()).toEqual([{ note: 'new', is_archived: false }])
    expect(structuredContent).toMatchObject({
      applied: true,
      changes: [{ field: 'note', before: 'x', after: 'new' }],
      warnings: [expect.stringMatching(/^is_archived:/)],
    })
  })

  test('says if the lists do not show the result', async () => {
    hasFilter = false
    const { structuredContent } = await restore()
    expect(structuredContent).toMatchObject({
      applied: true,
      warnings: [expect.stringMatching(/^is_archived:/)],
    })
  })

  test('sends nothing for a dry run, and asks for no archived agents', async () => {
    const dry = await restore({ dry_run: true })
    expect(dry.structuredContent).toMatchObject({ applied: false, changes: [change] })
    expect(bodies()).toEqual([])
    expect(archivedListRequests()).toEqual([])
  })

  test('is sent for an active agent too, because no reply says that it is active', async () => {
    archived = false
    const { structuredContent } = await restore()
    expect(bodies()).toEqual([{ is_archived: false }])
    expect(structuredContent).toMatchObject({ applied: true, changes: [change], warnings: [] })
  })

  test('refuses true, because archiving asks first', async () => {
    const refused = await restore({ is_archived: true })
    expect(errorOf(refused).fields).toMatchObject([
      { argument: 'is_archived', message: expect.stringContaining('archive_agent') },
    ])
  })
})

test('an agent of the sandbox is unarchived', async () => {
  await using own = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_CONFIRM: 'never' },
  })
  const { id: agent_id } = await own.value('create_agent', { ...newAgent, name: 'Boomerang' })
  await own.value('archive_agent', { agent_id })
  const result = await own.value('update_agent', { agent_id, is_archived: false })
  expect(result).toMatchObject({ applied: true, warnings: [] })
  expect(await own.value('list_agents', { name: 'Boomerang' })).toMatchObject({ total: 1 })
})

describe('check_call_readiness', () => {
  const ready = async () => {
    const args = { agent_id: id, from_number: number, to_number: '+12025550101' }
    const { checks } = await client.value('check_call_readiness', args)
    return Object.fromEntries(
      (checks as { check: string; ok: boolean; found: string }[]).map((one) => [one.check, one]),
    )
  }

  test('asks the list whether the agent is archived', async () => {
    expect((await ready()).agent).toMatchObject({
      ok: false,
      found: expect.stringContaining(`Old (${id})`),
    })
    archived = false
    expect((await ready()).agent).toMatchObject({ ok: true })
  })

  test('distrusts a list that ignores the filter', async () => {
    hasFilter = false
    expect((await ready()).agent).toMatchObject({ ok: true })
  })

  test('says that the number has no trunk if its trunk does not exist', async () => {
    expect((await ready()).trunk).toMatchObject({
      ok: false,
      found: expect.stringContaining('Old trunk (gone)'),
      fix: expect.stringMatching(/update_phone_number\b.*phone_number_id n\b/),
    })
  })
})

describe('the name of an archived agent', () => {
  test.each([
    ['get_agent', {}],
    ['update_agent', { is_archived: false }],
    ['archive_agent', {}],
    ['place_call', { type: 'phone', from_number: number, to_number: '+4930123457' }],
    ['check_call_readiness', { from_number: number, to_number: '+4930123457' }],
  ])('is not looked up by %s, which says how to find the agent', async (tool, more) => {
    const { content } = await client.call(tool, { agent_id: 'Old', ...more })
    expect(archivedListRequests()).toEqual([])
    expect(content[0]?.text).toMatch(/list_agents\b.*is_archived true/)
  })
})

test('placing a call does not ask for archived agents', async () => {
  await client.call('place_call', {
    type: 'phone',
    agent_id: id,
    from_number: number,
    to_number: '+4930123457',
  })
  expect(platform.seen.filter(({ url }) => url.includes('archived'))).toEqual([])
})
