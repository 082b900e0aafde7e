import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectPerson, yes } from '../harness/answering-client.ts'
import { connectStdio, errorOf, type TestClient } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { scratchFolder, startProgram } from '../harness/program.ts'
import { startSandboxPlatform } from '../harness/sandbox-platform.ts'

let sandbox: Awaited<ReturnType<typeof startSandboxPlatform>>
let client: TestClient
beforeAll(async () => {
  sandbox = await startSandboxPlatform()
  client = await connectStdio('v2 2026-07-28', { env: sandbox.env() })
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
})

const idOf = ({ id }: Record<string, unknown>) => String(id)
let made = 0
const makeTrunk = async (more: object = {}) =>
  idOf(await client.value('create_sip_trunk', { name: `Trunk ${made++}`, ...more }))
const makeNumber = async (sip_trunk_id: string, more: object = {}) => {
  const number = `+4930231259${String(made++).padStart(2, '0')}`
  return idOf(await client.value('create_phone_number', { number, sip_trunk_id, ...more }))
}

describe('a change of a SIP trunk', () => {
  test('is taken back, and so is the undo', async () => {
    await using person = await connectPerson('v2 2026-07-28', { env: sandbox.env() })
    const sip_trunk_id = await makeTrunk({ termination_uri: 'one.example.com' })
    const before = await client.value('get_sip_trunk', { sip_trunk_id })
    const result = await person.call('update_sip_trunk', {
      sip_trunk_id,
      allowed_ips: ['192.0.2.1'],
      clear: ['termination_uri'],
    })
    expect(await person.flaws('update_sip_trunk', result)).toBeUndefined()
    const after = await client.value('get_sip_trunk', { sip_trunk_id })
    const back = await person.call('update_sip_trunk', { undo: result.structuredContent?.undo })
    expect(await person.flaws('update_sip_trunk', back)).toBeUndefined()
    expect(await client.value('get_sip_trunk', { sip_trunk_id })).toEqual(before)
    await person.call('update_sip_trunk', { undo: back.structuredContent?.undo })
    expect(await client.value('get_sip_trunk', { sip_trunk_id })).toEqual(after)
  })

  test('leaves what changed since, and says so', async () => {
    const sip_trunk_id = await makeTrunk({ allowed_ips: ['192.0.2.1'] })
    const changed = { name: 'Changed', allowed_ips: ['192.0.2.2'] }
    const { undo } = await client.value('update_sip_trunk', { sip_trunk_id, ...changed })
    await client.value('update_sip_trunk', { sip_trunk_id, name: 'Since' })
    const back = await client.value('update_sip_trunk', { undo })
    expect(back).toMatchObject({ name: 'Since', allowed_ips: ['192.0.2.1'] })
    expect(back.warnings).toEqual([expect.stringContaining('name')])
    const again = await client.value('update_sip_trunk', { undo })
    expect(again).not.toHaveProperty('undo')
  })

  test('needs a trunk or an undo', async () => {
    const result = await client.call('update_sip_trunk', { name: 'x' })
    expect(errorOf(result).fields).toMatchObject([{ argument: 'sip_trunk_id' }])
  })

  test('is not taken back by another tool', async () => {
    const sip_trunk_id = await makeTrunk()
    const { undo } = await client.value('update_sip_trunk', { sip_trunk_id, name: 'x' })
    const [field] = errorOf(await client.call('update_agent', { undo })).fields
    expect(field).toMatchObject({
      argument: 'undo',
      message: expect.stringContaining('update_sip_trunk'),
    })
  })

  test('is made without an undo if no exposed tool reads trunks', async () => {
    const sip_trunk_id = await makeTrunk()
    const env = { ...sandbox.env(), VOICE_AGENT_TOOLS: 'update_sip_trunk' }
    await using narrow = await connectStdio('v2 2026-07-28', { env })
    const saved = await narrow.value('update_sip_trunk', { sip_trunk_id, name: 'Narrow' })
    expect(saved).toMatchObject({ name: 'Narrow', no_undo: expect.any(String) })
  })
})

