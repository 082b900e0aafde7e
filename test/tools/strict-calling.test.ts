import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../harness/client.ts'
import { everyTool, newAgent } from '../harness/every-tool.ts'
import { declaredNotGiven, withNull } from '../harness/null-arguments.ts'

/*
 * With strict function calling every property is required, so a model sends null for arguments that
 * it leaves out. The tests do the same with every tool.
 */

let client: TestClient
let schemas: Map<string, unknown>
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
  schemas = new Map((await client.listTools()).map((tool) => [String(tool.name), tool.inputSchema]))
})
afterAll(() => client[Symbol.asyncDispose]())

/** Where nulls are added: only in objects that are given, or at every leaf. */
type Filling = 'objects' | 'leaves'

function filled(name: string, args: Record<string, unknown>, filling: Filling) {
  const places = declaredNotGiven(args, schemas.get(name))
  const isWithin = (inner: readonly unknown[], outer: readonly unknown[]) =>
    inner.length > outer.length && outer.every((part, at) => part === inner[at])
  const chosen = places.filter((path) =>
    places.every((other) =>
      filling === 'objects' ? !isWithin(path, other) : !isWithin(other, path),
    ),
  )
  return Object(chosen.reduce<unknown>(withNull, args))
}

const strict = (filling: Filling): TestClient => ({
  ...client,
  call: (name, args = {}) => client.call(name, filled(name, args, filling)),
})

describe.each<Filling>(['objects', 'leaves'])(
  'with null for all %s that are not given',
  (filling) => {
    test('every tool behaves as without them', async () => {
      const results = await everyTool(strict(filling))
      expect([...results.keys()].sort()).toEqual([...schemas.keys()].sort())
      for (const [name, result] of results)
        expect(result.isError, `${name}: ${result.content[0]?.text}`).toBeFalsy()
    })

    test('an update clears nothing, and says what it ignored', async () => {
      const value = async (name: string, args: Record<string, unknown>) => {
        const result = await strict(filling).call(name, args)
        expect(result.isError, result.content[0]?.text).toBeFalsy()
        return { ...result.structuredContent }
      }
      const settings = {
        note: 'kept',
        tags: ['kept'],
        metadata: { kept: null },
        ambient_sound: { source: 'ac_fan', volume: 0.1 },
        inactivity_settings: { reminder_timeout_ms: 6000 },
      }
      const made = await value('create_agent', { ...newAgent, ...settings })
      expect(made).toMatchObject(settings)
      const agent_id = made.id
      const { changes, ignored_nulls } = await value('update_agent', { agent_id, name: 'New' })
      expect(changes).toEqual([{ field: 'name', before: made.name, after: 'New' }])
      expect(ignored_nulls).toContain('note')
      const { modified: _, name: __, ignored_nulls: ___, ...rest } = made
      expect(await value('get_agent', { agent_id })).toMatchObject(rest)

      const trunk = {
        name: 'Trunk',
        termination_uri: 'sip.example.com',
        allowed_ips: ['192.0.2.1'],
      }
      const { id: sip_trunk_id } = await value('create_sip_trunk', trunk)
      expect(await value('update_sip_trunk', { sip_trunk_id, name: 'Other' })).toMatchObject({
        ...trunk,
        name: 'Other',
        ignored_nulls: ['termination_uri', 'allowed_ips'],
      })

      const number = filling === 'leaves' ? '+12025550171' : '+12025550172'
      const links = { sip_trunk_id, inbound_agent_id: agent_id }
      const { id: phone_number_id } = await value('create_phone_number', { number, ...links })
      const linked = { sip_trunk: { id: sip_trunk_id }, inbound_agent: { id: agent_id } }
      expect(await value('update_phone_number', { phone_number_id, name: 'Desk' })).toMatchObject({
        number,
        ...linked,
      })

      const { id: subaccount_id } = await value('create_subaccount', { name: 'Branch' })
      expect(await value('update_subaccount', { subaccount_id, is_active: true })).toMatchObject({
        name: 'Branch',
        is_active: true,
      })
    })

    test.each([
      ['update_agent', { agent_id: 'x' }],
      ['update_phone_number', { phone_number_id: 'x' }],
      ['update_sip_trunk', { sip_trunk_id: 'x' }],
    ])('%s with nothing else is refused, and names clear', async (name, args) => {
      const result = await strict(filling).call(name, args)
      expect(result.isError).toBe(true)
      expect(result.content[0]?.text).toContain('{"clear":[')
    })
  },
)
