import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../../tools/index.ts'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import {
  type Behaviour,
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../../harness/fake-platform.ts'

/*
 * Finds the missing object if the platform only replies 404: the object in the path, one in the
 * body, or the account.
 */

const uuid = (digit: number) => `${digit}f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11`
const there = uuid(1)
const missing = uuid(2)

/** Reads succeed for existing objects, lists are empty, and every write fails with a bare 404. */
const bare404: Behaviour = ({ method, url }, response) => {
  if (method === 'GET' && !url.includes(missing) && !url.includes('accounts/elsewhere')) {
    return json(response, 200, { id: there, count: 0, items: [] })
  }
  json(response, 404, envelope('not_found', 'Resource not found.'))
}

let platform: FakePlatform
let client: TestClient
let pinned: TestClient
let lost: TestClient
beforeAll(async () => {
  platform = await startFakePlatform(bare404, { account: 'own' })
  const connect = (more: Record<string, string> = {}) =>
    connectStdio('v2 2026-07-28', {
      env: {
        VOICE_AGENT_API_KEY: 'sk-0123456789',
        VOICE_AGENT_BASE_URL: platform.url,
        VOICE_AGENT_CONFIRM: 'never',
        ...more,
      },
    })
  client = await connect()
  pinned = await connect({ VOICE_AGENT_ACCOUNT: 'branch' })
  lost = await connect({ VOICE_AGENT_ACCOUNT: 'elsewhere' })
})
afterAll(async () => {
  for (const one of [client, pinned, lost]) await one[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

async function failure(from: TestClient, name: string, args: Record<string, unknown>) {
  const before = platform.seen.length
  const result = await from.call(name, args)
  expect(result.isError).toBe(true)
  const meta = result._meta?.['voice-agent-mcp/error'] as Record<string, { argument: string }[]>
  return {
    text: result.content[0]?.text ?? '',
    fields: (meta.fields ?? []).map(({ argument }) => argument),
    requests: platform.seen.slice(before),
  }
}

const number = (more: object) => ({ number: '+12025550190', sip_trunk_id: there, ...more })

const numbers = { from_number: '+12025550110', to_number: '+12025550100' }

describe('after a 404 without details', () => {
  test.each<[string, string, Record<string, unknown>, string[]]>([
    ['in the path', 'get_agent', { agent_id: missing }, ['agent_id']],
    ['in the path', 'copy_agent', { agent_id: missing, name: 'x' }, ['agent_id']],
    ['in the path', 'get_call', { call_id: missing }, ['call_id']],
    [
      'first in the body',
      'create_phone_number',
      number({ sip_trunk_id: missing, inbound_agent_id: there }),
      ['sip_trunk_id'],
    ],
    [
      'second in the body',
      'create_phone_number',
      number({ inbound_agent_id: missing }),
      ['inbound_agent_id'],
    ],
    [
      'twice in the body',
      'create_phone_number',
      number({ sip_trunk_id: missing, inbound_agent_id: missing }),
      ['inbound_agent_id', 'sip_trunk_id'],
    ],
    [
      'in path or body',
      'update_phone_number',
      { phone_number_id: there, inbound_agent_id: missing },
      ['inbound_agent_id'],
    ],
    [
      'alone in the body',
      'create_phone_number',
      number({ sip_trunk_id: missing }),
      ['sip_trunk_id'],
    ],
    ['as account', 'list_agents', { account_id: 'elsewhere' }, ['account_id']],
    ['as account', 'get_agent', { account_id: 'elsewhere', agent_id: there }, ['account_id']],
  ])('the argument that is missing %s is named by %s %j', async (_, name, args, wanted) => {
    const { text, fields } = await failure(client, name, args)
    expect(fields.sort()).toEqual(wanted)
    for (const argument of wanted) expect(text).toMatch(new RegExp(`Check .*\\b${argument} with`))
    if (!wanted.includes('account_id')) expect(text).not.toContain('account_id')
  })

  test('only the references, and the names of existing items, are read', async () => {
    const args = number({ inbound_agent_id: missing })
    const { requests } = await failure(client, 'create_phone_number', args)
    expect(requests.length).toBeLessThanOrEqual(5)
    expect(requests.filter(({ method }) => method !== 'GET')).toHaveLength(1)
    expect(new Set(requests.map(({ headers }) => headers['x-api-key']))).toEqual(
      new Set(['sk-0123456789']),
    )
  })

  test('the pinned account is not reported as an argument', async () => {
    const { text, fields } = await failure(pinned, 'get_agent', { agent_id: missing })
    expect(fields).toEqual(['agent_id'])
    expect(text).not.toContain('account_id')
    const wrong = await failure(lost, 'get_agent', { agent_id: missing })
    expect(wrong.fields).toEqual([])
    expect(wrong.text).toMatch(/\belsewhere\b.*--account/)
    expect(wrong.text).not.toContain('account_id')
  })

  test('for a list of the own account, the base URL is suspected, and no argument', async () => {
    platform.behave((_, response) => json(response, 404, envelope('not_found')))
    const { text, fields } = await failure(client, 'list_agents', {})
    platform.behave(bare404)
    expect(fields).toEqual([])
    expect(text).toContain('VOICE_AGENT_BASE_URL')
    expect(text).not.toContain('account_id')
  })

  test('if reading takes too long, all possible references are named', async () => {
    platform.behave((request, response, before) => {
      if (request.method !== 'GET') bare404(request, response, before)
    })
    const args = number({ inbound_agent_id: missing })
    const { text, fields } = await failure(client, 'create_phone_number', args)
    platform.behave(bare404)
    expect(fields).toEqual([])
    expect(text).toMatch(/inbound_agent_id\b.*list_agents\b.*sip_trunk_id\b.*list_sip_trunks/)
  })
})

test.each<[string, number, object]>([
  ['a 404 that names it', 404, { detail: 'body.sip_trunk_id: no such trunk' }],
  [
    'a 422 that names it',
    422,
    { errors: [{ field: 'body.sip_trunk_id', message: 'Unknown.', type: 'value_error' }] },
  ],
])('after %s nothing is read to find out what is missing', async (_, status, more) => {
  platform.behave((request, response, before) => {
    if (request.method === 'GET') return bare404(request, response, before)
    json(response, status, envelope('refused', 'No.', more))
  })
  const args = number({ inbound_agent_id: there })
  const { text, fields, requests } = await failure(client, 'create_phone_number', args)
  platform.behave(bare404)
  expect(fields).toEqual(['sip_trunk_id'])
  expect(text).toContain('sip_trunk_id')
  expect(requests.map(({ url }) => url).filter((url) => /agents|sip-trunks\/\w/.test(url))).toEqual(
    [],
  )
})

/** Calls with unknown ids, for every tool that takes an id other than an account's. */
const unknownIds: Record<string, Record<string, unknown>[]> = {
  get_subaccount: [{ subaccount_id: missing }],
  update_subaccount: [{ subaccount_id: missing, name: 'x' }],
  get_agent: [{ agent_id: missing }, { agent_id: missing, account_id: 'elsewhere' }],
  copy_agent: [{ agent_id: missing, name: 'x' }],
  update_agent: [
    { agent_id: missing, note: 'x' },
    { agent_ids: [missing, 'Nobody'], add_tags: ['x'] },
  ],
  archive_agent: [{ agent_id: missing }, { agent_ids: [missing] }],
  create_phone_number: [number({ sip_trunk_id: missing })],
  get_phone_number: [{ phone_number_id: missing }],
  update_phone_number: [{ phone_number_id: there, inbound_agent_id: missing }],
  delete_phone_number: [{ phone_number_id: missing }],
  get_sip_trunk: [{ sip_trunk_id: missing }],
  update_sip_trunk: [{ sip_trunk_id: missing, name: 'x' }],
  delete_sip_trunk: [{ sip_trunk_id: missing }],
  check_call_readiness: [{ ...numbers, agent_id: missing }],
  place_call: [{ ...numbers, agent_id: missing, type: 'phone' }],
  place_calls: [
    {
      agent_id: missing,
      from_number: numbers.from_number,
      calls: [{ to_number: numbers.to_number }],
    },
  ],
  list_agents: [{ sip_trunk_id: missing }, { sip_trunk_id: 'Nobody' }],
  list_phone_numbers: [{ sip_trunk_id: missing }, { sip_trunk_id: 'Nobody' }],
  list_calls: [{ agent_id: 'Nobody' }, { call_id: missing }],
  get_call: [{ call_id: missing }],
  wait_for_call: [{ call_id: missing }],
  list_conversations: [{ agent_id: 'Nobody' }, { conversation_id: missing }],
  get_conversation: [{ id: missing }],
  validate_agent_template: [{ agent_id: missing }, { agent_id: 'Nobody' }],
}

test('a sentence about an unknown id ends with one full stop', async () => {
  const takesId = (name: string) => /(^|_)ids?$/.test(name) && !/(account|external)_id$/.test(name)
  const taking = tools.filter(({ inputSchema }) =>
    Object.keys(inputSchema().properties ?? {}).some(takesId),
  )
  expect(Object.keys(unknownIds)).toEqual(expect.arrayContaining(taking.map(({ name }) => name)))
  for (const [name, calls] of Object.entries(unknownIds)) {
    for (const args of calls) {
      const { content, ...result } = await client.call(name, args)
      const text = content[0]?.text ?? ''
      expect(text, name).toMatch(result.isError ? / failed: .*[^.]\.\n/ : /\S/)
      expect(text + JSON.stringify(result), name).not.toMatch(/[.?!]\.(?=\s|\\n|"|$)/)
    }
  }
})
