import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { scratchFolder, startHttpProgram, startProgram } from '../../harness/program.ts'
import { seedIds } from '../../harness/sandbox.ts'

const policed = (policy: object | string, env: Record<string, string> = {}) =>
  connectPerson('v2 2026-07-28', {
    env: {
      VOICE_AGENT_CONFIRM: 'never',
      VOICE_AGENT_SANDBOX_SPEED: '100',
      VOICE_AGENT_DIAL_POLICY: typeof policy === 'string' ? policy : JSON.stringify(policy),
      ...env,
    },
  })

let calls = 0
const dial = ({ call }: Person, more: object = {}) =>
  call('place_call', {
    type: 'phone',
    agent_id: seedIds.supportAgent,
    from_number: '+12025550110',
    to_number: '+12025550101',
    external_id: `dial-${calls++}`,
    ...more,
  })

/** Expects that the rule refuses the call. Returns the error's text, advice and seconds to wait. */
async function expectRefusal(client: Person, rule: string, more: object = {}) {
  const before = (await client.value('list_calls')).total
  const result = await dial(client, more)
  const text = result.content[0]?.text ?? ''
  const { kind, rule: broken, retryable, retryAfter, next } = errorOf(result)
  expect({ kind, broken }).toEqual({ kind: 'not_allowed', broken: rule })
  expect(text).toContain(`(${rule})`)
  // `retryable` and `retryAfter` must agree with the advice.
  const seconds = / (\d+) s\b/.exec(next)?.[1]
  expect(retryAfter).toBe(seconds === undefined ? null : Number(seconds))
  expect(retryable).toBe(seconds !== undefined || rule === 'max_at_once')
  expect((await client.value('list_calls')).total).toBe(before)
  return { text, next, retryAfter }
}
const expectAllowed = async (client: Person, more: object = {}) => {
  const result = await dial(client, more)
  expect(result.isError, result.content[0]?.text).toBeFalsy()
}

describe('without a dial policy', () => {
  let client: Person
  beforeAll(async () => {
    client = await connectPerson('v2 2026-07-28', { env: { VOICE_AGENT_CONFIRM: 'never' } })
  })
  afterAll(() => client[Symbol.asyncDispose]())

  test.each([
    ['emergency', '+1911'],
    ['emergency', '+49112'],
    ['premium', '+499001123456'],
    ['premium', '+19005551234'],
    ['invalid_number', '+999123456'],
  ])('%s numbers are not dialled, and nothing allows them: %s', async (rule, to_number) => {
    const { next } = await expectRefusal(client, rule, { to_number })
    expect(next).toMatchSnapshot()
  })

  test.each(['911', '112', '999', '+911', '9-1-1'])(
    '%s is named as an emergency number, and no other try is proposed',
    async (to) => {
      const call = { agent_id: seedIds.supportAgent, from_number: '+12025550110' }
      const results = [
        await client.call('place_call', { ...call, type: 'phone', to_number: to }),
        await client.call('place_calls', { ...call, calls: [{ to_number: to }] }),
        await client.call('place_calls', { ...call, calls: [to] }),
        await client.call('check_call_readiness', { ...call, to_number: to }),
      ]
      for (const { content } of results) {
        expect(content[0]?.text).toMatch(/\bemergency\b/i)
        expect(content[0]?.text).not.toMatch(/call \w+ again/)
      }
    },
  )

  const agent_id = seedIds.supportAgent
  const own = '+12025550110'
  const spaced = '+1 (202) 555-0199'
  const phone_number_id = seedIds.spareNumber
  test.each<[string, object]>([
    ['place_call', { type: 'phone', agent_id, from_number: own, to_number: spaced }],
    ['place_call', { type: 'phone', agent_id, from_number: spaced, to_number: '+12025550101' }],
    ['place_calls', { agent_id, from_number: own, calls: [{ to_number: spaced }] }],
    ['place_calls', { agent_id, from_number: own, calls: [spaced] }],
    ['place_calls', { agent_id, from_number: spaced, calls: ['+12025550101'] }],
    ['check_call_readiness', { agent_id, from_number: own, to_number: spaced }],
    ['check_call_readiness', { agent_id, from_number: spaced, to_number: '+12025550101' }],
    ['create_phone_number', { number: spaced, sip_trunk_id: seedIds.trunk }],
    ['update_phone_number', { phone_number_id, number: spaced }],
  ])('%s offers a number with spaces as E.164: %j', async (tool, args) => {
    const { content } = await client.call(tool, { ...args })
    expect(content[0]?.text).toMatch(/(?:did you mean|Give) \+12025550199/)
  })

  test('ordinary numbers are dialled, in any country', async () => {
    await expectAllowed(client, { to_number: '+493012345678' })
    await expectAllowed(client, { to_number: '+12025550101' })
  })
})

