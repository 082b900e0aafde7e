import { describe, expect, test } from 'vitest'
import { decisionMetaKey, viewExtension } from '../../../src/apps/views.ts'
import { connectPerson, yes } from '../../harness/answering-client.ts'
import { auditFolder } from '../../harness/audit-folder.ts'
import { clientKinds, connectHttp, connectStdio } from '../../harness/client.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startHttpProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'

const agent = (n: number) => `00000000-0000-4000-8002-00000000000${n}`
const own = '00000000-0000-4000-8001-000000000001'

describe('a change has one entry in the audit trail', () => {
  test.each(clientKinds)('over HTTP, from a client of %s, on both paths', async (kind) => {
    using folder = auditFolder()
    await using program = await startHttpProgram(folder.env)
    await using client = await connectHttp(kind, program.url, { 'user-agent': 'tester/1' })
    await client.value('list_agents')
    const made = await client.value('create_subaccount', { name: 'Hamburg' })
    await client.value('archive_agent', { agent_id: agent(3) })
    const isModern = kind === 'v2 2026-07-28'
    const who = {
      time: expect.stringMatching(/^20\d\d-.*Z$/),
      platform: 'sandbox',
      key: expect.stringMatching(/^[\w-]{16}$/),
      client: isModern ? { name: 'test', version: '1' } : { user_agent: 'tester/1' },
      transport: 'http',
      account_id: own,
      outcome: 'done',
    }
    expect(await folder.ended(2)).toMatchObject([
      {
        ...who,
        tool: 'create_subaccount',
        confirmation: 'not_needed',
        arguments: { name: 'Hamburg' },
        writes: [{ operation: 'subaccounts.create', made_id: made.id, status: 201 }],
      },
      {
        ...who,
        tool: 'archive_agent',
        confirmation: 'off',
        arguments: { agent_id: agent(3) },
        writes: [{ operation: 'agents.archive', ids: { agent_id: agent(3) }, outcome: 'done' }],
      },
    ])
  })

  test.each(clientKinds)('over stdio, also when the client goes at once: %s', async (kind) => {
    using folder = auditFolder()
    const client = await connectStdio(kind, { env: folder.env })
    await client.value('create_subaccount', { name: 'Hamburg' })
    await client[Symbol.asyncDispose]()
    expect(await folder.ended(1)).toMatchObject([
      { tool: 'create_subaccount', client: { name: 'test', version: '1' }, transport: 'stdio' },
    ])
  })

  test('whatever ends the server: SIGTERM right after the answer loses nothing', async () => {
    using folder = auditFolder()
    await using program = await startHttpProgram({
      ...folder.env,
      VOICE_AGENT_AUDIT_LOG: folder.log,
    })
    const names = Array.from({ length: 20 }, (_, n) => `Branch ${n}`)
    await Promise.all(
      names.map((name) =>
        rpc(program.url, 'tools/call', { name: 'create_subaccount', arguments: { name } }),
      ),
    )
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    const stored = await folder.stored()
    expect(stored.map(({ outcome }) => outcome)).toEqual(names.map(() => 'done'))
    const ended = folder.lines().filter(({ outcome }) => outcome === 'done')
    expect(new Set(ended.map(({ id }) => id)).size).toBe(20)
  })
})

