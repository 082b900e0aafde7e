import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

let made = 0
const makeAgent = async (more: object = {}) =>
  client.value('create_agent', { ...newAgent, name: `Agent ${made++}`, ...more })

describe("an agent's exact name", () => {
  test('is accepted wherever its id is', async () => {
    const { id, name } = await makeAgent()
    expect(await client.value('get_agent', { agent_id: name })).toMatchObject({ id })
    expect(await client.value('update_agent', { agent_id: name, note: 'x' })).toMatchObject({
      agent_id: id,
    })
    const { items } = await client.value('list_phone_numbers')
    const [number] = items as { id: string; inbound_agent: unknown }[]
    const phone_number_id = number?.id
    await client.value('update_phone_number', { phone_number_id, inbound_agent_id: name })
    expect(await client.value('get_phone_number', { phone_number_id })).toMatchObject({
      inbound_agent: { id },
    })
    expect(await client.value('list_calls', { agent_id: name })).toMatchObject({ total: 0 })
    await client.value('archive_agent', { agent_id: name })
    expect(await client.value('get_agent', { agent_id: id })).toMatchObject({ is_archived: true })
  })

  test('is refused if two agents have it', async () => {
    const name = 'Twin'
    const ids = [await makeAgent({ name }), await makeAgent({ name })].map(({ id }) => String(id))
    const result = await client.call('get_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const id of ids) expect(result.content[0]?.text).toContain(id)
  })

  test('is refused if the second agent with it comes after hundreds of others', async () => {
    const name = 'Bot'
    const older = await makeAgent({ name })
    for (let at = 0; at < 101; at++) await makeAgent({ name: `Bot ${at}` })
    const newer = await makeAgent({ name })
    const result = await client.call('archive_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const { id } of [older, newer]) expect(result.content[0]?.text).toContain(id)
  })

  test('is refused if not all agents could be read, or the platform repeats a page', async () => {
    const agent = (id: number) => ({ id: `agent-${id}`, name: 'Bot' })
    let page = 0
    await using platform = await startFakePlatform(
      (_, res) => json(res, 200, { count: 1e6, items: [{ ...agent(page), name: `x${page++}` }] }),
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    const endless = await wired.call('get_agent', { agent_id: 'Bot' })
    const isUncertain = { kind: 'bad_arguments', fields: [{ argument: 'agent_id' }] }
    expect(errorOf(endless)).toMatchObject(isUncertain)
    platform.behave(({ url }, res) =>
      json(res, 200, url.includes('/agents/') ? agent(1) : { items: [agent(1)] }),
    )
    expect(await wired.value('get_agent', { agent_id: 'Bot' })).toMatchObject({ id: 'agent-1' })
    // A full page for every offset, whatever its `count`: further pages might have another agent of
    // this name.
    const full = Array.from({ length: 100 }, (_, id) => agent(id))
    const items = full.map((one, id) => (id === 0 ? one : { ...one, name: `Robot ${id}` }))
    for (const count of [100, 150, undefined]) {
      platform.behave((_, res) => json(res, 200, { items, ...(count && { count }) }))
      const repeated = await wired.call('get_agent', { agent_id: 'Bot' })
      expect(errorOf(repeated)).toMatchObject(isUncertain)
    }
  })
})

const branch = { name: 'Sandbox branch', id: seedIds.subaccount }

describe('the exact name of', () => {
  test('a subaccount is accepted as account_id and subaccount_id', async () => {
    const agent = await makeAgent({ account_id: branch.name })
    expect(agent).toMatchObject({ account_id: branch.id })
    // Other names are looked up in this account.
    const read = { agent_id: agent.name, account_id: branch.name }
    expect(await client.value('get_agent', read)).toMatchObject({ id: agent.id })
    expect(await client.value('get_subaccount', { subaccount_id: branch.name })).toMatchObject(
      branch,
    )
    const disabled = { subaccount_id: branch.name, is_active: false }
    expect(await client.value('update_subaccount', disabled)).toMatchObject({ is_active: false })
    const enabled = { subaccount_id: branch.name, is_active: true }
    expect(await client.value('update_subaccount', enabled)).toMatchObject({ is_active: true })
  })

  test("the key's own account is accepted as account_id", async () => {
    const asked = { account_id: 'Sandbox account', limit: 1 }
    expect(await client.value('list_agents', asked)).toMatchObject({ account_id: seedIds.account })
  })

  test('a trunk is accepted as sip_trunk_id, in a path and in a body', async () => {
    const { id } = await client.value('create_sip_trunk', { name: 'Carrier' })
    expect(await client.value('get_sip_trunk', { sip_trunk_id: 'Carrier' })).toMatchObject({ id })
    const added = { number: '+12025550180', sip_trunk_id: 'Carrier', name: 'Added' }
    expect(await client.value('create_phone_number', added)).toMatchObject({ sip_trunk: { id } })
  })

  test('a number is accepted as phone_number_id, and so is the number itself', async () => {
    for (const phone_number_id of ['+12025550110', '+1 (202) 555-0110', 'Main line'])
      expect(await client.value('get_phone_number', { phone_number_id })).toMatchObject({
        id: seedIds.mainNumber,
      })
  })

  test('a number is accepted as from_number: name and number are the same call', async () => {
    await using client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    const agent_id = seedIds.supportAgent
    const numbers = { from_number: '+12025550110', to_number: '+12025550101' }
    const byName = { agent_id, ...numbers, from_number: 'Main line' }
    expect(await client.value('check_call_readiness', byName)).toMatchObject({ ready: true })
    const call = { type: 'phone', ...byName }
    const preview = await client.value('place_call', call)
    const { confirm_token } = preview.confirmation as { confirm_token: string }
    expect(JSON.stringify(preview)).toContain('+12025550110')
    const { total } = await client.value('list_calls', { limit: 1 })
    // The token covers the number, whether given by name, id or in E.164.
    const first = await client.value('place_call', { ...call, ...numbers, confirm_token })
    expect(first).toMatchObject(numbers)
    expect(first.repeated).toBe(false)
    const calls = [{ to_number: numbers.to_number }]
    expect(await client.value('place_call', call)).toMatchObject({ id: first.id, repeated: true })
    expect(
      await client.value('place_calls', { agent_id, from_number: 'Main line', calls }),
    ).toMatchObject({ calls: [{ outcome: 'repeated', call_id: first.id }] })
    const after = { total: Number(total) + 1 }
    expect(await client.value('list_calls', { limit: 1 })).toMatchObject(after)
  })

  test.each(['place_call', 'place_calls', 'check_call_readiness'])(
    '%s refuses two numbers of one name, and names both',
    async (tool) => {
      const sip_trunk_id = seedIds.trunk
      const twins = ['+12025550191', '+12025550192']
      const { items } = await client.value('list_phone_numbers', { limit: 100 })
      const have = JSON.stringify(items)
      for (const number of twins.filter((one) => !have.includes(one)))
        await client.value('create_phone_number', { number, sip_trunk_id, friendly_name: 'Twins' })
      const to_number = '+12025550101'
      const call = { agent_id: seedIds.supportAgent, from_number: 'Twins' }
      const more = tool === 'place_calls' ? { calls: [{ to_number }] } : { to_number }
      const type = tool === 'place_call' ? { type: 'phone' } : {}
      const result = await client.call(tool, { ...call, ...more, ...type })
      expect(result.isError).toBe(true)
      for (const number of twins) expect(result.content[0]?.text).toContain(number)
    },
  )

  test('a number is never accepted as to_number, and an unknown name not as from_number', async () => {
    const call = { type: 'phone', agent_id: seedIds.supportAgent }
    const named = { ...call, from_number: '+12025550110', to_number: 'Main line' }
    const to = await client.call('place_call', named)
    expect(errorOf(to)).toMatchObject({
      kind: 'bad_arguments',
      fields: [{ argument: 'to_number', message: expect.stringContaining('E.164') }],
    })
    const unknown = { ...call, from_number: 'Main lin', to_number: '+12025550101' }
    const from = await client.call('place_call', unknown)
    expect(errorOf(from)).toMatchObject({ fields: [{ argument: 'from_number' }] })
  })

  test('who answers a number: one call', async () => {
    await makeAgent({ name: 'Front desk' })
    const set = { phone_number_id: '+12025550111', inbound_agent_id: 'Front desk' }
    await client.value('update_phone_number', set)
    expect(
      await client.value('get_phone_number', { phone_number_id: seedIds.spareNumber }),
    ).toMatchObject({ inbound_agent: { name: 'Front desk' } })
  })
})

describe('an ambiguous name is refused with the ids', () => {
  const refusal = async (name: string, args: Record<string, unknown>) => {
    const result = await client.call(name, args)
    expect(result.isError).toBe(true)
    return result.content[0]?.text ?? ''
  }

  test('of two trunks, two numbers or two subaccounts', async () => {
    const create = () => client.value('create_sip_trunk', { name: 'Twin' })
    const trunks = [await create(), await create()]
    const text = await refusal('delete_sip_trunk', { sip_trunk_id: 'Twin' })
    for (const { id } of trunks) expect(text).toContain(id)

    const named = { name: 'Same line', sip_trunk_id: seedIds.trunk }
    const one = await client.value('create_phone_number', { ...named, number: '+12025550181' })
    const two = await client.value('create_phone_number', { ...named, number: '+12025550182' })
    const ofNumbers = await refusal('get_phone_number', { phone_number_id: 'Same line' })
    expect(ofNumbers).toContain(`${one.id} (+12025550181)`)
    expect(ofNumbers).toContain(`${two.id} (+12025550182)`)

    const active = await client.value('create_subaccount', { name: 'Branch' })
    const disabled = await client.value('create_subaccount', { name: 'Branch' })
    await client.value('update_subaccount', { subaccount_id: disabled.id, is_active: false })
    const ofAccounts = await refusal('list_agents', { account_id: 'Branch' })
    expect(ofAccounts).toContain(String(active.id))
    expect(ofAccounts).toContain(String(disabled.id))
    expect(ofAccounts.match(/disabled/g)).toHaveLength(1)
  })

  test("of a subaccount and the key's own account", async () => {
    const { id } = await client.value('create_subaccount', { name: 'Sandbox account' })
    const text = await refusal('list_agents', { account_id: 'Sandbox account' })
    expect(text).toContain(seedIds.account)
    expect(text).toContain(String(id))
    await client.value('update_subaccount', { subaccount_id: id, name: 'Renamed' })
  })

  test('an unknown name is refused with the closest one', async () => {
    expect(await refusal('list_agents', { account_id: 'Sandbox brunch' })).toContain(
      `Sandbox branch (${branch.id})`,
    )
    const phone_number_id = '+12025559999'
    expect(await refusal('get_phone_number', { phone_number_id })).toContain(phone_number_id)
  })
})

describe('a name that looks like something else', () => {
  test('an id: the object with that id is meant', async () => {
    const { id } = await client.value('create_sip_trunk', { name: seedIds.inboundTrunk })
    const read = await client.value('get_sip_trunk', { sip_trunk_id: seedIds.inboundTrunk })
    expect(read.id).toBe(seedIds.inboundTrunk)
    expect(read.id).not.toBe(id)
  })

  test('another number: the number itself is meant', async () => {
    const named = { name: '+12025550112', number: '+12025550183', sip_trunk_id: seedIds.trunk }
    await client.value('create_phone_number', named)
    const read = await client.value('get_phone_number', { phone_number_id: '+12025550112' })
    expect(read.id).toBe(seedIds.inboundNumber)
  })

  test('me: the own account is meant', async () => {
    await client.value('create_subaccount', { name: 'me' })
    expect(await client.value('list_agents', { account_id: 'me' })).toMatchObject({
      account_id: seedIds.account,
    })
  })
})

describe('what is read for a name', () => {
  const uuid = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`
  const wiredTo = (url: string, env: Record<string, string> = {}) =>
    connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: url, ...env },
    })

  test('is nothing for an id, and one list for a name', async () => {
    await using platform = await startFakePlatform(
      ({ url }, res) =>
        json(
          res,
          200,
          url.includes('?') ? { count: 1, items: [{ id: 'odd', name: 'Carrier' }] } : { id: 'odd' },
        ),
      { account: 'own' },
    )
    await using wired = await wiredTo(platform.url)
    const paths = async (args: Record<string, unknown>) => {
      platform.seen.length = 0
      await wired.value('get_sip_trunk', args)
      return platform.seen.map(({ url }) => url.replace('/v1/accounts/', ''))
    }
    const id = uuid(1)
    expect(await paths({ sip_trunk_id: id, account_id: uuid(2) })).toEqual([
      `${uuid(2)}/sip-trunks/${id}`,
    ])
    const list = 'own/sip-trunks?limit=100&offset=0'
    expect(await paths({ sip_trunk_id: 'Carrier' })).toEqual([list, 'own/sip-trunks/odd'])
    expect(await paths({ sip_trunk_id: 'odd' })).toEqual([list, 'own/sip-trunks/odd'])
    expect(await paths({ sip_trunk_id: 'else' })).toEqual([list, 'own/sip-trunks/else'])
  })

  test('is not enough if the list is too long to prove that the name is unique', async () => {
    await using platform = await startFakePlatform(
      ({ url }, res, before) =>
        json(
          res,
          200,
          url.includes('?')
            ? { count: 1e6, items: [{ id: `t${before}`, name: before === 3 ? 'Carrier' : 'x' }] }
            : { id: 'known' },
        ),
      { account: 'own' },
    )
    await using wired = await wiredTo(platform.url)
    const byName = await wired.call('get_sip_trunk', { sip_trunk_id: 'Carrier' })
    expect(errorOf(byName)).toMatchObject({
      kind: 'bad_arguments',
      fields: [{ argument: 'sip_trunk_id', message: expect.stringContaining('Carrier') }],
    })
    expect(platform.seen).toHaveLength(20)
    // An id that is not a UUID still works.
    platform.seen.length = 0
    expect(await wired.value('get_sip_trunk', { sip_trunk_id: 'known' })).toMatchObject({
      id: 'known',
    })
  })

  test('is an error if the list fails, and nothing else is sent', async () => {
    await using platform = await startFakePlatform(
      ({ url }, res) => json(res, url.includes('?') ? 500 : 200, envelope('internal_error')),
      { account: 'own' },
    )
    await using wired = await wiredTo(platform.url)
    const result = await wired.call('delete_sip_trunk', { sip_trunk_id: 'Carrier' })
    expect(result.isError).toBe(true)
    expect(platform.seen.every(({ url }) => url.includes('?'))).toBe(true)
  })

  test('is ignored if the list is in an undocumented form: the id is used as given', async () => {
    const agent = { id: 'agent_7', ...newAgent }
    await using platform = await startFakePlatform(
      ({ method, url }, res) => {
        if (method === 'DELETE') json(res, 204, undefined)
        else if (url.includes('/agents/agent_7')) json(res, 200, agent)
        else if (url.includes('/agents?')) json(res, 200, { items: [agent, { name: 'No id' }] })
        else json(res, 404, envelope('not_found'))
      },
      { account: 'own' },
    )
    await using wired = await wiredTo(platform.url, { VOICE_AGENT_CONFIRM: 'never' })
    const agent_id = 'agent_7'
    expect(await wired.value('get_agent', { agent_id })).toMatchObject({ id: agent_id })
    const updated = await wired.value('update_agent', { agent_id, note: 'x' })
    expect(updated).toMatchObject({ agent_id })
    const archived = await wired.call('archive_agent', { agent_id })
    expect(archived.isError, archived.content[0]?.text).toBeFalsy()
    expect(platform.seen.filter(({ method }) => method !== 'GET')).toMatchObject([
      { method: 'PATCH', url: '/v1/accounts/own/agents/agent_7' },
      { method: 'DELETE', url: '/v1/accounts/own/agents/agent_7' },
    ])
  })

  test('is nothing if the list is not exposed', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 200, { id: 'Carrier' }), {
      account: 'own',
    })
    await using wired = await wiredTo(platform.url, { VOICE_AGENT_TOOLS: 'get_sip_trunk' })
    await wired.value('get_sip_trunk', { sip_trunk_id: 'Carrier' })
    expect(platform.seen.map(({ url }) => url)).toEqual(['/v1/accounts/own/sip-trunks/Carrier'])
  })

  test('is nothing of another account if the account is pinned', async () => {
    await using platform = await startFakePlatform(
      (_, res) => json(res, 200, { count: 1, items: [{ id: uuid(9), name: 'Other branch' }] }),
      { account: 'own' },
    )
    await using wired = await wiredTo(platform.url, { VOICE_AGENT_ACCOUNT: uuid(3) })
    for (const account_id of ['Other branch', uuid(9), 'me']) {
      const result = await wired.call('list_agents', { account_id })
      expect(errorOf(result)).toMatchObject({
        kind: 'bad_arguments',
        fields: [{ argument: 'account_id', message: expect.stringContaining(uuid(3)) }],
      })
    }
    expect(platform.seen).toEqual([])
    // The names of its own subaccounts are allowed.
    await wired.call('get_subaccount', { subaccount_id: 'Other branch' })
    expect(platform.seen.map(({ url }) => url.split('?', 1)[0])).toEqual([
      `/v1/accounts/${uuid(3)}/subaccounts`,
      `/v1/accounts/${uuid(3)}/subaccounts/${uuid(9)}`,
    ])
  })
})
