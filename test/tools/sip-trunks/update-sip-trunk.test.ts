import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { connectStdio, errorOf } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'

const [fresh, old] = ['198.51.100.7', '203.0.113.9']
const unknown = /allowed_ips is empty: the API does not say/

describe('update_sip_trunk', () => {
  let person: Person
  let branch: unknown
  const make = async (name: string, allowed_ips: string[] | undefined, more: object = {}) =>
    String((await person.value('create_sip_trunk', { name, allowed_ips, ...more })).id)
  const ipsOf = async (sip_trunk_id: string, more: object = {}) =>
    (await person.value('get_sip_trunk', { sip_trunk_id, ...more })).allowed_ips

  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
    branch = (await person.value('create_subaccount', { name: 'Hamburg branch' })).id
  })
  afterAll(() => person[Symbol.asyncDispose]())

  test('adds and removes single addresses of all trunks, and keeps the others', async () => {
    const one = await make('One', [old, '192.0.2.0/24'])
    const two = await make('Two', [fresh])
    const three = await make('Three', [old], { account_id: branch })
    const args = {
      ...{ sip_trunk_ids: ['*'], include_subaccounts: true },
      ...{ add: { allowed_ips: [fresh] }, remove: { allowed_ips: [old] } },
    }
    const dry = await person.call('update_sip_trunk', { ...args, dry_run: true })
    expect(await person.flaws('update_sip_trunk', dry)).toBeUndefined()
    expect(dry.content[0]?.text).toContain(`allowed_ips: +${fresh} −${old}`)
    expect(await ipsOf(one)).toEqual([old, '192.0.2.0/24'])
    const done = await person.call('update_sip_trunk', args)
    expect(await person.flaws('update_sip_trunk', done)).toBeUndefined()
    expect(done.structuredContent?.summary).toEqual(
      Object.fromEntries(
        Object.entries(Object(dry.structuredContent?.summary)).map(([name, count]) => [
          name === 'would_change' ? 'updated' : name,
          count,
        ]),
      ),
    )
    expect(await ipsOf(one)).toEqual(['192.0.2.0/24', fresh])
    expect(await ipsOf(two)).toEqual([fresh])
    expect(await ipsOf(three, { account_id: branch })).toEqual([fresh])
    const again = await person.value('update_sip_trunk', args)
    expect(Object.keys(Object(again.summary))).toEqual(['unchanged'])
    // One undo reverts all trunks.
    await person.value('update_sip_trunk', { undo: done.structuredContent?.undo })
    expect(await ipsOf(one)).toEqual([old, '192.0.2.0/24'])
    expect(await ipsOf(three, { account_id: branch })).toEqual([old])
  })

  test('accepts names and ids, also of subaccounts, and names the missing ones', async () => {
    await make('Branch trunk', [old], { account_id: branch })
    const four = await make('Four', [old])
    const args = { sip_trunk_ids: [four, 'Branch trunk', 'Nobody'], include_subaccounts: true }
    const result = await person.value('update_sip_trunk', { ...args, name: 'Renamed' })
    expect(result).toMatchObject({
      summary: { failed: 1, updated: 2 },
      trunks: [
        { outcome: 'updated', changes: [{ field: 'name', before: 'Four', after: 'Renamed' }] },
        { outcome: 'updated', account: { name: 'Hamburg branch' } },
        { outcome: 'failed', problem: expect.stringContaining('Nobody') },
      ],
    })
  })

  test('treats different spellings of an address as equal', async () => {
    const sip_trunk_id = await make('Spelt', ['2001:db8::1', '192.0.2.1/32', '192.0.2.2'])
    await person.value('update_sip_trunk', {
      sip_trunk_id,
      add: { allowed_ips: ['192.0.2.2/32'] },
      remove: { allowed_ips: ['2001:0DB8:0:0:0:0:0:1', '192.0.2.1'] },
    })
    expect(await ipsOf(sip_trunk_id)).toEqual(['192.0.2.2'])
  })

  test('warns of an address that a block still allows, and of a missing one', async () => {
    const sip_trunk_id = await make('Blocks', ['203.0.113.0/24', old, '2001:db8::/32'])
    const remove = { allowed_ips: [old, '2001:db8::7', '192.0.2.77'] }
    const { warnings, applied } = await person.value('update_sip_trunk', { sip_trunk_id, remove })
    expect(applied).toBe(true)
    expect(warnings).toEqual([
      expect.stringMatching(/^remove\.allowed_ips: .*2001:db8::7/),
      expect.stringMatching(/^remove\.allowed_ips: .*192\.0\.2\.77/),
      `${old} is still allowed, by 203.0.113.0/24`,
      '2001:db8::7 is still allowed, by 2001:db8::/32',
    ])
  })

  test('does not remove the last address, which may open the trunk to everybody', async () => {
    const sip_trunk_id = await make('Last', [old])
    const args = { sip_trunk_id, remove: { allowed_ips: [old] } }
    expect(errorOf(await person.call('update_sip_trunk', args)).fields).toEqual([
      { argument: 'remove.allowed_ips', message: expect.stringContaining('every address') },
    ])
    expect(await ipsOf(sip_trunk_id)).toEqual([old])
  })

  test('warns if the first address may close a trunk that was open to all', async () => {
    const sip_trunk_id = await make('Open', undefined)
    const args = { sip_trunk_id, add: { allowed_ips: [fresh] } }
    const { warnings } = await person.value('update_sip_trunk', args)
    expect(warnings).toEqual([expect.stringMatching(/was empty.*now only 198\.51\.100\.7/)])
  })

  test('a shown empty list always comes with its possible meanings', async () => {
    const created = await person.text('create_sip_trunk', { name: 'Empty' })
    expect(created).toMatch(unknown)
    const [line = ''] = created.split('\n')
    const sip_trunk_id = /\(([\da-f-]{36})\)/.exec(line)?.[1]
    expect(await person.text('get_sip_trunk', { sip_trunk_id })).toMatch(unknown)
    expect(await person.text('list_sip_trunks', { fields: ['allowed_ips'] })).toMatch(unknown)
    expect(await person.text('list_sip_trunks', { fields: ['*'] })).toMatch(unknown)
    expect(await person.text('list_sip_trunks')).not.toMatch(unknown)
    const filled = { sip_trunk_id, allowed_ips: [fresh] }
    expect(await person.text('update_sip_trunk', filled)).not.toMatch(unknown)
    expect(await person.text('get_sip_trunk', { sip_trunk_id })).not.toMatch(unknown)
    const clear = { sip_trunk_id, clear: ['allowed_ips'] }
    expect(await person.text('update_sip_trunk', { ...clear, dry_run: true })).toMatch(unknown)
    expect(await person.text('update_sip_trunk', clear)).toMatch(unknown)
    expect(await person.value('update_sip_trunk', clear)).toMatchObject({
      applied: false,
      warnings: [expect.stringMatching(unknown)],
    })
    const many = { sip_trunk_ids: [sip_trunk_id], ...{ allowed_ips: [fresh] } }
    await person.value('update_sip_trunk', many)
    const emptied = { sip_trunk_ids: [sip_trunk_id], allowed_ips: [] }
    expect(await person.text('update_sip_trunk', emptied)).toMatch(unknown)
  })

  test.each<[string, object, string]>([
    ['neither', { name: 'X' }, 'sip_trunk_id'],
    ['both', { sip_trunk_id: 'a', sip_trunk_ids: ['b'], name: 'X' }, 'sip_trunk_id'],
    [
      'the whole list too',
      { sip_trunk_id: 'a', add: { allowed_ips: [fresh] }, allowed_ips: [old] },
      'add.allowed_ips',
    ],
    [
      'one address in two spellings',
      { sip_trunk_id: 'a', add: { allowed_ips: [old] }, remove: { allowed_ips: [`${old}/32`] } },
      'remove.allowed_ips',
    ],
    [
      'no address',
      { sip_trunk_id: 'a', add: { allowed_ips: ['host.example'] } },
      'add.allowed_ips.0',
    ],
  ])('is refused for %s', async (_, args, argument) => {
    const { fields } = errorOf(await person.call('update_sip_trunk', args))
    expect(fields?.[0]).toMatchObject({ argument })
  })

  test('changes single addresses only if trunks may be read', async () => {
    const env = { VOICE_AGENT_TOOLS: 'update_sip_trunk' }
    await using narrow = await connectStdio('v2 2026-07-28', { env })
    const args = {
      sip_trunk_id: '00000000-0000-4000-8003-000000000001',
      add: { allowed_ips: [fresh] },
    }
    expect(errorOf(await narrow.call('update_sip_trunk', args)).fields).toEqual([
      { argument: 'add.allowed_ips', message: expect.stringContaining('get_sip_trunk') },
    ])
  })
})