describe('who has confirmed is recorded', () => {
  const call = {
    type: 'phone',
    agent_id: agent(1),
    from_number: '+12025550110',
    to_number: '+14155550123',
  }
  const asking = { VOICE_AGENT_CONFIRM: 'always' }

  test.each(['v2 2026-07-28', 'v2 2025'] as const)('a person of a client of %s', async (kind) => {
    using folder = auditFolder()
    await using person = await connectPerson(kind, {
      env: { ...folder.env, ...asking },
      answer: yes,
    })
    await person.call('archive_agent', { agent_id: agent(3) })
    person.answers({ action: 'decline' })
    await person.call('archive_agent', { agent_id: agent(2) })
    person.answers({ action: 'cancel' })
    await person.call('archive_agent', { agent_id: agent(2) })
    expect(await folder.ended(3)).toMatchObject([
      { outcome: 'done', confirmation: 'person', writes: [{ operation: 'agents.archive' }] },
      {
        outcome: 'refused',
        reason: 'confirmation_declined',
        confirmation: 'not_given',
        writes: [],
      },
      { outcome: 'refused', reason: 'confirmation_dismissed', confirmation: 'not_given' },
    ])
  })

  test('a caller with the token of a preview; the preview itself is no change', async () => {
    using folder = auditFolder()
    await using client = await connectStdio('v1', { env: { ...folder.env, ...asking } })
    const { confirmation } = await client.value('place_call', call)
    const { confirm_token } = confirmation as { confirm_token: string }
    const placed = await client.value('place_call', { ...call, confirm_token })
    // The same call again is recognised and not sent.
    await client.value('place_call', call)
    const [entry, repeated] = await folder.ended(2)
    expect(entry).toMatchObject({
      tool: 'place_call',
      outcome: 'done',
      confirmation: 'token',
      arguments: { ...call, from_number: '…0110', to_number: '…0123' },
      writes: [{ operation: 'calls.place', to_number: '…0123', made_id: placed.id, status: 201 }],
    })
    expect(entry?.arguments).toHaveProperty('confirm_token', { hidden: true })
    expect(repeated).toMatchObject({ outcome: 'unchanged', writes: [] })
  })

  test('a view with its own token', async () => {
    using folder = auditFolder()
    const capabilities = { extensions: { [viewExtension]: {} } }
    await using client = await connectStdio('v1', {
      env: { ...folder.env, ...asking },
      capabilities,
    })
    const { _meta } = await client.call('place_call', call)
    const confirm_token = Object(_meta?.[decisionMetaKey]).confirm_token
    await client.value('place_call', { ...call, confirm_token })
    expect(await folder.ended(1)).toMatchObject([{ outcome: 'done', confirmation: 'view' }])
  })

  test('nobody, where the operator asks for a person and the client has none', async () => {
    using folder = auditFolder()
    const env = { ...folder.env, VOICE_AGENT_CONFIRM: 'person' }
    await using client = await connectStdio('v1', { env })
    await client.call('place_call', call)
    expect(await folder.ended(1)).toMatchObject([
      { outcome: 'refused', reason: 'needs_person', confirmation: 'not_given', writes: [] },
    ])
  })
})

test('an external_id is the same in the arguments and in the writes', async () => {
  using folder = auditFolder()
  await using client = await connectStdio('v2 2026-07-28', { env: folder.env })
  const web = { type: 'web', agent_id: agent(1) }
  await client.value('place_call', { ...web, external_id: 'visit 12025550110' })
  await client.value('place_call', { ...web, external_id: 'visit +1 (202) 555-0110' })
  await client.value('place_calls', {
    agent_id: agent(1),
    from_number: '+12025550110',
    calls: [
      { to_number: '+14155550123', external_id: 'order 1002003004' },
      { to_number: '+14155550124', external_id: 'after 4155550123' },
    ],
  })
  const entries = await folder.ended(3)
  const idsIn = (calls: unknown) =>
    [calls].flat().map((call) => (call as { external_id?: string }).external_id)
  expect(entries.map(({ writes }) => idsIn(writes))).toEqual([
    // Without a number to compare with, digits without a plus may be anything, so they are kept.
    ['visit 12025550110'],
    ['visit …0110'],
    ['order 1002003004', 'after …0123'],
  ])
  const asked = entries.map((entry) => entry.arguments as { calls?: unknown })
  expect(asked.map((given) => idsIn(given.calls ?? given))).toEqual(
    entries.map(({ writes }) => idsIn(writes)),
  )
})

describe('what was refused is recorded', () => {
  test('by the dial policy, with invalid arguments, of a tool that is not exposed', async () => {
    using folder = auditFolder()
    const env = {
      ...folder.env,
      VOICE_AGENT_DIAL_POLICY: '{"allow_countries": ["DE"]}',
      VOICE_AGENT_EXCLUDE_TOOLS: 'delete_phone_number',
    }
    await using client = await connectStdio('v2 2026-07-28', { env })
    const numbers = { from_number: '+12025550110', to_number: '+14155550123' }
    await client.call('place_call', { type: 'phone', agent_id: agent(1), ...numbers })
    await client.call('update_agent', { agent_id: agent(1), colour: 'red +14155550123' })
    await client.call('delete_phone_number', { phone_number_id: agent(1) }).catch(() => undefined)
    await client.call('no_such_tool', {}).catch(() => undefined)
    await client.call('update_agent', { agent_id: agent(1), name: 'New', dry_run: true })
    const entries = await folder.ended(3)
    expect(entries).toMatchObject([
      { tool: 'place_call', outcome: 'refused', reason: 'not_allowed', writes: [] },
      {
        tool: 'update_agent',
        outcome: 'refused',
        reason: 'bad_arguments',
        arguments: { agent_id: agent(1), colour: { characters: 16 } },
      },
      { tool: 'delete_phone_number', outcome: 'refused', reason: 'not_exposed' },
    ])
  })

  test('by the pinned account', async () => {
    using folder = auditFolder()
    await using client = await connectStdio('v1', {
      env: { ...folder.env, VOICE_AGENT_ACCOUNT: own },
    })
    await client.call('update_agent', { agent_id: agent(1), name: 'A', account_id: agent(9) })
    expect(await folder.ended(1)).toMatchObject([
      { outcome: 'refused', account_id: own, arguments: { account_id: agent(9) }, writes: [] },
    ])
  })
})

