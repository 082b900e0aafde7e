import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectPerson, type Person, tokenOf, yes } from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let person: Person
beforeAll(async () => {
  person = await connectPerson('v2 2026-07-28', { answer: yes })
})
afterAll(() => person[Symbol.asyncDispose]())

test('a trunk with numbers is refused before anybody is asked, and the refusal says how to move them', async () => {
  const result = await person.call('delete_sip_trunk', { sip_trunk_id: 'Office trunk' })
  expect(errorOf(result)).toMatchObject({
    kind: 'conflict',
    next: expect.stringMatching(/update_phone_number.*phone_number_ids.*sip_trunk_id/),
  })
  expect(result.content[0]?.text).toContain(
    '+12025550110 ("Main line"), +12025550111 ("Spare line")',
  )
  expect(person.asked).toEqual([])
  expect(await person.value('get_sip_trunk', { sip_trunk_id: seedIds.trunk })).toMatchObject({
    name: 'Office trunk',
  })
})

test('a trunk without numbers is deleted after one question, and the result names it', async () => {
  await person.value('create_sip_trunk', { name: 'Old\nUndo: easy', termination_uri: 'a.example' })
  const result = await person.call('delete_sip_trunk', { sip_trunk_id: 'Old\nUndo: easy' })
  expect(person.asked).toHaveLength(1)
  expect(person.asked[0]).toMatch(/^Numbers: none$/m)
  expect(person.asked[0]?.match(/^Undo:/gm)).toHaveLength(1)
  expect(result.content[0]?.text).toContain('"Old\\nUndo: easy" (')
  expect(await person.flaws('delete_sip_trunk', result)).toBeUndefined()
})

test('the question names the lost password, and does not show unknown numbers as none', async () => {
  await using platform = await startFakePlatform(
    (_, res) => json(res, 200, { id: 't', name: 'Carrier', has_auth_password: true }),
    { account: 'own' },
  )
  await using client = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
  const preview = await client.call('delete_sip_trunk', { sip_trunk_id: seedIds.trunk })
  expect(tokenOf(preview)).toBeDefined()
  expect(preview.content[0]?.text).toMatch(/^Numbers: not known$/m)
  expect(preview.content[0]?.text).toMatch(/^Password: set\b/m)
  expect(platform.seen.every(({ method }) => method === 'GET')).toBe(true)
})

test('if nobody is asked, a name is not enough', async () => {
  await using never = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_CONFIRM: 'never' },
  })
  const { id } = await never.value('create_sip_trunk', { name: 'Carrier' })
  const result = await never.call('delete_sip_trunk', { sip_trunk_id: 'Carrier' })
  expect(result.isError).toBe(true)
  expect(result.content[0]?.text).toContain(String(id))
  expect(await never.value('delete_sip_trunk', { sip_trunk_id: id })).toMatchObject({ done: true })
})
