import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../../src/contract/routes.ts'
import { restrictedSession } from '../../../src/platform/sessions/restricted-session.ts'
import { connectPerson } from '../../harness/answering-client.ts'
import { connectHttp } from '../../harness/client.ts'
import { type FakePlatform, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { type Program, startHttpProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'
import { seedIds, startSandbox } from '../../harness/sandbox.ts'
import { sessionOf } from '../../harness/session.ts'

/*
 * Hints, agent names, completions, prompts and resources may read only what the exposed tools can
 * read. The tests check the requests to the platform and the results.
 */

const key = 'sk-0123456789'
const unknown = '00000000-0000-4000-8000-00000000dead'
/** Names and ids of accounts that results must not contain. */
let others: string[] = []

let sandbox: ReturnType<typeof startSandbox>
let platform: FakePlatform
beforeAll(async () => {
  sandbox = startSandbox()
  platform = await startFakePlatform(async ({ method, url, body }, response) => {
    const sent = body ? JSON.parse(body) : undefined
    const { status, body: reply } = await sandbox.send(method, url.slice('/v1/'.length), sent)
    json(response, status, reply)
  })
  const own = await sandbox.get('accounts/current')
  const below = await sandbox.get(`accounts/${seedIds.account}/subaccounts`)
  const all: { id: string; name: string }[] = [own.body, ...below.body.items]
  const hidden = all.filter(({ id }) => id !== seedIds.subaccount)
  // The pinned account's own record contains its parent's id.
  others = hidden.flatMap(({ id, name }) => (id === seedIds.account ? [name] : [id, name]))
  expect(others).toHaveLength(3)
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  sandbox[Symbol.dispose]()
})

const start = (env: Record<string, string>) =>
  startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url, ...env })

/** Calls everything that may give a hint. Returns all results as one text. */
async function everyHint(url: string, headers: Record<string, string> = {}) {
  await using client = await connectHttp('v2 2026-07-28', url, { 'x-api-key': key, ...headers })
  const results: unknown[] = []
  const tools = await client.listTools()
  const call = async (name: string, args: Record<string, unknown>) => {
    if (tools.some((tool) => tool.name === name)) results.push(await client.call(name, args))
  }
  await call('get_current_account', {})
  await call('get_call', { call_id: unknown })
  await call('get_agent', { agent_id: 'Suport line' })
  await call('get_subaccount', { subaccount_id: unknown })
  await call('update_phone_number', { phone_number_id: unknown, inbound_agent_id: 'Suport line' })
  await call('get_sip_trunk', { sip_trunk_id: unknown })
  await call('list_calls', { agent_id: 'Suport line' })
  await call('check_call_readiness', {
    agent_id: 'Suport line',
    from_number: '+12025550110',
    to_number: '+12025550103',
  })
  await call('list_voices', { provider: 'elevenlabs', language: 'klingon' })
  const ask = async (method: string, params: Record<string, unknown>) => {
    const answer = await rpc(url, method, params, { key, headers })
    results.push(answer)
    return answer.result
  }
  const { resources = [] } = await ask('resources/list', {})
  await ask('resources/templates/list', {})
  for (const { uri } of resources as { uri: string }[]) await ask('resources/read', { uri })
  for (const uri of ['voice-agents://account', `voice-agents://agents/${seedIds.supportAgent}`])
    await ask('resources/read', { uri })
  await ask('prompts/list', {})
  const prompts: [string, Record<string, string>][] = [
    ['design_agent', { brief: 'An agent' }],
    ['review_agent', { agent_id: 'Suport line' }],
    ['review_agent', { agent_id: seedIds.supportAgent }],
    ['go_live_checklist', { agent_id: 'Support line', from_number: '+12025550110' }],
    ['investigate_call', { call_id: unknown }],
    ['review_calls', {}],
    ['weekly_usage_report', {}],
    ['migrate_numbers', { from_trunk_id: unknown, to_trunk_id: seedIds.trunk }],
  ]
  for (const [name, args] of prompts) await ask('prompts/get', { name, arguments: args })
  const ref = { type: 'ref/prompt', name: 'design_agent' }
  for (const name of ['account_id', 'agent_id', 'call_id', 'from_number', 'language', 'provider'])
    await ask('completion/complete', { ref, argument: { name, value: '' } })
  return JSON.stringify(results)
}

const takesTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** A task id, which is unsigned: any client can forge one. */
const taskIdOf = (account: string, call: string) =>
  Buffer.from(JSON.stringify({ account, call, created: Date.now() })).toString('base64url')

/** Requests to the platform during `act`, as `METHOD /path` without the query. */
async function askedBy(act: () => Promise<unknown>): Promise<string[]> {
  const before = platform.seen.length
  await act()
  return platform.seen
    .slice(before)
    .map(({ method, url }) => `${method} ${url.split('?', 1)[0]?.replace('/v1', '')}`)
}

