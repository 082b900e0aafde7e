import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { connectPerson } from '../../harness/person.ts'
import { newAgent } from '../../harness/story.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

describe('a reference that does not exist', () => {
  test.each([
    ['get_agent', { agent_id: 'Suport line' }, /Did you mean Support line \(/],
    ['archive_agent', { agent_id: 'no such thing at all' }, /There are|Some that exist/],
    ['get_sip_trunk', { sip_trunk_id: 'office trunk' }, /Did you mean Office trunk \(/],
    [
      'get_phone_number',
      { phone_number_id: '+12025550118' },
      /Did you mean .*\+12025550110|\(0000/,
    ],
    ['get_subaccount', { subaccount_id: 'Berlin' }, /There are|Did you mean/],
    [
      'update_phone_number',
      { phone_number_id: '00000000-0000-4000-8004-000000000001', inbound_agent_id: 'Suport line' },
      /inbound_agent_id: .*Did you mean Support line/,
    ],
  ])('%s %j is refused with the closest one', async (name, args, expected) => {
    const result = await client.call(name, args)
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(expected)
  })
})

describe('an agent of another account', () => {
  test('is found where it is, by one tool and by one for many', async () => {
    const branch = await client.value('create_subaccount', { name: 'Hamburg branch' })
    const account_id = String(branch.id)
    const { id } = await client.value('create_agent', { ...newAgent, name: 'Branch', account_id })
    const expected = `It is in the account Hamburg branch (${account_id})`
    const textOf = async (name: string, args: Record<string, unknown>) =>
      (await client.call(name, args)).content[0]?.text
    expect(await textOf('get_agent', { agent_id: id })).toContain(
      `There is no agent ${id}. ${expected}: give that account_id.`,
    )
    expect(await textOf('update_agent', { agent_ids: [id], add_tags: ['x'] })).toContain(expected)
    const number = {
      phone_number_id: '00000000-0000-4000-8004-000000000001',
      inbound_agent_id: id,
    }
    // Its account cannot be given here: it would be that of the number.
    expect(await textOf('update_phone_number', number)).toContain(`${expected}.`)
    const call = { agent_id: id, from_number: '+12025550110', to_number: '+12025550100' }
    expect(await textOf('check_call_readiness', call)).toContain(
      `WRONG agent: ${id} is in the account Hamburg branch (${account_id}) → give that account_id`,
    )
    const own = await client.value('create_agent', { ...newAgent, name: 'Own' })
    expect(await textOf('get_agent', { agent_id: own.id, account_id })).toMatch(
      /It is in the account [\da-f-]{36}: give that account_id\./,
    )
  })
})

describe('a name where the list is not exposed', () => {
  test.each([
    ['get_agent', { agent_id: 'Support line' }],
    ['update_agent', { agent_ids: ['Support line'], add_tags: ['x'] }],
  ])('is not said to be missing by %s', async (name, args) => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_EXCLUDE_TOOLS: 'list_agents' },
    })
    const { content } = await person.call(name, args)
    expect(content[0]?.text).toContain(
      'There is no agent with the id Support line. A name needs list_agents, which is not exposed here: give the id.',
    )
  })
})
