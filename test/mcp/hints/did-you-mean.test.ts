import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'

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
