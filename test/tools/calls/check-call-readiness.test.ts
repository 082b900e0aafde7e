import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person, tokenOf } from '../../harness/answering-client.ts'
import { connectStdio, errorOf, type ToolResult } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

const ready = {
  agent_id: seedIds.supportAgent,
  from_number: '+12025550110',
  to_number: '+12025550101',
}
const connect = (policy = '{}') =>
  connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_CONFIRM: 'never', VOICE_AGENT_DIAL_POLICY: policy },
  })

let client: Person
beforeAll(async () => {
  client = await connect()
})
afterAll(() => client[Symbol.asyncDispose]())

interface Check {
  check: string
  ok: boolean
  found: string
  fix?: string
}

/** Failed checks of a call, and whether place_call agrees with them. */
async function verdict({ call }: Person, more: object = {}) {
  const args = { ...ready, ...more }
  const { structuredContent, content } = await call('check_call_readiness', args)
  const checks = structuredContent?.checks as Check[]
  const wrong = checks.filter(({ ok }) => !ok)
  const placed = await call('place_call', { type: 'phone', ...args })
  return {
    isReady: structuredContent?.ready === true,
    wrong,
    text: content[0]?.text ?? '',
    isPlaced: !placed.isError,
  }
}

/** Creates an archived agent and returns its id. */
async function archivedAgent({ value }: Person, account: object = {}): Promise<string> {
  const { model, transcriber, voice } = await value('get_agent', { agent_id: ready.agent_id })
  const agent = { name: 'Old', model, transcriber, voice, ...account }
  const { id: agent_id } = await value('create_agent', agent)
  await value('archive_agent', { agent_id, ...account })
  return String(agent_id)
}

