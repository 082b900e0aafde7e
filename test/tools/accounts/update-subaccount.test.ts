import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectPerson, factsOf, type Person, tokenOf } from '../../harness/answering-client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: Person
beforeAll(async () => {
  client = await connectPerson('v2 2026-07-28', {})
})
afterAll(() => client[Symbol.asyncDispose]())

const branch = { subaccount_id: 'Sandbox branch' }

test('before a subaccount is disabled, its contents are counted', async () => {
  const account_id = 'Sandbox branch'
  for (const name of ['One', 'Two'])
    await client.value('create_agent', { ...newAgent, name, account_id })
  const { id: sip_trunk_id } = await client.value('create_sip_trunk', { name: 'T', account_id })
  await client.value('create_phone_number', { sip_trunk_id, number: '+12025550190', account_id })
  const inner = await client.value('create_subaccount', { name: 'Inner', account_id })
  await client.value('create_subaccount', { name: 'Inner 2', account_id })
  const preview = await client.call('update_subaccount', {
    subaccount_id: inner.id,
    is_active: false,
    account_id,
  })
  const confirm_token = tokenOf(preview)
  const disabled = { subaccount_id: inner.id, is_active: false, account_id, confirm_token }
  const done = await client.call('update_subaccount', disabled)
  expect(done.structuredContent).toMatchObject({ id: inner.id, is_active: false })
  expect(done.content[0]?.text).toMatch(/"Inner" \(.*\), disabled\./)
  expect(factsOf(await client.call('update_subaccount', { ...branch, is_active: false }))).toEqual({
    Subaccount: `"Sandbox branch" (${seedIds.subaccount})`,
    Agents: '2',
    Numbers: '1',
    'Calls running now': 'none',
    'Active subaccounts': '1',
    Parent: `"Sandbox account" (${seedIds.account})`,
    Undo: expect.stringContaining('update_subaccount'),
  })
})

test('disabling a disabled subaccount asks nobody', async () => {
  const { id } = await client.value('create_subaccount', { name: 'Closed' })
  const disable = { subaccount_id: id, is_active: false }
  const confirm_token = tokenOf(await client.call('update_subaccount', disable))
  expect(confirm_token).toBeDefined()
  await client.value('update_subaccount', { ...disable, confirm_token })
  expect(await client.value('update_subaccount', disable)).toMatchObject({ is_active: false })
})

test('a pinned account counts nothing outside itself, and says so', async () => {
  await using pinned = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_ACCOUNT: seedIds.account },
  })
  const preview = await pinned.call('update_subaccount', { ...branch, is_active: false })
  expect(factsOf(preview)).toMatchObject({ Numbers: expect.stringMatching(/^not known \(/) })
  expect(tokenOf(preview)).toBeDefined()
})
