import { describe, expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { sandboxKeys, seedIds, startSandbox } from '../harness/sandbox.ts'

const { account, subaccount, otherAccount, supportAgent, trunk, mainNumber } = seedIds

describe('access', () => {
  test('needs a valid key', async () => {
    using sandbox = startSandbox()
    const missing = await sandbox.send('GET', 'accounts/current', undefined, { key: null })
    expect([missing.status, missing.body.code]).toEqual([401, 'unauthorized'])
    expect((await sandbox.get('accounts/current', 'nobody')).status).toBe(401)
  })

  test('reaches the own account and its subaccounts, and no other account', async () => {
    using sandbox = startSandbox()
    const status = async (id: string, key: string) =>
      (await sandbox.get(`accounts/${id}/agents`, key)).status
    expect(await status('me', sandboxKeys.main)).toBe(200)
    expect(await status(account, sandboxKeys.main)).toBe(200)
    expect(await status(subaccount, sandboxKeys.main)).toBe(200)
    expect(await status(otherAccount, sandboxKeys.main)).toBe(403)
    expect(await status(account, sandboxKeys.subaccount)).toBe(403)
    expect(await status('no-such-account', sandboxKeys.main)).toBe(404)
  })

  test("does not find another account's objects under the own account", async () => {
    using sandbox = startSandbox()
    for (const path of [
      `agents/${supportAgent}`,
      `sip-trunks/${trunk}`,
      `phone-numbers/${mainNumber}`,
    ]) {
      expect((await sandbox.get(`accounts/me/${path}`, sandboxKeys.other)).status).toBe(404)
    }
  })

  test('a disabled subaccount reads but takes no changes, until it is enabled', async () => {
    using sandbox = startSandbox()
    const set = (is_active: boolean) =>
      sandbox.send('PATCH', `accounts/me/subaccounts/${subaccount}`, { is_active })
    const create = () => sandbox.send('POST', `accounts/${subaccount}/agents`, newAgent)
    expect((await set(false)).body.is_active).toBe(false)
    expect((await create()).status).toBe(403)
    expect((await sandbox.get(`accounts/${subaccount}/agents`)).status).toBe(200)
    await set(true)
    expect((await create()).status).toBe(201)
  })
})

describe('subaccounts', () => {
  test('are not changed by nulls', async () => {
    using sandbox = startSandbox()
    const path = `accounts/me/subaccounts/${subaccount}`
    const { body: before } = await sandbox.send('PATCH', path, { name: 'Branch', is_active: false })
    sandbox.wait(60)
    const { status, body } = await sandbox.send('PATCH', path, { name: null, is_active: null })
    expect([status, body]).toEqual([200, before])
    expect((await sandbox.get(path)).body).toEqual(before)
  })

  test('are filtered by is_active', async () => {
    using sandbox = startSandbox()
    await sandbox.send('PATCH', `accounts/me/subaccounts/${subaccount}`, { is_active: false })
    const ids = async (query: string) => {
      const { body } = await sandbox.get(`accounts/me/subaccounts?${query}`)
      return body.items.map(({ id }: { id: string }) => id)
    }
    expect(await ids('is_active=false')).toEqual([subaccount])
    expect(await ids('is_active=true')).toEqual([seedIds.secondSubaccount])
    expect(await ids('')).toHaveLength(2)
  })
})