describe('check_call_readiness', () => {
  test('reports a valid call as ready, and it can be placed', async () => {
    const { isReady, isPlaced, wrong, text } = await verdict(client)
    expect({ isReady, isPlaced, wrong }).toEqual({ isReady: true, isPlaced: true, wrong: [] })
    expect(text).toMatch(/\nReady: .*\nAccount: /)
  })

  test('dials nobody', async () => {
    const { value } = client
    const before = (await value('list_calls')).total
    await value('check_call_readiness', { ...ready, to_number: '+12025550105' })
    expect((await value('list_calls')).total).toBe(before)
  })

  test.each<[string, object, RegExp, RegExp]>([
    ['agent', { agent_id: 'Suport line' }, /Suport line/, /Support line/],
    ['agent', { agent_id: 'xyzzy' }, /xyzzy/, /list_agents/],
    ['from_number', { from_number: '+12025550199' }, /\+12025550199/, /\+12025550110/],
    ['from_number format', { from_number: '2025550110' }, /E\.164/, /\+4930123456/],
    ['trunk', { from_number: '+12025550112' }, /termination URI/, /update_sip_trunk/],
    ['to_number format', { to_number: '0049 30 12345' }, /E\.164/, /\+493012345/],
    ['destination', { to_number: '+1911' }, /\(emergency\)/, /\w/],
    ['destination', { to_number: '+499001123456' }, /\(premium\)/, /\w/],
    ['destination', { to_number: '+999123456' }, /\(invalid_number\)/, /\w/],
  ])('names a wrong %s of %j, and its fix; placing it fails', async (check, more, found, fix) => {
    const { isReady, isPlaced, wrong, text } = await verdict(client, more)
    expect({ isReady, isPlaced }).toEqual({ isReady: false, isPlaced: false })
    expect(wrong).toHaveLength(1)
    expect(wrong[0]).toMatchObject({ check, ok: false })
    expect(wrong[0]?.found).toMatch(found)
    expect(wrong[0]?.fix).toMatch(fix)
    expect(wrong[0]?.fix).toMatch(/^[A-Z].*[.?]$/)
    expect(text).toMatch(/^WRONG .*\nNot ready\.\nAccount: /s)
  })

  test('continues with the corrected number, and says so', async () => {
    const numbers = { from_number: '+12025550112', to_number: '+49 900 1123456' }
    const { wrong, isReady } = await verdict(client, numbers)
    expect(isReady).toBe(false)
    const found = wrong.map(({ check, found }) => [check, found])
    expect(Object.fromEntries(found)).toEqual({
      trunk: expect.any(String),
      'to_number format': expect.stringContaining('+499001123456'),
      destination: expect.stringContaining('premium'),
    })
  })

  test.each([
    ['a number that cannot dial out', 'from_number', '+12025550112'],
    ['a number of nobody', 'from_number', '+12025550199'],
    ['an archived agent', 'agent_id', undefined],
  ])('and place_call name the same fixes of %s', async (_, argument, given) => {
    const more = { [argument]: given ?? (await archivedAgent(client)) }
    const { wrong } = await verdict(client, more)
    const refused = await client.call('place_call', { type: 'phone', ...ready, ...more })
    const fix = String(wrong[0]?.fix)
    expect(fix).toMatch(/^[A-Z].* Or [a-z].*\.$/)
    expect(errorOf(refused).fields).toMatchObject([
      { argument, message: expect.stringContaining(fix) },
    ])
  })

  test('names every fix of a number that cannot dial out, and the first one works', async () => {
    await using own = await connect()
    const { value } = own
    const used = await value('create_sip_trunk', {
      name: 'Most used',
      termination_uri: 'a.example',
    })
    for (const last of [1, 2, 3, 4])
      await value('create_phone_number', { number: `+1202555018${last}`, sip_trunk_id: used.id })
    const from_number = '+12025550112'
    const [{ fix = '' } = {}] = (await verdict(own, { from_number })).wrong
    const places = ['update_phone_number', 'call from', 'update_sip_trunk'].map((one) =>
      fix.indexOf(one),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
    // The trunk with the most numbers comes first; each is listed with its numbers.
    expect(fix).toMatch(/: Most used \(.*\+12025550181.*\) or Office trunk \(with Main line/)
    const [, phone_number_id, sip_trunk_id] =
      /update_phone_number with phone_number_id (\S+), sip_trunk_id ([^)]+)\)/.exec(fix) ?? []
    expect(sip_trunk_id).toBe('Most used')
    await value('update_phone_number', { phone_number_id, sip_trunk_id })
    const { isReady, isPlaced } = await verdict(own, { from_number })
    expect({ isReady, isPlaced }).toEqual({ isReady: true, isPlaced: true })
  })

  test('names no trunk that the caller may not list, and a trunk of a shared name by its id', async () => {
    await using hidden = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'never', VOICE_AGENT_EXCLUDE_TOOLS: 'list_sip_trunks' },
    })
    const from_number = '+12025550112'
    const [unnamed] = (await verdict(hidden, { from_number })).wrong
    expect(unnamed?.fix).toContain('update_sip_trunk')
    expect(unnamed?.fix).not.toContain('Office trunk')
    await using own = await connect()
    await own.value('create_sip_trunk', { name: 'Office trunk' })
    const [shared] = (await verdict(own, { from_number })).wrong
    expect(shared?.fix).toContain(`sip_trunk_id ${seedIds.trunk}`)
  })

  test('names the account in a fix if the tools need it', async () => {
    await using own = await connect()
    const account_id = seedIds.subaccount
    const agent_id = await archivedAgent(own, { account_id })
    const args = { ...ready, account_id, agent_id }
    const { checks } = await own.value('check_call_readiness', args)
    const fix = (checks as Check[]).find(({ check }) => check === 'agent')?.fix
    expect(fix).toContain(`is_archived false, account_id ${account_id}`)
  })

  test('names all problems in one result', async () => {
    const { wrong } = await verdict(client, {
      agent_id: 'xyzzy',
      from_number: '+12025550112',
      to_number: '+1911',
    })
    expect(wrong.map(({ check }) => check)).toEqual(['agent', 'trunk', 'destination'])
  })

  test('finds a number after hundreds of others', async () => {
    const { value } = client
    for (let at = 0; at < 210; at++) {
      const number = `+1202556${1000 + at}`
      await value('create_phone_number', { number, sip_trunk_id: seedIds.trunk })
    }
    const from_number = '+12025561209'
    const { isReady, isPlaced } = await verdict(client, { from_number, to_number: '+12025550102' })
    expect({ isReady, isPlaced }).toEqual({ isReady: true, isPlaced: true })
  })

  test('names an archived agent', async () => {
    const agent_id = await archivedAgent(client)
    const { isReady, isPlaced, wrong } = await verdict(client, { agent_id })
    expect({ isReady, isPlaced }).toEqual({ isReady: false, isPlaced: false })
    expect(wrong).toMatchObject([{ check: 'agent', found: expect.stringContaining('archived') }])
  })

  const greeter = async (message: string) => {
    const { value } = client
    const { model, transcriber, voice } = await value('get_agent', { agent_id: ready.agent_id })
    const agent = { name: 'Greeter', model, transcriber, voice }
    const { id } = await value('create_agent', { ...agent, initial_message: { message } })
    return String(id)
  }
  const greetingOf = async (args: object) => {
    const { structuredContent, content } = await client.call('check_call_readiness', {
      ...ready,
      ...args,
    })
    const checks = structuredContent?.checks as Check[]
    const spoken = structuredContent?.greeting
    const text = content[0]?.text ?? ''
    return { text, spoken, ...checks.find(({ check }) => check === 'greeting') }
  }

  test('warns of variables of the greeting that nothing fills, until something does', async () => {
    const agent_id = await greeter('Hello {{ customer.name }}')
    const warned = await greetingOf({ agent_id })
    expect(warned).toMatchObject({
      ok: true,
      found: expect.stringContaining('customer.name'),
      fix: expect.stringContaining('test_variables'),
    })
    expect(warned.text).toMatch(
      /^WARNING greeting: .*customer\.name.*\nGreeting .*'customer' .*\(line 1\)\nReady: /s,
    )
    // The platform accepts a greeting with an undefined variable.
    const { isReady, isPlaced } = await verdict(client, { agent_id })
    expect({ isReady, isPlaced }).toEqual({ isReady: true, isPlaced: true })
    const filled = await greetingOf({ agent_id, test_variables: { customer: { name: 'Erika' } } })
    expect(filled).toMatchObject({ ok: true, spoken: '"Hello Erika"' })
    expect(filled.text).toMatch(/\nGreeting .*: "Hello Erika"\nReady: /)
    expect(filled.fix).toBeUndefined()
  })

  test('has the worst findings first and the verdict last', async () => {
    const agent_id = await greeter('Hello {{ caller }}')
    const args = { ...ready, agent_id, from_number: '+12025550199' }
    const { structuredContent, content } = await client.call('check_call_readiness', args)
    const checks = structuredContent?.checks as Check[]
    const marks = checks.map(({ ok, fix }) => (ok ? (fix ? 'WARNING' : 'ok') : 'WRONG'))
    expect(marks).toEqual(['WRONG', 'WARNING', ...Array(marks.length - 2).fill('ok')])
    expect(Object.keys(structuredContent ?? {}).at(-1)).toBe('ready')
    expect(content[0]?.text).toMatch(
      /^WRONG from_number: .*\nWARNING greeting: .*\bcaller\b.*\nok: .*\nGreeting .*: "Hello "; EMPTY .*: caller\nNot ready\.\nAccount: /,
    )
  })

  test.each([
    ["Hi {{ caller_name | default('there') }}", {}, undefined],
    ["Hi {{ caller_name|d('x') }}, {{ caller_name | default('x') | upper }}", {}, undefined],
    ["caller_name: {{ caller_name | default('there') }}", {}, undefined],
    ["Hi {{ contact.nickname | default('there') }}", {}, undefined],
    ["Hi {{ order.id | default('?') }}", { order: { name: 'x' } }, undefined],
    ["Hi {{ caller_name | default('there') }} {{ caller_name }}", {}, 'caller_name'],
    ["Hi {{ caller_name | upper }} {{ x | default('') }}", {}, 'caller_name'],
    ["Hi {{ order.id | default('?') }}", {}, 'order.id'],
  ])(
    'takes a default for what fills a variable: %s with %j',
    async (message, test_variables, empty) => {
      const { ok, found, fix } = await greetingOf({
        agent_id: await greeter(message),
        test_variables,
      })
      expect(ok).toBe(true)
      if (empty === undefined) expect(fix).toBeUndefined()
      else
        expect({ found, fix }).toEqual({
          found: expect.stringMatching(new RegExp(` ${empty}$`)),
          fix: expect.any(String),
        })
    },
  )

  test('checks the account that is named', async () => {
    const { value } = client
    const account_id = seedIds.subaccount
    const { model, transcriber, voice } = await value('get_agent', { agent_id: ready.agent_id })
    const termination_uri = 'sip.example.com'
    const branch = { name: 'Branch', account_id }
    const agent = await value('create_agent', { ...branch, model, transcriber, voice })
    const trunk = await value('create_sip_trunk', { ...branch, termination_uri })
    const from_number = '+12025550188'
    const line = { number: from_number, sip_trunk_id: trunk.id, account_id }
    await value('create_phone_number', line)
    const args = { account_id, agent_id: agent.id, from_number }
    const elsewhere = await verdict(client, { ...args, account_id: 'me' })
    expect(elsewhere.wrong.map(({ check }) => check)).toEqual(['agent', 'from_number'])
    const { isReady, isPlaced } = await verdict(client, args)
    expect({ isReady, isPlaced }).toEqual({ isReady: true, isPlaced: true })
    await value('update_subaccount', { subaccount_id: account_id, is_active: false })
    const disabled = await verdict(client, { ...args, to_number: '+12025550102' })
    expect(disabled.isPlaced).toBe(false)
    expect(disabled.wrong).toMatchObject([
      { check: 'account', fix: expect.stringMatching(/update_subaccount.*is_active/) },
    ])
  })

  test.each<[string, object, RegExp]>([
    ['allow_countries', { allow_countries: ['DE'] }, /Germany/],
    ['allow_agents', { allow_agents: ['Other'] }, /Support line/],
    ['allow_from', { allow_from: ['+12025550111'] }, /\+12025550111/],
    ['max_total', { max_total: 0 }, /\b0 calls/],
    ['max_per_hour', { max_per_hour: 0 }, /\b0 calls/],
  ])('applies the dial policy: %s', async (rule, policy, found) => {
    await using ruled = await connect(JSON.stringify(policy))
    const { isReady, isPlaced, wrong } = await verdict(ruled)
    expect({ isReady, isPlaced }).toEqual({ isReady: false, isPlaced: false })
    expect(wrong[0]?.found).toMatch(found)
    expect(wrong[0]?.fix).toMatch(new RegExp(`${rule}.*VOICE_AGENT_DIAL_POLICY`))
  })
})