test('a list in an undocumented form is not reported as empty, not edited, and not undone', async () => {
  const shown = { id: 't', name: 'T', allowed_ips: [{ cidr: old }], phone_numbers: [] }
  await using platform = await startFakePlatform(
    ({ method, body }, response) =>
      json(response, 200, method === 'PATCH' ? { ...shown, ...JSON.parse(body) } : shown),
    { account: 'own' },
  )
  await using client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
  const sip_trunk_id = 't'
  expect(await client.value('get_sip_trunk', { sip_trunk_id })).not.toHaveProperty('note')
  const added = await client.call('update_sip_trunk', {
    sip_trunk_id,
    add: { allowed_ips: [fresh] },
  })
  expect(errorOf(added).fields).toMatchObject([{ argument: 'add.allowed_ips' }])
  expect(platform.seen.some(({ method }) => method === 'PATCH')).toBe(false)
  const renamed = await client.call('update_sip_trunk', { sip_trunk_id, name: 'Renamed' })
  expect(renamed.structuredContent).toHaveProperty('undo')
  expect(renamed.content[0]?.text).not.toMatch(unknown)
  const whole = await client.value('update_sip_trunk', { sip_trunk_id, allowed_ips: [fresh] })
  // The undo would empty the list.
  expect(whole).toMatchObject({ no_undo: expect.any(String) })
  expect(whole).not.toHaveProperty('undo')
})
