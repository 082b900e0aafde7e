import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolSummaries } from '../../src/server/tool-summaries.ts'
import { connectPerson, type Person, tokenOf, yes } from '../harness/answering-client.ts'
import { errorOf } from '../harness/client.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'

const VOICE_AGENT_CONFIRM = 'person'
const agent_id = seedIds.supportAgent
const from_number = '+12025550110'
let made = 0

/** All actions that need confirmation, on existing objects. */
const actions = async ({ value }: Person): Promise<[name: string, args: object][]> => {
  const trunk = await value('create_sip_trunk', { name: `Trunk ${made++}` })
  const to_number = '+12025550101'
  const external_id = `call-${made++}`
  return [
    ['place_call', { type: 'phone', agent_id, from_number, to_number, external_id }],
    ['place_calls', { agent_id, from_number, calls: [{ to_number, external_id: `${made++}` }] }],
    ['delete_sip_trunk', { sip_trunk_id: trunk.id }],
    ['delete_phone_number', { phone_number_id: seedIds.mainNumber }],
    ['archive_agent', { agent_id }],
    ['update_subaccount', { subaccount_id: seedIds.subaccount, is_active: false }],
  ]
}

/** Data of the sandbox that these actions change. */
const stateOf = async ({ value }: Person) => ({
  calls: (await value('list_calls')).total,
  trunks: (await value('list_sip_trunks')).total,
  numbers: (await value('list_phone_numbers')).total,
  agents: (await value('list_agents')).total,
  isActive: (await value('get_subaccount', { subaccount_id: seedIds.subaccount })).is_active,
})

let http: Program & { url: string }
beforeAll(async () => {
  http = await startHttpProgram({ VOICE_AGENT_CONFIRM, VOICE_AGENT_SANDBOX_SPEED: '50' })
})
afterAll(() => http[Symbol.asyncDispose]())

const over = { stdio: () => ({ env: { VOICE_AGENT_CONFIRM } }), HTTP: () => ({ url: http.url }) }

describe('where only a person can agree', () => {
  test.each([
    ['v2 2026-07-28', 'stdio'],
    ['v2 2026-07-28', 'HTTP'],
    ['v2 2025', 'stdio'],
    ['v1', 'stdio'],
  ] as const)('a %s client over %s asks before each action', async (kind, transport) => {
    await using person = await connectPerson(kind, { ...over[transport](), answer: yes })
    const each = await actions(person)
    const before = await stateOf(person)
    person.answers({ action: 'decline' })
    for (const [name, args] of each)
      expect(await person.value(name, { ...args, confirm_token: 'x' })).toMatchObject({
        confirmation: { state: 'declined' },
      })
    expect(person.asked).toHaveLength(each.length)
    expect(await stateOf(person)).toEqual(before)
    person.answers(yes)
    const [[name, args] = ['', {}]] = each
    expect(await person.value(name, args)).toMatchObject({ repeated: false })
  })

  test.each([
    ['v2 2026-07-28', 'stdio', undefined],
    ['v2 2026-07-28', 'HTTP', undefined],
    ['v2 2025', 'stdio', undefined],
    ['v1', 'stdio', undefined],
    // Over stateless HTTP of the 2025 revisions, elicitation is impossible even if the client
    // declares it.
    ['v2 2025', 'HTTP', yes],
    ['v1', 'HTTP', yes],
  ] as const)('a %s client over %s that cannot ask is refused', async (kind, transport, answer) => {
    const person = answer && { answer }
    await using client = await connectPerson(kind, { ...over[transport](), ...person })
    const each = await actions(client)
    const before = await stateOf(client)
    for (const [name, args] of each) {
      const refused = await client.call(name, args)
      expect(errorOf(refused)).toMatchObject({
        kind: 'needs_person',
        next: expect.stringMatching(/--confirm\b.*VOICE_AGENT_CONFIRM/),
      })
      expect(tokenOf(refused)).toBeUndefined()
      expect((await client.call(name, { ...args, confirm_token: 'x' })).isError).toBe(true)
    }
    expect(client.asked).toEqual([])
    expect(await stateOf(client)).toEqual(before)
  })
})

describe('the token of a preview is listed', () => {
  const listedBy = async (mode: string, over: 'stdio' | 'HTTP') => {
    const env = { VOICE_AGENT_CONFIRM: mode }
    if (over === 'stdio') {
      await using client = await connectPerson('v2 2025', { env })
      return await client.offered()
    }
    await using program = await startHttpProgram(env)
    await using client = await connectPerson('v2 2026-07-28', { url: program.url })
    return await client.offered()
  }

  test.each([
    ['person', 'stdio', false, false],
    ['person', 'HTTP', false, false],
    ['never', 'stdio', true, false],
    ['auto', 'stdio', true, true],
    ['always', 'HTTP', true, true],
  ] as const)('with --confirm %s over %s: %s', async (mode, over, isListed, isMentioned) => {
    const { tools, instructions } = await listedBy(mode, over)
    expect(tools.map(({ name }) => name)).toEqual(toolSummaries.map(({ name }) => name))
    const taking = tools.filter(
      ({ inputSchema }) => 'confirm_token' in (Object(inputSchema).properties ?? {}),
    )
    const asking = [
      ...['update_subaccount', 'update_agent', 'archive_agent', 'place_call'],
      ...['delete_phone_number', 'place_calls', 'delete_sip_trunk'],
    ]
    expect(taking.map(({ name }) => name).sort()).toEqual(isListed ? asking.sort() : [])
    expect(instructions?.includes('confirm_token')).toBe(isMentioned)
    expect(instructions).toContain('place_call')
  })
})
