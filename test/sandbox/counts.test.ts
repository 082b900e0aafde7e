import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder } from '../harness/program.ts'
import { sandboxKeys, seedIds, startSandbox } from '../harness/sandbox.ts'

test('a list counts new rows of every process, in the account and its subaccounts', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'sandbox.db')
  using one = startSandbox({ file })
  using other = startSandbox({ file })
  const lists = ['calls', 'conversations']
  const counts = async ({ get }: typeof one, key?: string) =>
    Promise.all(
      lists.map(async (list) => {
        const { body } = await get(`accounts/me/${list}?limit=1`, key)
        // The filter matches every row, but makes the sandbox count them.
        const counted = await get(
          `accounts/me/${list}?limit=1&created_after=2000-01-01T00:00:00Z`,
          key,
        )
        expect(body.count).toBe(counted.body.count)
        return body.count
      }),
    )
  const place = async ({ send }: typeof one, to_number: string) => {
    const call = { type: 'phone', agent_id: seedIds.supportAgent, from_number: '+12025550110' }
    const { status } = await send('POST', 'accounts/me/calls', { ...call, to_number })
    expect(status).toBe(201)
  }
  const [calls, conversations] = await counts(one)
  expect(await counts(other)).toEqual([calls, conversations])
  await place(one, '+12025550131')
  await place(other, '+12025550132')
  const grown = [calls + 2, conversations + 2]
  expect(await counts(one)).toEqual(grown)
  expect(await counts(other)).toEqual(grown)
  const [ofOther] = await counts(one, sandboxKeys.other)
  expect(ofOther).not.toBe(calls + 2)
  expect(await counts(other)).toEqual(grown)
})
