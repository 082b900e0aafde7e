import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson } from '../../harness/answering-client.ts'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

describe('a reference that does not exist', () => {
  test.each([
    ['get_agent', { agent_id: 'Suport line' }, 'agent_id', /^(?!.*Sales).*Support line \(/],
    ['archive_agent', { agent_id: 'no such thing at all' }, 'agent_id', /Support line \(/],
    ['get_sip_trunk', { sip_trunk_id: 'office trunk' }, 'sip_trunk_id', /Office trunk \(/],
    [
      'get_phone_number',
      { phone_number_id: '+12025550118' },
      'phone_number_id',
      /\+12025550110|\(0000/,
    ],
    ['get_subaccount', { subaccount_id: 'Berlin' }, 'subaccount_id', /Sandbox branch \(/],
    [
      'update_phone_number',
      { phone_number_id: '00000000-0000-4000-8004-000000000001', inbound_agent_id: 'Suport line' },
      'inbound_agent_id',
      /Support line/,
    ],
  ])('%s %j is refused with the closest one', async (name, args, argument, meant) => {
    const { fields } = errorOf(await client.call(name, args))
    expect(fields).toMatchObject([{ argument, message: expect.stringMatching(meant) }])
  })
})

describe('an agent of another account', () => {
  test('is found in its account, for one item and for many', async () => {
    const branch = await client.value('create_subaccount', { name: 'Hamburg branch' })
    const account_id = String(branch.id)
    const { id } = await client.value('create_agent', { ...newAgent, name: 'Branch', account_id })
    const owner = `Hamburg branch (${account_id})`
    const textOf = async (name: string, args: Record<string, unknown>) =>
      (await client.call(name, args)).content[0]?.text
    const wrongAgent = await textOf('get_agent', { agent_id: id })
    expect(wrongAgent).toContain(owner)
    expect(wrongAgent).toMatch(/\baccount_id\b/)
    expect(await textOf('update_agent', { agent_ids: [id], add_tags: ['x'] })).toContain(owner)
    const number = {
      phone_number_id: '00000000-0000-4000-8004-000000000001',
      inbound_agent_id: id,
    }
    // The advice leaves out the agent's account, because `account_id` would mean the number's
    // account.
    const wrongNumber = await textOf('update_phone_number', number)
    expect(wrongNumber).toContain(owner)
    expect(wrongNumber).not.toMatch(/\baccount_id\b/)
    const call = { agent_id: id, from_number: '+12025550110', to_number: '+12025550100' }
    const { checks } = await client.value('check_call_readiness', call)
    const found = (checks as { check: string; fix?: string }[]).find(
      ({ check }) => check === 'agent',
    )
    expect(found?.fix).toContain(owner)
    expect(found?.fix).toMatch(/\baccount_id\b/)
    const own = await client.value('create_agent', { ...newAgent, name: 'Own' })
    expect(await textOf('get_agent', { agent_id: own.id, account_id })).toContain(seedIds.account)
  })
})

describe('a name whose list is not exposed', () => {
  test.each([
    ['get_agent', { agent_id: 'Support line' }],
    ['update_agent', { agent_ids: ['Support line'], add_tags: ['x'] }],
  ])('is not reported as missing by %s', async (name, args) => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_EXCLUDE_TOOLS: 'list_agents' },
    })
    const { content } = await person.call(name, args)
    expect(content[0]?.text).toMatch(/\bid Support line\b.*list_agents/)
  })
})