describe('a dial policy', () => {
  test('names the rule, who can change it, and where', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'policy.json')
    writeFileSync(file, '{"allow_countries":["US"],"deny_prefixes":["+1900","+1212"]}')
    await using client = await policed(file)
    const german = await expectRefusal(client, 'allow_countries', { to_number: '+493012345678' })
    expect(german.text).toContain('United States')
    expect(german.next).toContain('allow_countries')
    expect(german.next).toContain(file)
    const denied = await expectRefusal(client, 'deny_prefixes', { to_number: '+12125550123' })
    expect(denied.text).toContain(' +1212 ')
    await expectAllowed(client)
  })

  test('combines prefixes and countries, and deny wins', async () => {
    await using client = await policed({
      allow_prefixes: ['+4930'],
      allow_countries: ['US'],
      deny_countries: ['FR'],
    })
    await expectAllowed(client, { to_number: '+493012345678' })
    await expectAllowed(client)
    await expectRefusal(client, 'allow_countries', { to_number: '+498912345678' })
    await expectRefusal(client, 'deny_countries', { to_number: '+33142685300' })
  })

  test('an agent renamed to an allowed id may not call', async () => {
    const allowed = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
    await using client = await policed({ allow_agents: [allowed] })
    await client.value('update_agent', { agent_id: seedIds.supportAgent, name: allowed })
    await expectRefusal(client, 'allow_agents')
  })

  test('restricts the agents that may call, by id or name', async () => {
    await using client = await policed({ allow_agents: ['name:Support line'] })
    const { model, transcriber, voice } = await client.value('get_agent', {
      agent_id: seedIds.supportAgent,
    })
    const other = { name: 'Other', model, transcriber, voice }
    const { id: agent_id } = await client.value('create_agent', other)
    expect((await expectRefusal(client, 'allow_agents', { agent_id })).text).toContain('Other')
    await expectAllowed(client)
    // The rule concerns agents, so it also applies to web calls.
    const web = { type: 'web', from_number: undefined, to_number: undefined }
    await expectRefusal(client, 'allow_agents', { agent_id, ...web })
    await expectAllowed(client, web)
  })

  test('restricts the numbers that may be called from', async () => {
    await using client = await policed({ allow_from: ['+12025550111'] })
    await expectRefusal(client, 'allow_from')
    await expectAllowed(client, { from_number: '+12025550111' })
  })

  test('has quiet hours, by the local time of the called number', async () => {
    const hour = (at: number) => `${String((at + 24) % 24).padStart(2, '0')}:00`
    const now = new Date().getUTCHours()
    // Iceland has UTC all year, Pakistan UTC+5.
    const quiet_hours = { from: hour(now - 1), to: hour(now + 2) }
    await using client = await policed({ quiet_hours })
    const quiet = await expectRefusal(client, 'quiet_hours', { to_number: '+3545812345' })
    expect(quiet.text).toContain('Atlantic/Reykjavik')
    expect(quiet.retryAfter).toBeGreaterThan(0)
    await expectAllowed(client, { to_number: '+922134567890' })
  })

  test('limits calls per hour across restarts', async () => {
    using folder = scratchFolder()
    const state = { VOICE_AGENT_STATE_DIR: folder.path }
    {
      await using client = await policed({ max_per_hour: 2 }, state)
      await expectAllowed(client)
    }
    await using client = await policed({ max_per_hour: 2 }, state)
    await expectAllowed(client)
    const { text, retryAfter } = await expectRefusal(client, 'max_per_hour')
    expect(text).toContain('2 calls')
    expect(retryAfter).toBeGreaterThan(0)
  })

  test('does not count refused calls towards the limit per hour', async () => {
    await using client = await policed({ max_per_hour: 1 })
    expect((await dial(client, { to_number: '+12025550107' })).isError).toBe(true)
    await expectAllowed(client)
    await expectRefusal(client, 'max_per_hour')
  })

  test('allows another concurrent call once one has ended, even if no client waits for it', async () => {
    await using client = await policed({ max_at_once: 1 }, { VOICE_AGENT_SANDBOX_SPEED: '20' })
    await expectAllowed(client, { to_number: '+12025550100' })
    await expectRefusal(client, 'max_at_once')
    await expect
      .poll(async () => (await dial(client)).isError ?? false, { timeout: 15_000, interval: 200 })
      .toBe(false)
  })

  test('limits the total number of calls of all clients', async () => {
    await using program = await startHttpProgram({ VOICE_AGENT_DIAL_POLICY: '{"max_total":1}' })
    await using one = await connectPerson('v2 2026-07-28', { url: program.url })
    await using two = await connectPerson('v1', { url: program.url })
    await expectAllowed(one)
    expect((await expectRefusal(two, 'max_total')).text).toContain('1 call ')
    // Repeating a placed call still returns it after the limit is reached.
    const again = await dial(one, { external_id: `dial-${calls - 2}` })
    expect(again.structuredContent).toMatchObject({ repeated: true })
  })

  test('is checked before the person is asked', async () => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_DIAL_POLICY: '{"deny_countries":["US"]}' },
      answer: { action: 'accept', content: { confirm: true } },
    })
    await expectRefusal(person, 'deny_countries')
    expect(person.asked).toEqual([])
  })
})

describe('an invalid dial policy', () => {
  test.each([
    ['a field that is none', '{"allow_country":["US"]}', /allow_country\b.*allow_countries/],
    ['a country that is none', '{"allow_countries":["USA"]}', /allow_countries\.0.*USA/],
    ['an empty list', '{"allow_agents":[]}', /allow_agents/],
    ['a limit that is none', '{"max_per_hour":-1}', /max_per_hour/],
    ['not JSON', '{"max_per_hour":', /not JSON/],
    ['a file that is not there', '/nowhere/policy.json', /\/nowhere\/policy\.json/],
  ])('is refused before the server starts: %s', async (_, policy, expected) => {
    await using program = startProgram([], {
      VOICE_AGENT_SANDBOX_DB: ':memory:',
      VOICE_AGENT_STATE_DIR: ':memory:',
      VOICE_AGENT_DIAL_POLICY: policy,
    })
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(expected)
    expect(program.stderr()).not.toMatch(/\n\s+at /)
    expect(program.stdout()).toBe('')
  })
})