describe('a person who is asked whether to call', () => {
  const question = async (from_number: string) => {
    await using asking = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    const { value, call } = asking
    const before = await call('place_call', { type: 'phone', ...ready, from_number })
    const number = { number: '+12025550188', sip_trunk_id: seedIds.trunk }
    await value('create_phone_number', number)
    const after = await call('place_call', { type: 'phone', ...ready, from_number })
    return [factsOf(before), factsOf(after)]
  }
  const factsOf = ({ structuredContent }: ToolResult) =>
    Object(structuredContent?.confirmation).facts as Record<string, string>
  const warning = 'Will probably fail'

  test.each([
    ['+12025550177', '+12025550177'],
    ['+12025550112', 'termination_uri'],
  ])('is warned of calling from %s', async (from_number, expected) => {
    for (const facts of await question(from_number)) expect(facts[warning]).toContain(expected)
  })

  test('is warned of the number that a list is called from', async () => {
    await using asking = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    const { agent_id, to_number } = ready
    const list = { agent_id, from_number: '+12025550177', calls: [{ to_number }] }
    const facts = factsOf(await asking.call('place_calls', list))
    expect(facts[warning]).toContain('+12025550177')
  })

  test('is warned of an archived agent and a disabled account, without delay, even if a check hangs', async () => {
    const agent = { id: seedIds.supportAgent, name: 'Desk' }
    await using platform = await startFakePlatform(({ url }, res) => {
      const { pathname, searchParams } = new URL(url, 'http://x')
      const isArchived = searchParams.get('is_archived') === 'true'
      if (pathname.endsWith('/phone-numbers')) return
      if (pathname.endsWith('/current'))
        return json(res, 200, { id: 'own', name: 'Own', is_active: false })
      if (pathname.endsWith('/agents')) return json(res, 200, { items: isArchived ? [agent] : [] })
      json(res, 200, pathname.includes('/agents/') ? agent : { items: [] })
    })
    await using asking = await connectPerson('v2 2026-07-28', {
      env: {
        VOICE_AGENT_BASE_URL: platform.url,
        VOICE_AGENT_API_KEY: 'sk-0123456789',
        VOICE_AGENT_HEADERS_TIMEOUT: '600',
        VOICE_AGENT_TIMEOUT: '600',
      },
    })
    // Warm-up: the first call prepares the session.
    await asking.call('get_current_account')
    const began = performance.now()
    const facts = factsOf(await asking.call('place_call', { type: 'phone', ...ready }))
    // A warning must not wait for the hanging read; the tool call itself ends only after 54 s.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(facts[warning]).toMatch(
      /^"Own \(own\) .*\bdisabled\. .*", "Desk \(.*\) .*\barchived\. .*update_agent/,
    )
    expect(facts.From).toBe('+12025550110')
  })

  test('may agree, have the problem solved, and the call is placed with the same token', async () => {
    await using asking = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    const { agent_id, to_number } = ready
    const list = { agent_id, from_number: '+12025550112', calls: [{ to_number }] }
    const preview = await asking.call('place_calls', list)
    const [, sip_trunk_id] = /sip_trunk_id ([^)]+)\)/.exec(factsOf(preview)[warning] ?? '') ?? []
    await asking.value('update_phone_number', { phone_number_id: '+12025550112', sip_trunk_id })
    const confirmed = { ...list, confirm_token: tokenOf(preview) }
    expect(await asking.value('place_calls', confirmed)).toMatchObject({ summary: { placed: 1 } })
  })

  test('gets no warning for a good number, nor for a problem that is solved', async () => {
    const [before, after] = await question('+12025550188')
    expect(before).toHaveProperty([warning])
    expect(after).toHaveProperty('Agent')
    expect(after).not.toHaveProperty([warning])
  })
})

