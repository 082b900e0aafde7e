import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  confirmationOf,
  connectPerson,
  factsOf,
  type Person,
  tokenOf,
  yes,
} from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: Person
beforeAll(async () => {
  // Slow calls, so that one is still running when the number is checked.
  client = await connectPerson('v2 2026-07-28', { env: { VOICE_AGENT_SANDBOX_SPEED: '1' } })
})
afterAll(() => client[Symbol.asyncDispose]())

const mainLine = { phone_number_id: 'Main line' }

describe('before a number is deleted', () => {
  test('the question names all uses, and the number can be given by name', async () => {
    const call = {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: '+12025550110',
      to_number: '+12025550100',
    }
    const confirm_token = tokenOf(await client.call('place_call', call))
    await client.value('place_call', { ...call, confirm_token })
    const preview = await client.call('delete_phone_number', mainLine)
    expect(factsOf(preview)).toEqual({
      Number: `"+12025550110" (${seedIds.mainNumber})`,
      Name: '"Main line"',
      Trunk: `"Office trunk" (${seedIds.trunk})`,
      'Answered by': `"Support line" (${seedIds.supportAgent})`,
      'Calls running now': '1',
      Purchased: expect.stringMatching(/^probably not,/),
      Account: `"Sandbox account" (${seedIds.account})`,
      Undo: expect.stringMatching(/^None: /),
    })
  })

  test('the confirmation is void once the name means another number', async () => {
    const confirm_token = tokenOf(await client.call('delete_phone_number', mainLine))
    const swap = (id: string, name: string) =>
      client.value('update_phone_number', { phone_number_id: id, name })
    await swap(seedIds.mainNumber, 'Old line')
    await swap(seedIds.spareNumber, 'Main line')
    const result = await client.call('delete_phone_number', { ...mainLine, confirm_token })
    expect(confirmationOf(result)?.state).toBe('needed')
    expect(factsOf(result)?.Number).toContain('+12025550111')
    await swap(seedIds.spareNumber, 'Spare line')
    await swap(seedIds.mainNumber, 'Main line')
  })

  test('the confirmation is void once another agent answers it', async () => {
    const confirm_token = tokenOf(await client.call('delete_phone_number', mainLine))
    await client.value('update_phone_number', { ...mainLine, clear: ['inbound_agent_id'] })
    const result = await client.call('delete_phone_number', { ...mainLine, confirm_token })
    expect(confirmationOf(result)?.state).toBe('needed')
    expect(factsOf(result)?.['Answered by']).toBe('nobody')
  })
})

test('the result names the deleted number', async () => {
  const spare = { phone_number_id: '+12025550111' }
  const confirm_token = tokenOf(await client.call('delete_phone_number', spare))
  const result = await client.call('delete_phone_number', { ...spare, confirm_token })
  expect(result.content[0]?.text).toContain('+12025550111 ("Spare line")')
  expect(result.structuredContent).toMatchObject({
    done: true,
    phone_number_id: seedIds.spareNumber,
  })
  expect(await client.flaws('delete_phone_number', result)).toBeUndefined()
})

test('the question says whether the number is purchased, and unreadable calls are not shown as none', async () => {
  await using platform = await startFakePlatform(
    ({ url }, res) =>
      url.includes('/calls')
        ? json(res, 403, {})
        : json(res, 200, {
            id: 'n',
            number: '+12025550199',
            sip_trunk: { id: 't', is_managed: true },
          }),
    { account: 'own' },
  )
  await using person = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    answer: { action: 'decline' },
  })
  await person.call('delete_phone_number', { phone_number_id: seedIds.mainNumber })
  expect(person.asked[0]).toMatch(/^Purchased: probably,/m)
  expect(person.asked[0]).toMatch(/^Calls running now: not known \(/m)
})

test('if nobody is asked, a name is not enough, and the refusal has the id', async () => {
  await using never = await connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_CONFIRM: 'never' },
    answer: yes,
  })
  for (const phone_number_id of ['Hotline', '+12025550112']) {
    const result = await never.call('delete_phone_number', { phone_number_id })
    expect(errorOf(result).kind).toBe('bad_arguments')
    expect(result.content[0]?.text).toContain(seedIds.inboundNumber)
  }
  const byId = { phone_number_id: seedIds.inboundNumber }
  expect(await never.value('delete_phone_number', byId)).toMatchObject({ done: true })
})