describe('a change of a subaccount', () => {
  test('is taken back; an undo that disables it needs confirmation', async () => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { ...sandbox.env(), VOICE_AGENT_CONFIRM: 'auto' },
      answer: yes,
    })
    const subaccount_id = idOf(await client.value('create_subaccount', { name: 'Branch' }))
    const named = await person.value('update_subaccount', { subaccount_id, name: 'Office' })
    expect(await person.value('update_subaccount', { undo: named.undo })).toMatchObject({
      name: 'Branch',
    })
    await person.value('update_subaccount', { subaccount_id, is_active: false })
    const enabled = await person.value('update_subaccount', { subaccount_id, is_active: true })
    const asked = person.asked.length
    const back = await person.value('update_subaccount', { undo: enabled.undo })
    expect(back).toMatchObject({ is_active: false, name: 'Branch', undo: expect.any(String) })
    expect(person.asked.slice(asked)).toEqual([expect.stringContaining('Branch')])
  })

  test('says why it has no undo if undo is switched off', async () => {
    const env = { ...sandbox.env(), VOICE_AGENT_UNDO_DAYS: '0' }
    await using server = await connectStdio('v2 2026-07-28', { env })
    const { id: subaccount_id } = await client.value('create_subaccount', { name: 'Plain' })
    const saved = await server.value('update_subaccount', { subaccount_id, name: 'Renamed' })
    expect(saved.no_undo).toContain('--undo-days')
  })

  test('is taken back as it was confirmed, or asked again', async () => {
    const env = { ...sandbox.env(), VOICE_AGENT_CONFIRM: 'auto' }
    await using asking = await connectStdio('v2 2026-07-28', { env })
    const { id: subaccount_id } = await client.value('create_subaccount', { name: 'First' })
    const update = (args: object) => asking.value('update_subaccount', { ...args })
    const confirmed = async (args: object) => {
      const { confirmation } = await update(args)
      const { confirm_token } = Object(confirmation)
      return { ...args, confirm_token }
    }
    await update(await confirmed({ subaccount_id, is_active: false }))
    const { undo } = await update({ subaccount_id, is_active: true, name: 'Second' })
    await update({ subaccount_id, name: 'Third' })
    const token = await confirmed({ undo })
    // Now the undo would also change the name, so the old confirmation does not cover it.
    await update({ subaccount_id, name: 'Second' })
    expect(await update(token)).toMatchObject({ confirmation: { state: 'needed' } })
    expect(await client.value('get_subaccount', { subaccount_id })).toMatchObject({
      is_active: true,
      name: 'Second',
    })
  })
})

