import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { connectStdio, errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'

describe('numbers that match', () => {
  let person: Person
  let agent: unknown
  let trunk: unknown

  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
    const branch = (await person.value('create_subaccount', { name: 'Hamburg branch' })).id
    agent = (await person.value('create_agent', { ...newAgent, name: 'Help line' })).id
    trunk = (await person.value('create_sip_trunk', { name: 'Old carrier' })).id
    const below = (await person.value('create_sip_trunk', { name: 'T', account_id: branch })).id
    for (const [digits, more] of [
      ['1001', { sip_trunk_id: trunk, inbound_agent_id: agent }],
      ['1002', { sip_trunk_id: trunk }],
      ['1003', { sip_trunk_id: below, account_id: branch }],
    ] as const)
      await person.value('create_phone_number', {
        number: `+1202555${digits}`,
        name: digits,
        ...more,
      })
  })
  afterAll(() => person[Symbol.asyncDispose]())

  const numbersOf = (items: unknown) =>
    (items as { number?: string; name?: string }[]).map(({ number, name }) =>
      String(number ?? name).slice(0, 12),
    )

  test.each([
    ['on a trunk', { sip_trunk_id: 'Old carrier' }, ['+12025551001', '+12025551002']],
    ['on a trunk, unanswered', { sip_trunk_id: 'Old carrier', unanswered: true }, ['+12025551002']],
    [
      'unanswered, of subaccounts too',
      { unanswered: true, include_subaccounts: true },
      ['+12025551002', '+12025551003'],
    ],
  ])('are shown and changed: %s', async (_, filters, numbers) => {
    const { include_subaccounts, ...where } = { include_subaccounts: false, ...filters }
    const change = { inbound_agent_id: 'Help line', dry_run: true }
    const args = { where, include_subaccounts, ...change }
    const result = await person.call('update_phone_number', args)
    expect(await person.flaws('update_phone_number', result)).toBeUndefined()
    const changed = numbersOf(result.structuredContent?.numbers)
    expect(changed).toEqual(expect.arrayContaining(numbers))
    const list = await person.call('list_phone_numbers', filters)
    expect(await person.flaws('list_phone_numbers', list)).toBeUndefined()
    expect(numbersOf(list.structuredContent?.items)).toEqual(changed)
  })

  test('are each changed in their own account, which the result names', async () => {
    const args = {
      ...{ phone_number_ids: ['1002', '+1 202 555 1003', '1003', 'Nobody'], name: 'Renamed' },
      include_subaccounts: true,
    }
    const result = await person.call('update_phone_number', args)
    expect(await person.flaws('update_phone_number', result)).toBeUndefined()
    expect(result.structuredContent).toMatchObject({
      summary: { updated: 2, failed: 1 },
      numbers: [
        { outcome: 'updated' },
        { outcome: 'updated', account: { name: 'Hamburg branch' } },
        { outcome: 'failed', problem: expect.stringContaining('Nobody') },
      ],
    })
  })

  test('are all numbers of an account with *', async () => {
    const all = { phone_number_ids: ['*'], account_id: 'Hamburg branch', name: 'X', dry_run: true }
    expect((await person.value('update_phone_number', all)).summary).toEqual({ would_change: 1 })
  })

  test.each<[string, object, string]>([
    ['no filter', { where: {} }, 'where'],
    ['false alone', { where: { unanswered: false } }, 'where'],
    [
      'an id with subaccounts',
      { phone_number_id: '1001', include_subaccounts: true },
      'include_subaccounts',
    ],
    ['a trunk that has none', { where: { sip_trunk_id: 'Old carrir' } }, 'where'],
    ['one number for many', { where: { unanswered: true }, number: '+12025550999' }, 'number'],
  ])('are refused for %s', async (_, args, argument) => {
    const result = await person.call('update_phone_number', { name: 'X', ...args })
    expect(errorOf(result).fields).toMatchObject([{ argument }])
  })

  test('have a note with the closest trunk', async () => {
    const { note } = await person.value('list_phone_numbers', { sip_trunk_id: 'Old carrir' })
    expect(note).toContain('Old carrier')
  })
})

test('an agent in an undocumented form does not count as none', async () => {
  await using platform = await startFakePlatform(
    (_, res) => json(res, 200, { count: 1, items: [{ id: 'n', inbound_agent: 'a' }] }),
    { account: 'own' },
  )
  const env = { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url }
  await using client = await connectStdio('v2 2026-07-28', { env })
  const { fields } = errorOf(await client.call('list_phone_numbers', { unanswered: true }))
  expect(fields).toMatchObject([{ argument: 'unanswered' }])
})
