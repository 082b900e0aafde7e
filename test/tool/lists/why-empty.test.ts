import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTreePlatform } from '../../harness/account-tree-platform.ts'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

describe('an empty list', () => {
  test.each(['list_calls', 'list_conversations'])(
    '%s tells which agent was meant',
    async (name) => {
      const { total, note } = await client.value(name, { agent_id: 'Suport line' })
      expect(total).toBe(0)
      for (const named of [
        '"Suport line"',
        `Support line (${seedIds.supportAgent})`,
        'is_archived',
      ])
        expect(note).toContain(named)
    },
  )

  test.each([{}, { include_subaccounts: true }])(
    'of calls in a status that is not known names the one meant, or the known ones, with %o',
    async (tree) => {
      const meant = errorOf(await client.call('list_calls', { status: 'faild', ...tree }))
      expect(meant).toMatchObject({
        kind: 'bad_arguments',
        fields: [{ argument: 'status', message: expect.stringContaining('did you mean failed?') }],
      })
      const { total, note } = await client.value('list_calls', { status: 'zzz', ...tree })
      expect(total).toBe(0)
      expect(note).toContain('"zzz"')
      expect(note).toContain('in_progress, completed, failed, transferred')
      const known = { status: 'transferred', created_after: '2999-01-01T00:00:00Z', ...tree }
      expect(await client.value('list_calls', known)).not.toHaveProperty('note')
    },
  )

  test('of an existing agent, or of a UUID, has no note', async () => {
    const { id, name } = await client.value('create_agent', { ...newAgent, name: 'Never called' })
    for (const agent_id of [id, name, '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11']) {
      expect(await client.value('list_calls', { agent_id })).not.toHaveProperty('note')
    }
  })

  test.each([
    ['germn', /^(?!.*en-us).*"germn".*German \(Germany\) \(de-de\)/],
    ['de-dd', /^(?!.*en-us).*"de-dd".*\(de-de\)/],
    ['xx', /"xx".*de-de.*en-us/],
  ])('of voices in %s names the closest language', async (language, expected) => {
    const { note } = await client.value('list_voices', { provider: 'elevenlabs', language })
    expect(note).toMatch(expected)
  })

  test('of voices in an existing language has no note about it', async () => {
    const query = { provider: 'elevenlabs', language: 'de', search: 'nobody at all' }
    expect(await client.value('list_voices', query)).toEqual({
      account_id: expect.any(String),
      returned: 0,
      provider: 'elevenlabs',
      count: 0,
      voices: [],
    })
  })
})

describe('an empty list of an account whose subaccounts have matches', () => {
  test('says that include_subaccounts lists them', async () => {
    const agent = { ...newAgent, name: 'Branch desk', account_id: seedIds.subaccount }
    await client.value('create_agent', agent)
    const { total, note } = await client.value('list_agents', { name: 'Branch desk' })
    expect(total).toBe(0)
    expect(note).toMatch(/\b1\b.*include_subaccounts true/)
    const all = { name: 'Branch desk', include_subaccounts: true }
    expect(await client.value('list_agents', all)).toMatchObject({ total: 1 })
    expect(await client.value('list_agents', { name: 'Nobody at all' })).not.toHaveProperty('note')
  })

  const below = { id: 'north', items: [{ id: 'a' }, { id: 'b' }] }
  const connect = async (url: string, env: Record<string, string> = {}) =>
    connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: url, ...env },
    })

  test.each(['list_agents', 'list_phone_numbers', 'list_sip_trunks', 'list_calls'])(
    '%s says it with the filters, and not for a later page',
    async (name) => {
      await using platform = await startTreePlatform({ id: 'own', below: [below] })
      await using wired = await connect(platform.url)
      expect((await wired.value(name)).note).toMatch(/\b2\b.*include_subaccounts true/)
      const asked = platform.seen.length
      expect(await wired.value(name, { offset: 5 })).not.toHaveProperty('note')
      expect(platform.seen.slice(asked).filter(({ url }) => url.includes('north'))).toEqual([])
    },
  )

  test('does not mention them if they may not be read', async () => {
    for (const env of [
      { VOICE_AGENT_ACCOUNT: 'own' },
      { VOICE_AGENT_EXCLUDE_TOOLS: 'list_subaccounts' },
    ]) {
      await using platform = await startTreePlatform({ id: 'own', below: [below] })
      await using wired = await connect(platform.url, env)
      expect(await wired.value('list_agents')).not.toHaveProperty('note')
      expect(platform.seen.filter(({ url }) => /north|subaccounts/.test(url))).toEqual([])
    }
  })

  test('neither waits for them nor fails with them', async () => {
    const failing = { id: 'south', fails: 'hangs' } as const
    await using platform = await startTreePlatform({ id: 'own', below: [below, failing] })
    const patient = { VOICE_AGENT_HEADERS_TIMEOUT: '600', VOICE_AGENT_TIMEOUT: '600' }
    await using wired = await connect(platform.url, patient)
    const begun = performance.now()
    expect(await wired.value('list_agents')).toMatchObject({ total: 0 })
    // The tool call itself ends only after 54 s.
    expect(performance.now() - begun).toBeLessThan(30_000)
  })
})

describe('a tag with a comma', () => {
  const note = expect.stringContaining('"north, east"')

  test('finds the agents that have it, and none that have its parts', async () => {
    const tags = ['north, east']
    const { id } = await client.value('create_agent', { ...newAgent, tags: [...tags, 'x'] })
    await client.value('create_agent', { ...newAgent, tags: ['north', ' east', 'x'] })
    for (const asked of [tags, [...tags, 'x']]) {
      const found = await client.value('list_agents', { tags: asked })
      expect(found).toMatchObject({ total: 1, items: [{ id }] })
      expect(found.note).not.toEqual(note)
    }
  })

  test('has a note of doubt if no agent has it', async () => {
    const tags = ['north, east', 'nobody has this']
    expect(await client.value('list_agents', { tags })).toMatchObject({ total: 0, note })
  })

  test('has a note of doubt if the platform read it as several', async () => {
    const agent = { id: 'a', name: 'One', tags: ['north', ' east'] }
    await using platform = await startFakePlatform(
      (_, response) => json(response, 200, { count: 1, items: [agent] }),
      { account: 'own' },
    )
    await using parting = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    expect(await parting.value('list_agents', { tags: ['north, east'] })).toMatchObject({ note })
  })
})

test('an agent after hundreds of others is found by a misspelt name', async () => {
  await client.value('create_agent', { ...newAgent, name: 'Zebrafish helpdesk' })
  for (let at = 0; at < 130; at++) {
    await client.value('create_agent', { ...newAgent, name: `Filler ${at}` })
  }
  for (const agent_id of ['Zebrafish helpdesks', 'Zebafish helpdesk']) {
    const { content } = await client.call('get_agent', { agent_id })
    expect(content[0]?.text).toContain('Zebrafish helpdesk (')
    const numbers = { from_number: '+12025550110', to_number: '+12025550100' }
    const readiness = await client.call('check_call_readiness', { agent_id, ...numbers })
    expect(readiness.content[0]?.text).toContain('Zebrafish helpdesk (')
  }
})
