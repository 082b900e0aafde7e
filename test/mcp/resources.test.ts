import { describe, expect, test } from 'vitest'
import { clientKinds, connectStdio } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { seedIds } from '../harness/sandbox.ts'

describe.each(clientKinds)('resources with %s', (kind) => {
  test('are listed, with titles and descriptions, and every agent among them', async () => {
    await using client = await connectStdio(kind)
    const created = await client.value('create_agent', newAgent)
    const { resources } = await client.listResources()
    const uris = resources.map(({ uri }) => uri)
    expect(uris).toContain('voice-agents://account')
    expect(uris).toContain('voice-agents://catalog/models')
    expect(uris).toContain('voice-agents://catalog/transcribers')
    expect(uris).toContain(`voice-agents://agents/${created.id}`)
    for (const resource of resources) {
      const mimeType = resource.uri.startsWith('skill:') ? 'text/markdown' : 'application/json'
      expect(resource).toMatchObject({ mimeType, title: expect.any(String) })
      if (!resource.uri.includes('/agents/')) expect(resource).toHaveProperty('description')
    }
    const { note } = await client.value('get_agent', { agent_id: seedIds.supportAgent })
    const listed = resources.find(({ uri }) => uri.endsWith(seedIds.supportAgent))
    expect(listed).toMatchObject({ title: 'Support line', description: note })
    const templates = await client.listResourceTemplates()
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'voice-agents://catalog/voices/{provider}',
      'voice-agents://agents/{agent_id}',
    ])
  })

  test('can all be read, with the same data as the tools', async () => {
    await using client = await connectStdio(kind)
    for (const { uri } of (await client.listResources()).resources) {
      expect(await client.readText(uri), uri).toBeTruthy()
    }
    const models = await client.value('list_models', { fields: ['*'] })
    expect(await client.readResource('voice-agents://catalog/models')).toEqual(models.providers)
    const { voices } = await client.value('list_voices', {
      provider: 'azure',
      fields: ['*'],
      limit: 100,
    })
    expect(await client.readResource('voice-agents://catalog/voices/azure')).toMatchObject({
      voices,
    })
  })

  test.each([
    'voice-agents://nothing',
    'voice-agents://agents/no-such-agent',
    'voice-agents://agents/',
    'voice-agents://agents/..',
    'voice-agents://agents/a/b',
    'voice-agents://agents/%zz',
    'voice-agents://catalog/voices/nobody',
    'https://example.com',
  ])('%s is not found', async (uri) => {
    await using client = await connectStdio(kind)
    // Not-found code of the 2025 revisions is -32002, since then -32602; version 2 of the SDK maps
    // both to -32602.
    const code = kind === 'v1' ? -32002 : -32602
    await expect(client.readResource(uri)).rejects.toMatchObject({ code, data: { uri } })
  })
})

test('the cursor leads to the agents after the first page', async () => {
  const agents = Array.from({ length: 250 }, (_, index) => ({
    id: `a${index}`,
    name: `A ${index}`,
  }))
  await using platform = await startFakePlatform(
    ({ url }, res) => {
      const search = new URL(url, 'http://x').searchParams
      const offset = Number(search.get('offset'))
      json(res, 200, {
        count: agents.length,
        items: agents.slice(offset, offset + Number(search.get('limit'))),
      })
    },
    { account: 'own' },
  )
  await using client = await connectStdio('v1', {
    env: { VOICE_AGENT_API_KEY: 'k', VOICE_AGENT_BASE_URL: platform.url },
  })
  const uris: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.listResources(cursor)
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  } while (cursor)
  expect(uris.filter((uri) => uri.includes('agents/'))).toHaveLength(250)
  expect(new Set(uris).size).toBe(uris.length)
})

test('the error for a failing platform does not contain the key', async () => {
  await using platform = await startFakePlatform((_, res) =>
    json(res, 500, envelope('internal_error', 'Key k-e-y-1 exploded')),
  )
  await using client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'k-e-y-1', VOICE_AGENT_BASE_URL: platform.url },
  })
  await expect(client.readResource('voice-agents://account')).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining('500 internal_error: Key [API key] exploded'),
  })
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri).filter((uri) => !uri.startsWith('skill:'))).toEqual([
    'voice-agents://account',
    'voice-agents://catalog/models',
    'voice-agents://catalog/transcribers',
  ])
})