test('a number is looked for on every page, and a list that repeats a page is not complete', async () => {
  let repeats = false
  let count: number | undefined
  const numbers = Array.from({ length: 250 }, (_, at) => ({
    id: `n-${at}`,
    number: `+1202555${1000 + at}`,
    sip_trunk: null,
  }))
  await using platform = await startFakePlatform(
    ({ url }, res) => {
      const { pathname, searchParams } = new URL(url, 'http://x')
      const offset = repeats ? 0 : Number(searchParams.get('offset'))
      if (!pathname.endsWith('/phone-numbers')) return json(res, 200, { id: 'a', items: [] })
      const items = numbers.slice(offset, offset + Number(searchParams.get('limit')))
      json(res, 200, { ...(count && { count }), items })
    },
    { account: 'own' },
  )
  await using wired = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
  })
  const checked = async () => {
    const args = { ...ready, from_number: '+12025551249' }
    const { checks } = await wired.value('check_call_readiness', args)
    return (checks as Check[]).find(({ check }) => check === 'from_number')
  }
  for (count of [undefined, 250]) {
    repeats = false
    expect(await checked()).toMatchObject({ ok: true, found: '+12025551249' })
    repeats = true
    expect(await checked()).toMatchObject({
      fix: expect.any(String),
      found: expect.stringMatching(/^\+12025551249 .*\b100\b/),
    })
  }
})