describe('a change of phone numbers', () => {
  test('of one number is taken back, and so is the undo', async () => {
    await using person = await connectPerson('v2 2026-07-28', { env: sandbox.env() })
    const agent = await client.value('create_agent', { ...newAgent, name: 'Answers' })
    const [one, other] = [await makeTrunk(), await makeTrunk()]
    const phone_number_id = await makeNumber(one, { name: 'Hotline' })
    const before = await client.value('get_phone_number', { phone_number_id })
    const result = await person.call('update_phone_number', {
      ...{ phone_number_id, name: 'Renamed', sip_trunk_id: other, inbound_agent_id: agent.id },
    })
    expect(await person.flaws('update_phone_number', result)).toBeUndefined()
    const after = await client.value('get_phone_number', { phone_number_id })
    const { undo } = Object(result.structuredContent)
    expect(await person.value('update_phone_number', { undo, dry_run: true })).toMatchObject({
      applied: false,
      changes: [{ field: 'friendly_name' }, { field: 'sip_trunk' }, { field: 'inbound_agent' }],
    })
    const back = await person.call('update_phone_number', { undo })
    expect(await person.flaws('update_phone_number', back)).toBeUndefined()
    expect(await client.value('get_phone_number', { phone_number_id })).toEqual(before)
    await person.call('update_phone_number', { undo: back.structuredContent?.undo })
    expect(await client.value('get_phone_number', { phone_number_id })).toEqual(after)
  })

  test('of many is taken back with one call; one that changed since stays', async () => {
    const [one, other] = [await makeTrunk(), await makeTrunk()]
    const ids = [await makeNumber(one), await makeNumber(other), await makeNumber(one)]
    const agent = await client.value('create_agent', { ...newAgent, name: 'For all' })
    const { undo } = await client.value('update_phone_number', {
      ...{ phone_number_ids: ids, sip_trunk_id: other, inbound_agent_id: agent.id },
    })
    await client.value('update_phone_number', { phone_number_id: ids[2], clear: ['sip_trunk_id'] })
    const back = await client.value('update_phone_number', { undo })
    expect(back).toMatchObject({ summary: { updated: 3 }, undo: expect.any(String) })
    const trunks = await Promise.all(
      ids.map(async (phone_number_id) => {
        const { sip_trunk, inbound_agent } = await client.value('get_phone_number', {
          phone_number_id,
        })
        return [Object(sip_trunk).id, inbound_agent ?? null]
      }),
    )
    expect(trunks).toEqual([
      [one, null],
      [other, null],
      [undefined, null],
    ])
  })

  test('reports a name that cannot be unset, and a trunk that is gone', async () => {
    const trunk = await makeTrunk()
    const phone_number_id = await makeNumber(trunk)
    const named = await client.value('update_phone_number', { phone_number_id, name: 'New' })
    expect(await client.value('update_phone_number', { undo: named.undo })).toMatchObject({
      applied: false,
      warnings: [expect.stringMatching(/^name: .*cannot/)],
    })
    const gone = await makeTrunk()
    await client.value('update_phone_number', { phone_number_id, sip_trunk_id: gone })
    const moved = await client.value('update_phone_number', {
      phone_number_id,
      sip_trunk_id: trunk,
    })
    await client.value('delete_sip_trunk', { sip_trunk_id: gone })
    expect((await client.call('update_phone_number', { undo: moved.undo })).isError).toBe(true)
    expect(await client.value('get_phone_number', { phone_number_id })).toMatchObject({
      sip_trunk: { id: trunk },
    })
  })

  test('that the platform ignored has no undo', async () => {
    const phone_number_id = await makeNumber(await makeTrunk(), { name: 'Same' })
    sandbox.decide(({ method }) => (method === 'PATCH' ? { body: '{}' } : undefined))
    onTestFinished(() => sandbox.decide(() => undefined))
    const saved = await client.value('update_phone_number', { phone_number_id, name: 'Ignored' })
    expect(saved).toMatchObject({ applied: false })
    expect(saved).not.toHaveProperty('undo')
  })
})

test('a change is taken back from the terminal, and the audit trail names it', async () => {
  using state = scratchFolder()
  const run = async (...args: string[]) => {
    const env = { ...sandbox.env(), VOICE_AGENT_STATE_DIR: state.path, VOICE_AGENT_LOG: 'off' }
    await using program = startProgram(args, env)
    expect(await program.exited, program.stderr()).toBe(0)
    return program.stdout()
  }
  const agent = idOf(await client.value('create_agent', { ...newAgent, name: 'Typed', note: 'a' }))
  const changed = await run('call', 'update_agent', '--agent-id', agent, '--note', 'b')
  const [, undo = ''] = /undo (\w+)/.exec(changed) ?? []
  // Without digits, because the audit trail redacts what may be a phone number.
  expect(undo).toMatch(/^[a-p]{12}$/)
  await run('call', 'update_agent', '--undo', undo)
  expect(await client.value('get_agent', { agent_id: agent })).toMatchObject({ note: 'a' })
  expect(await run('audit', '--json')).toContain(undo)
})
