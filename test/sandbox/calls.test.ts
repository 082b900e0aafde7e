import { describe, expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { sandboxKeys, seedIds, startSandbox } from '../harness/sandbox.ts'

const { account, subaccount, supportAgent, trunk, mainNumber } = seedIds
const from_number = '+12025550110'

describe('calls', () => {
  const phone = { type: 'phone', agent_id: supportAgent, from_number, to_number: '+12025550100' }

  test('proceed with the clock: waiting, answered, in conversation, completed', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/calls', phone)
    expect(status).toBe(201)
    expect(body).toMatchObject({ success: true, status: 'in_progress', answer_status: 'waiting' })
    const now = async () => (await sandbox.get(`accounts/me/calls/${body.id}`)).body
    expect((await now()).messages).toEqual([])
    sandbox.wait(10)
    const talking = await now()
    expect(talking).toMatchObject({ status: 'in_progress', answer_status: 'human', ended_at: null })
    expect(talking.duration_seconds).toBe(6)
    sandbox.wait(3600)
    const ended = await now()
    expect(ended).toMatchObject({ status: 'completed', answer_status: 'human' })
    expect(ended.messages.length).toBeGreaterThan(talking.messages.length)
    expect(ended.messages[1]).toMatchObject({
      role: 'agent',
      message: expect.stringMatching(/^Hello Sam/),
    })
    expect(ended.duration_seconds).toBe(
      (Date.parse(ended.ended_at) - Date.parse(ended.started_at)) / 1000,
    )
    const listed = (await sandbox.get(`accounts/me/conversations?conversation_id=${body.id}`)).body
    expect(listed.items[0]).toMatchObject({ status: 'completed', contact_number: '+12025550100' })
  })

  test.each([
    ['0101', 'failed', 'user_busy'],
    ['0102', 'failed', 'user_rejected'],
    ['0103', 'failed', 'user_unavailable'],
    ['0104', 'completed', 'machine'],
    ['0105', 'transferred', 'human'],
    ['0106', 'completed', 'human'],
  ])('to +1202555%s end as %s, %s', async (digits, status, answer_status) => {
    using sandbox = startSandbox()
    const { body } = await sandbox.send('POST', 'accounts/me/calls', {
      ...phone,
      to_number: `+1202555${digits}`,
    })
    sandbox.wait(4000)
    const { body: ended } = await sandbox.get(`accounts/me/calls/${body.id}`)
    expect(ended).toMatchObject({ status, answer_status })
  })

  const german = { voice: { language: 'de-de' } }
  const understood = { voice: { language: null }, transcriber: { languages: ['de'] } }
  test.each([
    ['0100', german, / und | für |Hallo/],
    ['0100', understood, /Hallo/],
    ['0104', german, /Nachricht/],
    ['0108', german, /\bSie\b/],
  ])('to +1202555%s with %j are held in German', async (digits, overrides, words) => {
    using sandbox = startSandbox()
    const { body } = await sandbox.send('POST', 'accounts/me/calls', {
      ...phone,
      to_number: `+1202555${digits}`,
      overrides: { ...overrides, initial_message: { message: '' } },
    })
    sandbox.wait(4000)
    const { messages } = (await sandbox.get(`accounts/me/calls/${body.id}`)).body
    const spoken = messages.filter(({ role }: { role: string }) => role !== 'event')
    const text = spoken.map(({ message }: { message: string }) => message).join(' ')
    expect(text).toMatch(words)
    expect(text).not.toMatch(/\b(the|you|Goodbye)\b/)
  })

  test('with a used external_id return the first call with 200', async () => {
    using sandbox = startSandbox()
    const place = () => sandbox.send('POST', 'accounts/me/calls', { ...phone, external_id: 'once' })
    const [first, second] = [await place(), await place()]
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.body.id).toBe(first.body.id)
    expect((await sandbox.get('accounts/me/calls?external_id=once')).body.count).toBe(1)
  })

  test.each([
    ['no from_number', { from_number: undefined }, 'body.from_number'],
    ['no to_number', { to_number: undefined }, 'body.to_number'],
    ["a number that is not the account's", { from_number: '+12025550999' }, 'body.from_number'],
    ['a number that cannot be called', { to_number: '+12025550107' }, 'body.to_number'],
  ])('with %s are refused by that field', async (_, change, field) => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/calls', {
      ...phone,
      ...change,
    })
    expect(status).toBe(422)
    expect(body.errors[0].field).toBe(field)
  })

  test('with an agent that does not exist are 404, with the field in detail', async () => {
    using sandbox = startSandbox()
    const sent = { ...phone, agent_id: 'none' }
    const { status, body } = await sandbox.send('POST', 'accounts/me/calls', sent)
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.detail).toMatch(/^body\.agent_id: .*\bnone\b/)
  })

  test('need a trunk that can dial out, and an agent that is not archived', async () => {
    using sandbox = startSandbox()
    const place = async () => (await sandbox.send('POST', 'accounts/me/calls', phone)).body
    await sandbox.send('PATCH', `accounts/me/sip-trunks/${trunk}`, { termination_uri: null })
    const ofNumber = (message: RegExp) => [
      { field: 'body.from_number', message: expect.stringMatching(message) },
    ]
    expect((await place()).errors).toMatchObject(ofNumber(/termination URI/))
    await sandbox.send('PATCH', `accounts/me/phone-numbers/${mainNumber}`, { sip_trunk_id: null })
    expect((await place()).errors).toMatchObject(ofNumber(/no SIP trunk/))
    await sandbox.send('DELETE', `accounts/me/agents/${supportAgent}`)
    expect((await place()).errors).toMatchObject([
      { field: 'body.agent_id', message: expect.stringMatching(/archived/) },
    ])
  })

  test('of type web return what is needed to join', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.send('POST', 'accounts/me/calls', {
      type: 'web',
      agent_id: supportAgent,
    })
    expect(body).toMatchObject({
      type: 'web',
      join: { token: expect.any(String), room_sid: expect.any(String) },
    })
  })

  test('pass their medium to the greeting, or else their type', async () => {
    using sandbox = startSandbox()
    const overrides = { initial_message: { message: 'By {{ medium }}' } }
    for (const medium of [undefined, 'kiosk']) {
      const sent = { ...phone, overrides, ...(medium && { medium }) }
      const { status, body } = await sandbox.send('POST', 'accounts/me/calls', sent)
      expect(status).toBe(201)
      sandbox.wait(4000)
      const { messages } = (await sandbox.get(`accounts/me/calls/${body.id}`)).body
      expect(messages[1].message).toBe(`By ${medium ?? 'phone'}`)
    }
  })

  test('report a greeting that cannot be rendered', async () => {
    using sandbox = startSandbox()
    const overrides = { initial_message: { message: 'Hi {{ nobody.home }}' } }
    const { body } = await sandbox.send('POST', 'accounts/me/calls', { ...phone, overrides })
    sandbox.wait(4000)
    const { messages } = (await sandbox.get(`accounts/me/calls/${body.id}`)).body
    expect(messages[1]).toMatchObject({
      role: 'event',
      message: expect.stringMatching(/\bnobody\b/),
    })
  })

  test("end at the agent's maximum duration", async () => {
    using sandbox = startSandbox()
    const overrides = { max_duration_seconds: 10 }
    const { body } = await sandbox.send('POST', 'accounts/me/calls', { ...phone, overrides })
    sandbox.wait(4000)
    const { body: ended } = await sandbox.get(`accounts/me/calls/${body.id}`)
    expect(ended.duration_seconds).toBe(10)
    expect(ended.messages.at(-1)).toMatchObject({
      role: 'event',
      timestamp: ended.ended_at,
      message: expect.stringMatching(/duration/),
    })
  })

  const conversation = async (to_number: string, overrides: object) => {
    using sandbox = startSandbox()
    const { body } = await sandbox.send('POST', 'accounts/me/calls', {
      ...phone,
      to_number,
      overrides,
    })
    sandbox.wait(10_000)
    const { messages, ...call } = (await sandbox.get(`accounts/me/calls/${body.id}`)).body
    const start = Date.parse(call.started_at)
    const lines = messages.map(
      ({ role, message, timestamp }: Record<string, string>) =>
        `${(Date.parse(timestamp ?? '') - start) / 1000} ${role}: ${message}`,
    )
    return { lines: lines.slice(1) as string[], seconds: call.duration_seconds as number }
  }
  const hi = (more: object = {}) => ({ initial_message: { message: 'Hi there, Sam', ...more } })

  test('begin as initial_message says', async () => {
    const first = async (more: object) => (await conversation('+12025550100', hi(more))).lines[0]
    expect(await first({})).toBe('0 agent: Hi there, Sam')
    expect(await first({ delay_ms: 2500 })).toBe('2.5 agent: Hi there, Sam')
    expect(await first({ mode: 'user_first' })).toMatch(/^0 user: /)
    expect(await first({ mode: 'dynamic_message' })).toMatch(/^0 event: /)
  })

  test('remind a silent caller and hang up, as inactivity_settings say', async () => {
    const inactivity = {
      reminder_timeout_ms: 5000,
      reminder_max_count: 2,
      end_call_timeout_ms: 30_000,
    }
    const { lines, seconds } = await conversation('+12025550108', {
      ...hi(),
      inactivity_settings: inactivity,
    })
    expect(lines).toEqual([
      '0 agent: Hi there, Sam',
      expect.stringMatching(/^7 agent: /),
      expect.stringMatching(/^14 agent: /),
      expect.stringMatching(/^32 event: .*\bagent\b/),
    ])
    expect(seconds).toBe(32)
    const never = { reminder_timeout_ms: null, end_call_timeout_ms: null }
    const patient = await conversation('+12025550108', {
      ...hi(),
      inactivity_settings: never,
      max_duration_seconds: 50,
    })
    expect(patient.lines).toEqual([
      '0 agent: Hi there, Sam',
      expect.stringMatching(/^50 event: .*\bduration\b/),
    ])
  })

  test('can be interrupted, as interrupt_settings and interruptible say', async () => {
    const interrupted = async (overrides: object) =>
      (await conversation('+12025550109', { ...hi(), ...overrides })).lines
    /** Speaker of each line; a dash marks an interrupted one. */
    const roles = async (overrides: object) =>
      (await interrupted(overrides)).map((text) => text.replace(/^\S+ (\w+):.*?( –)?$/, '$1$2'))
    expect(await roles({})).toEqual(['agent', 'event', 'agent –', 'event', 'user', 'event'])
    const interruptible = hi({ interruptible: true })
    expect((await interrupted(interruptible))[0]).toBe('0 agent: Hi there, –')
    expect((await roles(interruptible)).slice(0, 2)).toEqual(['agent –', 'event'])
    for (const interrupt_settings of [
      { enabled: false },
      { min_words: 4 },
      { min_speech_seconds: 9 },
    ]) {
      expect((await roles({ interrupt_settings })).slice(2)).toEqual([
        'agent',
        'event',
        'user',
        'event',
      ])
    }
  })

  test('are filtered by type, status, direction, agent and time', async () => {
    using sandbox = startSandbox()
    interface Conversation {
      type: string
      status: string
      direction: string
      agent_id: string
      start_timestamp: string
    }
    const items = async (query: string): Promise<Conversation[]> =>
      (await sandbox.get(`accounts/me/conversations?limit=1000&${query}`)).body.items
    const all = await items('')
    for (const name of ['type', 'status', 'direction', 'agent_id'] as const) {
      for (const value of new Set(all.map((one) => one[name]))) {
        const found = await items(`${name}=${value}`)
        expect(found).toEqual(all.filter((one) => one[name] === value))
        expect(found.length).toBeLessThan(all.length)
      }
    }
    const middle = all[50]?.start_timestamp ?? ''
    const at = encodeURIComponent(middle)
    expect(await items(`created_after=${at}`)).toEqual(
      all.filter((one) => one.start_timestamp >= middle),
    )
    expect(await items(`created_before=${at}`)).toEqual(
      all.filter((one) => one.start_timestamp < middle),
    )
    // A call is modified after its creation, so the call created at this instant is included.
    expect(await items(`updated_after=${at}`)).toEqual(all.slice(0, 51))
    expect(await items(`updated_before=${at}`)).toEqual(all.slice(51))
    const calls = (await sandbox.get('accounts/me/calls?limit=1000')).body.items
    const changed: string = calls[50].modified
    const callsOf = async (query: string) =>
      (await sandbox.get(`accounts/me/calls?limit=1000&${query}`)).body.items
    expect(await callsOf(`updated_after=${encodeURIComponent(changed)}`)).toEqual(
      calls.filter((one: { modified: string }) => one.modified >= changed),
    )
    expect(await callsOf(`updated_before=${encodeURIComponent(changed)}`)).toEqual(
      calls.filter((one: { modified: string }) => one.modified < changed),
    )
    for (const type of ['test', 'unknown']) {
      for (const list of ['calls', 'conversations']) {
        const { status, body } = await sandbox.get(`accounts/me/${list}?type=${type}`)
        expect([status, body.count]).toEqual([200, 0])
      }
    }
  })

  test('are listed newest first, page by page, without gaps', async () => {
    using sandbox = startSandbox()
    const page = async (query: string) =>
      (await sandbox.get(`accounts/me/calls?${query}`)).body.items
    const all = await page('limit=1000')
    const created = all.map((one: { created: string }) => one.created)
    expect(created).toEqual([...created].sort().reverse())
    const pages = [
      await page('limit=50'),
      await page('limit=50&offset=50'),
      await page('limit=50&offset=100'),
    ]
    expect(pages.flat()).toEqual(all)
  })

  test('of a subaccount are in the conversations of the account above it, but not in its calls', async () => {
    using sandbox = startSandbox()
    const { body: agent } = await sandbox.send('POST', `accounts/${subaccount}/agents`, newAgent)
    const { body: call } = await sandbox.send('POST', `accounts/${subaccount}/calls`, {
      type: 'web',
      agent_id: agent.id,
    })
    sandbox.wait(4000)
    const found = async (path: string, key?: string) => (await sandbox.get(path, key)).body.count
    expect(await found(`accounts/me/conversations?conversation_id=${call.id}`)).toBe(1)
    expect(await found(`accounts/me/calls?call_id=${call.id}`)).toBe(0)
    expect(
      await found(`accounts/me/conversations?conversation_id=${call.id}`, sandboxKeys.other),
    ).toBe(0)
    const usage = await sandbox.get(
      'accounts/me/analytics/usage?group_by=subaccount&granularity=month',
    )
    const groups = usage.body.data.flatMap(
      ({ values }: { values: { dimensions: { subaccount: string } }[] }) =>
        values.map(({ dimensions }) => dimensions.subaccount),
    )
    expect(new Set(groups)).toEqual(new Set([account, subaccount]))
  })

  test('are filtered as documented', async () => {
    using sandbox = startSandbox()
    const count = async (query: string) =>
      (await sandbox.get(`accounts/me/conversations?${query}`)).body.count
    const total = await count('')
    const byStatus = await Promise.all(
      ['in_progress', 'completed', 'failed', 'transferred'].map((status) =>
        count(`status=${status}`),
      ),
    )
    expect(byStatus.reduce((sum, some) => sum + some)).toBe(total)
    expect(Math.min(...byStatus.slice(1))).toBeGreaterThan(0)
    expect((await count('direction=inbound')) + (await count('direction=outbound'))).toBe(total)
    const middle = encodeURIComponent(new Date(sandbox.now() - 15 * 86_400_000).toISOString())
    expect(
      (await count(`created_after=${middle}`)) + (await count(`created_before=${middle}`)),
    ).toBe(total)
    expect(
      (await count(`updated_after=${middle}`)) + (await count(`updated_before=${middle}`)),
    ).toBe(total)
  })
})