describe('with a pinned account', () => {
  let program: Program & { url: string }
  beforeAll(async () => {
    program = await start({ VOICE_AGENT_ACCOUNT: seedIds.subaccount })
  })
  afterAll(() => program[Symbol.asyncDispose]())

  test('no result names another account', async () => {
    const results = await everyHint(program.url)
    expect(results).toContain(seedIds.subaccount)
    for (const other of others) expect(results.includes(other), other).toBe(false)
  })

  test('nothing is read from other accounts, except the record of the pinned account', async () => {
    const asked = await askedBy(async () => {
      await everyHint(program.url)
      const taskId = taskIdOf(seedIds.account, unknown)
      await rpc(program.url, 'tasks/get', { taskId }, { key, capabilities: takesTasks })
    })
    const elsewhere = asked.filter((one) => !one.includes(`/accounts/${seedIds.subaccount}`))
    const allowed = [
      'GET /accounts/current',
      `GET /accounts/${seedIds.account}/subaccounts/${seedIds.subaccount}`,
    ]
    expect([...new Set(elsewhere)].filter((one) => !allowed.includes(one))).toEqual([])
    expect(asked.length - elsewhere.length).toBeGreaterThan(10)
  })

  test('the resource of the account is the pinned one', async () => {
    const { result } = await rpc(
      program.url,
      'resources/read',
      { uri: 'voice-agents://account' },
      { key },
    )
    const [contents] = result.contents as { text: string }[]
    expect(JSON.parse(contents?.text ?? '')).toMatchObject({ id: seedIds.subaccount })
  })
})

test('a read of another account than the pinned one is refused before it is sent', async () => {
  const asked: unknown[] = []
  const session = sessionOf(
    {
      call: async (_, { params }) => {
        asked.push(params.account_id)
        return { count: 0, items: [] } as never
      },
    },
    { pinnedAccount: 'below' },
  )
  const tools = [{ name: 'list_agents', route: routes.agents.list }]
  const { client, cache } = restrictedSession(session, tools)
  const of = (account_id: string) => ({ params: { account_id }, query: {} })
  for (const account of ['other', 'me', '']) {
    const refused = { failure: { kind: 'not_exposed' } }
    const { list } = routes.agents
    await expect(client.call(list, of(account))).rejects.toMatchObject(refused)
    await expect(cache.read(list, of(account), 'names')).rejects.toMatchObject(refused)
    await expect(cache.refresh(list, of(account), 'names')).rejects.toMatchObject(refused)
  }
  await client.call(routes.agents.list, of('below'))
  expect(asked).toEqual(['below'])
})

test('a pinned account that the platform does not know is reported, with the setting', async () => {
  await using program = await start({ VOICE_AGENT_ACCOUNT: unknown })
  await using client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': key })
  const { content } = await client.call('get_call', { call_id: unknown })
  expect(content[0]?.text).toContain('--account')
  let output = ''
  const asked = await askedBy(async () => {
    output = await everyHint(program.url)
  })
  for (const other of others) expect(output.includes(other), other).toBe(false)
  const allowed = [
    'GET /accounts/current',
    `GET /accounts/${seedIds.account}/subaccounts/${unknown}`,
  ]
  const elsewhere = asked.filter((one) => !one.includes(`/accounts/${unknown}`))
  expect([...new Set(elsewhere)].filter((one) => !allowed.includes(one))).toEqual([])
})

describe('with hidden tools', () => {
  const readsOf = (asked: readonly string[]) =>
    [...new Set(asked)].map((one) => one.replace(/[\da-f-]{36}/g, 'ID')).toSorted()

  test('nothing is read that no exposed tool reads, by a setting', async () => {
    await using program = await start({ VOICE_AGENT_TOOLS: 'get_call,update_phone_number' })
    const asked = await askedBy(() => everyHint(program.url))
    // The read of get_call and the write of update_phone_number, with the account's id for `me`.
    expect(readsOf(asked)).toEqual([
      'GET /accounts/ID/calls/ID',
      'GET /accounts/current',
      'PATCH /accounts/ID/phone-numbers/ID',
    ])
  })

  test('nothing is read that no exposed tool reads, by headers of a request', async () => {
    await using program = await start({})
    const headers = { 'x-mcp-tools': 'get_usage' }
    const asked = await askedBy(() => everyHint(program.url, headers))
    expect(readsOf(asked)).toEqual(['GET /accounts/ID/analytics/usage', 'GET /accounts/current'])
    const { result } = await rpc(program.url, 'prompts/list', {}, { key, headers })
    expect((result.prompts as { name: string }[]).map(({ name }) => name)).toEqual([
      'design_agent',
      'weekly_usage_report',
    ])
    expect((await rpc(program.url, 'resources/list', {}, { key, headers })).result).toMatchObject({
      resources: [{ uri: 'skill://report-usage/SKILL.md' }],
    })
  })

  test('a forged task id of a call finds no task', async () => {
    await using program = await start({ VOICE_AGENT_TOOLS: 'list_agents' })
    const { body } = await sandbox.get(`accounts/${seedIds.account}/calls?limit=1`)
    const taskId = taskIdOf('me', body.items[0].id)
    const options = { key, capabilities: takesTasks }
    const { error } = await rpc(program.url, 'tasks/get', { taskId }, options)
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(taskId.slice(0, 20)),
    })
  })

  test('a confirmation question names no phone number that no exposed tool lists', async () => {
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: key }
    const args = {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: '+12025550999',
      to_number: '+12025550100',
    }
    await using all = await connectPerson('v2 2026-07-28', { env })
    expect(await all.text('place_call', args)).toContain('+12025550110')
    await using one = await connectPerson('v2 2026-07-28', {
      env: { ...env, VOICE_AGENT_TOOLS: 'place_call' },
    })
    expect(await one.text('place_call', args)).not.toContain('+12025550110')
  })
})
