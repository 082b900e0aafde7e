import { describe, expect, test } from 'vitest'
import { seedIds, startSandbox } from '../harness/sandbox.ts'

const { supportAgent, trunk, mainNumber, spareNumber } = seedIds
const from_number = '+12025550110'

describe('numbers and trunks', () => {
  test('a trunk with numbers cannot be deleted, and the error names the numbers', async () => {
    using sandbox = startSandbox()
    const remove = () => sandbox.send('DELETE', `accounts/me/sip-trunks/${trunk}`)
    const refused = await remove()
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    expect(refused.body.detail).toContain('+12025550110')
    await sandbox.send('PATCH', `accounts/me/phone-numbers/${mainNumber}`, { sip_trunk_id: null })
    await sandbox.send('DELETE', `accounts/me/phone-numbers/${spareNumber}`)
    expect((await remove()).status).toBe(204)
    expect((await sandbox.get(`accounts/me/sip-trunks/${trunk}`)).status).toBe(404)
  })

  test.each([
    'sip.example.com',
    'sip:sip.example.com:5060',
    'sips:192.0.2.1',
    '[2001:db8::1]:5061',
    'pbx;transport=tls',
  ])('a trunk can lead to %s', async (termination_uri) => {
    using sandbox = startSandbox()
    const { status } = await sandbox.send('POST', 'accounts/me/sip-trunks', { termination_uri })
    expect(status).toBe(201)
  })

  test.each([
    '',
    'http://sip.example.com',
    'user@sip.example.com',
    'sip.example.com:99999',
    '300.1.1.1',
    'a b',
    '[::g]',
    '-x.com',
    `${'a.'.repeat(40_000)}!`,
  ])('a trunk cannot lead to %s', async (termination_uri) => {
    using sandbox = startSandbox()
    const sent = { termination_uri }
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${trunk}`],
    ] as const) {
      const { status, body } = await sandbox.send(method, `accounts/me/sip-trunks${path}`, sent)
      expect([status, body.errors[0].field]).toEqual([422, 'body.termination_uri'])
    }
  })

  test('treat null as absent, or clear the field with it', async () => {
    using sandbox = startSandbox()
    const create = (path: string, body: object) => sandbox.send('POST', `accounts/me/${path}`, body)
    const update = async (path: string, body: object) =>
      (await sandbox.send('PATCH', `accounts/me/${path}`, body)).body
    const made = await create('sip-trunks', { name: null, allowed_ips: null })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: '', allowed_ips: [] })
    expect(await update(`sip-trunks/${trunk}`, { name: null, allowed_ips: null })).toMatchObject({
      name: '',
      allowed_ips: [],
      termination_uri: 'sip.sandbox.example:5060',
    })
    const number = await create('phone-numbers', {
      sip_trunk_id: trunk,
      number: null,
      name: null,
      inbound_agent_id: null,
    })
    expect(number.status).toBe(201)
    expect(number.body).toMatchObject({ friendly_name: null, inbound_agent: null })
    const before = (await sandbox.get(`accounts/me/phone-numbers/${mainNumber}`)).body
    expect(await update(`phone-numbers/${mainNumber}`, { number: null, name: null })).toEqual(
      before,
    )
  })

  test('get a number that the account does not have if none is given', async () => {
    using sandbox = startSandbox()
    const given = async () =>
      (await sandbox.send('POST', 'accounts/me/phone-numbers', { sip_trunk_id: trunk })).body
    const [first, second] = [await given(), await given()]
    expect(first.number).toMatch(/^\+1\d{3}55501\d\d$/)
    expect(second.number).toMatch(/^\+1\d{3}55501\d\d$/)
    expect(second.number).not.toBe(first.number)
  })

  test('a number is unique in its account, and its references must exist', async () => {
    using sandbox = startSandbox()
    const create = (more: object) =>
      sandbox.send('POST', 'accounts/me/phone-numbers', {
        number: '+12025550190',
        sip_trunk_id: trunk,
        ...more,
      })
    expect((await create({ number: from_number })).status).toBe(409)
    for (const field of ['sip_trunk_id', 'inbound_agent_id']) {
      const { status, body } = await create({ [field]: 'none' })
      expect([status, body.code, body.errors]).toEqual([404, 'not_found', null])
      expect(body.detail).toMatch(new RegExp(`^body\\.${field}: no .*\\bnone\\b`))
      const changed = await sandbox.send('PATCH', `accounts/me/phone-numbers/${mainNumber}`, {
        [field]: 'none',
      })
      expect([changed.status, changed.body.detail]).toEqual([404, body.detail])
    }
    const { body } = await create({ name: 'Desk', inbound_agent_id: supportAgent })
    expect(body).toMatchObject({
      friendly_name: 'Desk',
      sip_trunk: { id: trunk, name: 'Office trunk', is_managed: false },
      inbound_agent: { id: supportAgent, name: 'Support line' },
    })
    const taken = await sandbox.send('PATCH', `accounts/me/phone-numbers/${body.id}`, {
      number: from_number,
    })
    expect(taken.status).toBe(409)
  })
})
