import { describe, expect, test } from 'vitest'
import { allRoutes } from '../../src/contract/routes.ts'
import { newAgent } from '../harness/every-tool.ts'
import { startSandbox } from '../harness/sandbox.ts'

describe('requests', () => {
  test('every route is served', async () => {
    using sandbox = startSandbox()
    for (const { method, path } of allRoutes) {
      const url = path
        .replace('/v1/', '')
        .replace(/\{(\w+)\}/g, (_, name) => (name === 'account_id' ? 'me' : 'none'))
      const { status, body } = await sandbox.send(method, url, method === 'GET' ? undefined : {})
      expect(status, `${method} ${path}`).not.toBe(500)
      if (status === 404) expect(body.detail).toMatch(/\bnone\b/)
    }
  })

  test('without a route are 404', async () => {
    using sandbox = startSandbox()
    expect((await sandbox.get('nothing')).body).toMatchObject({ code: 'not_found', errors: null })
  })

  test('with a method that the path does not have are 405, with the allowed methods', async () => {
    using sandbox = startSandbox()
    const { status, headers, body } = await sandbox.send('PUT', 'accounts/me/agents', {})
    expect([status, body.code]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST'])
  })

  test('with a body that is not JSON are 400, without one 422', async () => {
    using sandbox = startSandbox()
    expect((await sandbox.send('POST', 'accounts/me/agents', '{broken')).status).toBe(400)
    expect((await sandbox.send('POST', 'accounts/me/agents')).status).toBe(422)
  })

  test('that are invalid are 422, with every invalid field and its type', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/agents', {
      name: 5,
      volume: { web: 2 },
      model: { provider: 'x' },
      voice: { provider: 'x' },
    })
    expect(status).toBe(422)
    expect(body.code).toBe('validation_error')
    expect(
      Object.fromEntries(
        body.errors.map((one: { field: string; type: string }) => [one.field, one.type]),
      ),
    ).toEqual({
      'body.name': 'type_error',
      'body.model.model': 'missing',
      'body.transcriber': 'missing',
      'body.voice.voice_id': 'missing',
      'body.volume.web': 'value_error',
    })
  })

  test('may have unknown fields, which are ignored', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/subaccounts', {
      name: 'x',
      brand_new: 1,
    })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('brand_new')
  })

  test('take an empty query parameter as not given', async () => {
    using sandbox = startSandbox()
    const { body: all } = await sandbox.get('accounts/me/agents')
    const empty = 'limit=&offset=&name=&tags=&tags=&is_archived=&include_archived=&created_gt='
    expect((await sandbox.get(`accounts/me/agents?${empty}`)).body).toEqual(all)
    const one = await sandbox.get('accounts/me/agents?tags=&tags=reminder&limit=&limit=1')
    expect(one.body.items).toHaveLength(1)
    expect((await sandbox.get('accounts/me/providers/voices?provider=')).body.errors).toMatchObject(
      [{ field: 'query.provider', type: 'missing' }],
    )
  })

  test('take booleans, numbers and repeated parameters in a query', async () => {
    using sandbox = startSandbox()
    const items = async (query: string) =>
      (await sandbox.get(`accounts/me/agents?${query}`)).body.items.length
    expect(await items('limit=2&offset=1')).toBe(2)
    expect(await items('tags=reminder')).toBe(2)
    expect(await items('tags=reminder&tags=de')).toBe(1)
    expect(await items('tags=reminder,de')).toBe(1)
    expect(await items('tags=reminder,de&tags=en')).toBe(0)
    // Values of a repeated parameter are not split at commas, because a tag may contain one.
    expect(await items('tags=reminder,de&tags=reminder')).toBe(0)
    expect((await sandbox.get('accounts/me/agents?limit=x')).body.errors[0].field).toBe(
      'query.limit',
    )
    expect((await sandbox.get('accounts/me/agents?is_archived=maybe')).status).toBe(422)
  })
})

test('every resource has a string as its name, also when none was given', async () => {
  using sandbox = startSandbox()
  const create = async (path: string, body: object) =>
    (await sandbox.send('POST', `accounts/me/${path}`, body)).body
  const { name: _, ...nameless } = newAgent
  const agent = await create('agents', nameless)
  const silent = await create('sip-trunks', {})
  const number = await create('phone-numbers', {
    sip_trunk_id: silent.id,
    inbound_agent_id: agent.id,
  })
  expect([agent.name, silent.name]).toEqual(['', ''])
  expect(number).toMatchObject({ sip_trunk: { name: '' }, inbound_agent: { name: '' } })
})

test('the OpenAPI document is served, without a key', async () => {
  using sandbox = startSandbox()
  const { status, body } = await sandbox.send('GET', 'openapi.json', undefined, { key: null })
  expect(status).toBe(200)
  expect(Object.keys(body.paths)).toContain('/v1/accounts/{account_id}/calls')
})