describe('what failed is recorded', () => {
  const key = 'sk-secret-0123456789abcdef'
  const start = async (
    answers: Record<string, [status: number, body: object] | 'cut'>,
    more: Record<string, string> = {},
  ) => {
    const folder = auditFolder()
    const platform = await startFakePlatform(
      ({ method, url }, res) => {
        const found = Object.entries(answers).find(([part]) => `${method} ${url}`.includes(part))
        if (!found) return json(res, 404, envelope('not_found'))
        if (found[1] === 'cut') return void res.socket?.destroy()
        return json(res, ...found[1], { 'x-request-id': 'req-1' })
      },
      { account: own },
    )
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: key, ...more }
    const client = await connectStdio('v2 2026-07-28', { env: { ...folder.env, ...env } })
    return {
      ...{ folder, client },
      entries: (count: number) => folder.ended(count, 'audit.db'),
      async [Symbol.asyncDispose]() {
        await client[Symbol.asyncDispose]()
        await platform[Symbol.asyncDispose]()
        folder[Symbol.dispose]()
      },
    }
  }

  test('with the status and the id of the request, and whether it may have been done', async () => {
    await using server = await start({
      'POST /v1/accounts/': [422, envelope('invalid', `no ${key}`)],
      [`PATCH /v1/accounts/${own}/agents/${agent(1)}`]: [500, envelope('internal_error')],
      [`PATCH /v1/accounts/${own}/agents/${agent(2)}`]: 'cut',
      'GET ': [503, envelope('unavailable')],
    })
    await server.client.call('create_subaccount', { name: `A ${key}` })
    await server.client.call('update_agent', { agent_id: agent(1), note: 'x' })
    await server.client.call('update_agent', { agent_id: agent(2), note: 'x' })
    const [created, failed, cut] = await server.entries(3)
    expect(created).toMatchObject({
      platform: expect.stringMatching(/^http:/),
      outcome: 'failed',
      reason: 'rejected',
      arguments: { name: 'A [API key]' },
      writes: [{ outcome: 'failed', status: 422, request_id: 'req-1' }],
    })
    // Names may be read before the write; an unreadable one is reported.
    expect(failed).toMatchObject({ reason: 'rejected' })
    expect(cut?.outcome).not.toBe('done')
    expect(JSON.stringify([created, failed, cut])).not.toContain(key)
  })

  test('a change that was cut off is unknown', async () => {
    await using server = await start({ 'POST /v1/accounts/': 'cut' })
    await server.client.call('create_subaccount', { name: 'A' })
    expect(await server.entries(1)).toMatchObject([
      { outcome: 'unknown', reason: 'network', writes: [{ outcome: 'unknown' }] },
    ])
  })

  test('of many changes each has its outcome', async () => {
    using folder = auditFolder()
    await using client = await connectStdio('v2 2025', { env: folder.env })
    const agent_ids = [agent(1), agent(2), '00000000-0000-4000-8002-00000000abcd']
    await client.call('update_agent', { agent_ids, note: 'Winter' })
    const [entry] = await folder.ended(1)
    expect(entry).toMatchObject({
      outcome: 'partly',
      targets: [
        { id: agent(1), outcome: 'updated' },
        { id: agent(2), outcome: 'updated' },
        { id: agent_ids[2], outcome: 'failed' },
      ],
    })
    const writes = entry?.writes.map(({ ids, outcome }) => [ids?.agent_id, outcome])
    expect(writes?.toSorted()).toEqual([
      [agent(1), 'done'],
      [agent(2), 'done'],
    ])
    expect(entry?.arguments).toEqual({ agent_ids, note: { characters: 6 } })
  })

  test('of a list of calls each has its outcome, and some may be refused', async () => {
    using folder = auditFolder()
    const env = { ...folder.env, VOICE_AGENT_DIAL_POLICY: '{"allow_countries": ["US"]}' }
    await using client = await connectStdio('v2 2026-07-28', { env })
    const numbers = ['+12025550120', '+4930123456']
    await client.call('place_calls', {
      agent_id: agent(1),
      from_number: '+12025550110',
      calls: numbers.map((to_number) => ({ to_number, test_variables: { name: 'Anna' } })),
    })
    expect(await folder.ended(1)).toMatchObject([
      {
        tool: 'place_calls',
        outcome: 'partly',
        targets: [
          { to_number: '…0120', outcome: 'placed' },
          { to_number: '…3456', outcome: 'not_allowed' },
        ],
        writes: [{ operation: 'calls.place', to_number: '…0120', outcome: 'done' }],
      },
    ])
  })
})
