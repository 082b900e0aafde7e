import { describe, expect, test } from 'vitest'
import { allRoutes } from '../../src/contract/routes.ts'
import { sandboxKeys, seedIds, startSandbox } from '../harness/sandbox.ts'
import { newAgent } from '../harness/story.ts'

const { account, subaccount, otherAccount, supportAgent, trunk, mainNumber, spareNumber } = seedIds
const from_number = '+12025550110'

describe('access', () => {
  test('needs a valid key', async () => {
    using sandbox = startSandbox()
    const missing = await sandbox.send('GET', 'accounts/current', undefined, { key: null })
    expect([missing.status, missing.body.code]).toEqual([401, 'unauthorized'])
    expect((await sandbox.get('accounts/current', 'nobody')).status).toBe(401)
  })

  test('reaches the own account and those below, and nothing else', async () => {
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

  test("does not find another account's things under the own account", async () => {
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

describe('requests', () => {
  test('every route is served', async () => {
    using sandbox = startSandbox()
    for (const { method, path } of allRoutes) {
      const url = path
        .replace('/v1/', '')
        .replace(/\{(\w+)\}/g, (_, name) => (name === 'account_id' ? 'me' : 'none'))
      const { status, body } = await sandbox.send(method, url, method === 'GET' ? undefined : {})
      expect(status, `${method} ${path}`).not.toBe(500)
      if (status === 404) expect(body.message).not.toMatch(/There is no/)
    }
  })

  test('that no route has are 404', async () => {
    using sandbox = startSandbox()
    expect((await sandbox.get('nothing')).body).toMatchObject({ code: 'not_found', errors: null })
  })

  test('by a method that a path does not take are 405, and the others are told', async () => {
    using sandbox = startSandbox()
    const { status, headers, body } = await sandbox.send('PUT', 'accounts/me/agents', {})
    expect([status, body.code]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST'])
  })

  test('that are no JSON are 400, and without a body 422', async () => {
    using sandbox = startSandbox()
    expect((await sandbox.send('POST', 'accounts/me/agents', '{broken')).status).toBe(400)
    expect((await sandbox.send('POST', 'accounts/me/agents')).status).toBe(422)
  })

  test('that are wrong name every field, with the kind of mistake', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/agents', {
      name: 5,
      volume: { web: 2 },
      model: { provider: 'x' },
      voice: { provider: 'x' },
    })
    expect(status).toBe(422)
    expect(body.code).toBe('validation_error')
    expect(
      Object.fromEntries(
        body.errors.map((one: { field: string; type: string }) => [one.field, one.type]),
      ),
    ).toEqual({
      'body.name': 'type_error',
      'body.model.model': 'missing',
      'body.transcriber': 'missing',
      'body.voice.voice_id': 'missing',
      'body.volume.web': 'value_error',
    })
  })

  test('may hold unknown fields, which are ignored', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/subaccounts', {
      name: 'x',
      brand_new: 1,
    })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('brand_new')
  })

  test('take booleans, numbers and repeated parameters in a query', async () => {
    using sandbox = startSandbox()
    const items = async (query: string) =>
      (await sandbox.get(`accounts/me/agents?${query}`)).body.items.length
    expect(await items('limit=2&offset=1')).toBe(2)
    expect(await items('tags=reminder')).toBe(2)
    expect(await items('tags=reminder&tags=de')).toBe(1)
    expect(await items('tags=reminder,de')).toBe(1)
    expect(await items('tags=reminder,de&tags=en')).toBe(0)
    // What is repeated is not parted once more: a tag may hold a comma.
    expect(await items('tags=reminder,de&tags=reminder')).toBe(0)
    expect((await sandbox.get('accounts/me/agents?limit=x')).body.errors[0].field).toBe(
      'query.limit',
    )
    expect((await sandbox.get('accounts/me/agents?is_archived=maybe')).status).toBe(422)
  })
})

describe('subaccounts', () => {
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

test('everything has a string as name, also where none was given', async () => {
  using sandbox = startSandbox()
  const create = async (path: string, body: object) =>
    (await sandbox.send('POST', `accounts/me/${path}`, body)).body
  const { name: _, ...nameless } = newAgent
  const agent = await create('agents', nameless)
  const silent = await create('sip-trunks', {})
  const number = await create('phone-numbers', {
    sip_trunk_id: silent.id,
    inbound_agent_id: agent.id,
  })
  expect([agent.name, silent.name]).toEqual(['', ''])
  expect(number).toMatchObject({ sip_trunk: { name: '' }, inbound_agent: { name: '' } })
})

describe('agents', () => {
  test('need a model and a voice within model and voice; an update does not', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/agents', {
      ...newAgent,
      model: { provider: 'openai' },
      voice: { provider: 'elevenlabs' },
    })
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([
      { field: 'body.model.model', type: 'missing' },
      { field: 'body.voice.voice_id', type: 'missing' },
    ])
    const change = { model: { temperature: 1 }, voice: { language: 'en-us' } }
    const path = `accounts/me/agents/${supportAgent}`
    expect((await sandbox.send('PATCH', path, change)).status).toBe(200)
  })

  const optional = [
    'name',
    'note',
    'tags',
    'metadata',
    'allow_auto_hangup',
    'allow_caller_recording_opt_out',
    'max_duration_seconds',
    'initial_message',
    'ambient_sound',
    'inactivity_settings',
    'response_timing',
    'interrupt_settings',
    'capture_settings',
    'volume',
    'denoising',
  ]
  const nulls = Object.fromEntries(optional.map((name) => [name, null]))
  const partsWithNulls = {
    model: { ...newAgent.model, max_tokens: null, temperature: null },
    voice: { ...newAgent.voice, language: null, settings: null },
  }

  test('take null for the default when they are created', async () => {
    using sandbox = startSandbox()
    const { name: _, ...least } = newAgent
    const create = async (more: object) =>
      (await sandbox.send('POST', 'accounts/me/agents', { ...least, ...more })).body
    const { id: __, ...plain } = await create({})
    const { id: ___, ...cleared } = await create({ ...nulls, ...partsWithNulls })
    expect(cleared).toEqual(plain)
    expect(Object.keys(plain)).toEqual(expect.arrayContaining(optional))
  })

  test('are back at their defaults where an update says null', async () => {
    using sandbox = startSandbox()
    const { name: _, ...least } = newAgent
    const { body: plain } = await sandbox.send('POST', 'accounts/me/agents', least)
    const path = `accounts/me/agents/${plain.id}`
    await sandbox.send('PATCH', path, {
      name: 'x',
      note: 'x',
      tags: ['x'],
      metadata: { x: null },
      allow_auto_hangup: true,
      allow_caller_recording_opt_out: true,
      max_duration_seconds: 10,
      initial_message: { message: 'x' },
      ambient_sound: { volume: 1 },
      inactivity_settings: { reset_on_activity: false },
      response_timing: { min_endpointing_delay_seconds: 1 },
      interrupt_settings: { enabled: false },
      capture_settings: { recording_enabled: false },
      volume: { web: 0 },
      denoising: { web: false },
      model: { max_tokens: 1, temperature: 1 },
      voice: { language: 'de-de', settings: { speed: 2 } },
    })
    const { body: changed } = await sandbox.get(path)
    for (const name of [...optional, 'model', 'voice']) {
      expect(changed[name], name).not.toEqual(plain[name])
    }
    const { status } = await sandbox.send('PATCH', path, {
      ...nulls,
      model: { max_tokens: null, temperature: null },
      voice: { language: null, settings: null },
    })
    expect(status).toBe(200)
    expect((await sandbox.get(path)).body).toEqual(plain)
  })

  test('are brought back by is_archived false', async () => {
    using sandbox = startSandbox()
    const path = `accounts/me/agents/${supportAgent}`
    await sandbox.send('DELETE', path)
    expect((await sandbox.send('PATCH', path, { note: 'x' })).body.is_archived).toBe(true)
    expect((await sandbox.send('PATCH', path, { is_archived: false })).body.is_archived).toBe(false)
    expect((await sandbox.get('accounts/me/agents')).body.count).toBe(3)
    expect((await sandbox.send('PATCH', path, { is_archived: true })).status).toBe(422)
  })

  test('get every documented default', async () => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.send('POST', 'accounts/me/agents', newAgent)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...newAgent,
      max_duration_seconds: 1200,
      initial_message: { message: '', mode: 'fixed_message', delay_ms: 0, interruptible: false },
      ambient_sound: { source: 'open_plan_office', volume: 0.5 },
      inactivity_settings: {
        reminder_timeout_ms: 10000,
        reminder_max_count: 2,
        end_call_timeout_ms: 305000,
        reset_on_activity: true,
      },
      response_timing: { min_endpointing_delay_seconds: 0.1 },
      interrupt_settings: { enabled: true, min_words: 0, min_speech_seconds: 0.2 },
      capture_settings: { recording_enabled: true },
      volume: { web: 0.5, telephony: 0.5, allow_adjustment: true },
      denoising: { web: true, telephony: true },
    })
  })

  test('are updated in part: absent stays, null clears, only three objects are merged', async () => {
    using sandbox = startSandbox()
    const path = `accounts/me/agents/${supportAgent}`
    const before = (await sandbox.get(path)).body
    sandbox.wait(60)
    const { body } = await sandbox.send('PATCH', path, {
      note: null,
      voice: { settings: { speed: 1.2 } },
      ambient_sound: { source: null },
      volume: { web: 0 },
      metadata: { a: 1 },
    })
    expect(body).toEqual({
      ...before,
      note: null,
      voice: { ...before.voice, settings: { ...before.voice.settings, speed: 1.2 } },
      ambient_sound: { source: null, volume: 0.5 },
      volume: { web: 0, telephony: 0.5, allow_adjustment: true },
      metadata: { a: 1 },
      modified: new Date(sandbox.now()).toISOString(),
    })
    await sandbox.send('PATCH', path, { volume: { telephony: 1 } })
    expect((await sandbox.get(path)).body.volume).toMatchObject({ web: 0.5, telephony: 1 })
    const replaced = await sandbox.send('PATCH', path, { metadata: { b: 2 } })
    expect(replaced.body.metadata).toEqual({ b: 2 })
    expect((await sandbox.get(path)).body).toEqual(replaced.body)
  })

  test('are left out of lists once archived, unless asked for', async () => {
    using sandbox = startSandbox()
    expect((await sandbox.send('DELETE', `accounts/me/agents/${supportAgent}`)).status).toBe(204)
    const count = async (query = '') =>
      (await sandbox.get(`accounts/me/agents?${query}`)).body.count
    expect(await count()).toBe(2)
    expect(await count('include_archived=true')).toBe(3)
    expect(await count('is_archived=true')).toBe(1)
    expect((await sandbox.get(`accounts/me/agents/${supportAgent}`)).body.is_archived).toBe(true)
  })

  test('are found by part of the name in any case, and by dates', async () => {
    using sandbox = startSandbox()
    await sandbox.send('POST', 'accounts/me/agents', { ...newAgent, name: 'Überprüfung' })
    const count = async (query: string) =>
      (await sandbox.get(`accounts/me/agents?${query}`)).body.count
    expect(await count(`name=${encodeURIComponent('ÜBERPRÜ')}`)).toBe(1)
    const at = encodeURIComponent(new Date(sandbox.now()).toISOString())
    expect(await count(`created_ge=${at}`)).toBe(1)
    expect(await count(`created_gt=${at}`)).toBe(0)
    expect(await count(`created_lt=${at}`)).toBe(3)
    expect(await count(`modified_le=${at}`)).toBe(4)
  })
})

describe('templates', () => {
  const validate = async (template: string, allowed_variables?: string[]) => {
    using sandbox = startSandbox()
    const sent = { template, ...(allowed_variables && { allowed_variables }) }
    return (await sandbox.send('POST', 'accounts/me/agents/validate-template', sent)).body
  }

  test('that are right say what they read', async () => {
    expect(await validate('Hi {{ contact.first_name }} {{ dyn_reason }} {{ contact }}')).toEqual({
      valid: true,
      errors: [],
      warnings: [],
      variables: ['contact.first_name', 'dyn_reason', 'contact'],
      unknown_variables: [],
    })
  })

  test('that read unknown variables are valid, with a warning and its line', async () => {
    const result = await validate('Hi\n{{ order.id }}')
    expect(result).toMatchObject({ valid: true, unknown_variables: ['order.id'] })
    expect(result.warnings[0]).toMatchObject({
      type: 'unknown_variable',
      line: 2,
      variable: 'order.id',
    })
    expect((await validate('{{ order.id }}', ['order'])).warnings).toEqual([])
  })

  test('that cannot be rendered say where', async () => {
    const result = await validate('Hi\n{% if x %}')
    expect(result.valid).toBe(false)
    expect(result.errors[0]).toMatchObject({ type: 'syntax_error', line: 2 })
  })
})

describe('numbers and trunks', () => {
  test('a trunk with numbers cannot be deleted, and says which they are', async () => {
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
  ])('calls can be sent to %s', async (termination_uri) => {
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
  ])('and not to %s', async (termination_uri) => {
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

  test('take null for the default, or clear with it', async () => {
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
    const path = `subaccounts/${subaccount}`
    await update(path, { is_active: false })
    expect(await update(path, { name: null, is_active: null })).toMatchObject({
      name: '',
      is_active: true,
    })
  })

  test('without a number one is given that the account does not have', async () => {
    using sandbox = startSandbox()
    const given = async () =>
      (await sandbox.send('POST', 'accounts/me/phone-numbers', { sip_trunk_id: trunk })).body
    const [first, second] = [await given(), await given()]
    expect(first.number).toMatch(/^\+1\d{3}55501\d\d$/)
    expect(second.number).toMatch(/^\+1\d{3}55501\d\d$/)
    expect(second.number).not.toBe(first.number)
  })

  test('a number is unique in its account, and links only to what is there', async () => {
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
      expect(body.detail).toMatch(new RegExp(`^body\\.${field}: no .* with id none`))
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

describe('calls', () => {
  const phone = { type: 'phone', agent_id: supportAgent, from_number, to_number: '+12025550100' }

  test('live by the clock: waiting, answered, talking, completed', async () => {
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

  test('with an external_id that was used return the first, 200', async () => {
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
    expect(body.detail).toBe('body.agent_id: no agent with id none in this account.')
  })

  test('need a trunk that can dial out, and an agent that is not archived', async () => {
    using sandbox = startSandbox()
    const place = async () => (await sandbox.send('POST', 'accounts/me/calls', phone)).body
    await sandbox.send('PATCH', `accounts/me/sip-trunks/${trunk}`, { termination_uri: null })
    expect((await place()).errors[0].message).toMatch(/no termination URI/)
    await sandbox.send('PATCH', `accounts/me/phone-numbers/${mainNumber}`, { sip_trunk_id: null })
    expect((await place()).errors[0].message).toMatch(/on no SIP trunk/)
    await sandbox.send('DELETE', `accounts/me/agents/${supportAgent}`)
    expect((await place()).errors[0].message).toMatch(/archived/)
  })

  test('on the web return what is needed to join', async () => {
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

  test('tell their greeting the medium that they were given, else their type', async () => {
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

  test('say so when their greeting cannot be rendered', async () => {
    using sandbox = startSandbox()
    const overrides = { initial_message: { message: 'Hi {{ nobody.home }}' } }
    const { body } = await sandbox.send('POST', 'accounts/me/calls', { ...phone, overrides })
    sandbox.wait(4000)
    const { messages } = (await sandbox.get(`accounts/me/calls/${body.id}`)).body
    expect(messages[1]).toMatchObject({
      role: 'event',
      message: expect.stringMatching(/could not be rendered/),
    })
  })

  test("end at the agent's longest duration", async () => {
    using sandbox = startSandbox()
    const overrides = { max_duration_seconds: 10 }
    const { body } = await sandbox.send('POST', 'accounts/me/calls', { ...phone, overrides })
    sandbox.wait(4000)
    const { body: ended } = await sandbox.get(`accounts/me/calls/${body.id}`)
    expect(ended.duration_seconds).toBe(10)
    expect(ended.messages.at(-1).message).toMatch(/longest duration/)
  })

  const said = async (to_number: string, overrides: object) => {
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

  test('open as initial_message says', async () => {
    const first = async (more: object) => (await said('+12025550100', hi(more))).lines[0]
    expect(await first({})).toBe('0 agent: Hi there, Sam')
    expect(await first({ delay_ms: 2500 })).toBe('2.5 agent: Hi there, Sam')
    expect(await first({ mode: 'user_first' })).toBe('0 user: Hello, who is this?')
    expect(await first({ mode: 'dynamic_message' })).toMatch(/event: The message stands in/)
  })

  test('remind a silent caller and hang up, as inactivity_settings say', async () => {
    const inactivity = {
      reminder_timeout_ms: 5000,
      reminder_max_count: 2,
      end_call_timeout_ms: 30_000,
    }
    const { lines, seconds } = await said('+12025550108', {
      ...hi(),
      inactivity_settings: inactivity,
    })
    expect(lines).toEqual([
      '0 agent: Hi there, Sam',
      '7 agent: Are you still there?',
      '14 agent: Are you still there?',
      '32 event: The caller was silent for too long: the agent hung up.',
    ])
    expect(seconds).toBe(32)
    const never = { reminder_timeout_ms: null, end_call_timeout_ms: null }
    const patient = await said('+12025550108', {
      ...hi(),
      inactivity_settings: never,
      max_duration_seconds: 50,
    })
    expect(patient.lines).toEqual([
      '0 agent: Hi there, Sam',
      '50 event: The longest duration is over.',
    ])
  })

  test('let themselves be interrupted, as interrupt_settings and interruptible say', async () => {
    const roles = async (overrides: object) =>
      (await said('+12025550109', { ...hi(), ...overrides })).lines.map((text) =>
        text.replace(/^\S+ /, ''),
      )
    expect(await roles({})).toEqual([
      'agent: Hi there, Sam',
      'event: The caller talked over the greeting, which is not interruptible.',
      'agent: I only wanted to –',
      'event: The caller interrupted the agent.',
      'user: Sorry, wrong number!',
      'event: The caller hung up.',
    ])
    expect((await roles(hi({ interruptible: true }))).slice(0, 2)).toEqual([
      'agent: Hi there, –',
      'event: The caller interrupted the agent.',
    ])
    for (const interrupt_settings of [
      { enabled: false },
      { min_words: 4 },
      { min_speech_seconds: 9 },
    ]) {
      expect(await roles({ interrupt_settings })).toContain(
        'event: The caller talked over the agent, too briefly to interrupt it.',
      )
    }
  })

  test('are filtered by what each of them says', async () => {
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
    // A call changes after it was created, so this one changed after that instant.
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

  test('of a subaccount are among the conversations above it, but not among its calls', async () => {
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

describe('usage', () => {
  test('adds up to the same, whatever the zone, the buckets and the groups', async () => {
    using sandbox = startSandbox()
    const listed = (await sandbox.get('accounts/me/conversations?status=completed&limit=1000')).body
      .items
    const since = sandbox.now() - 20 * 86_400_000
    const wanted = listed.filter(
      ({ start_timestamp }: { start_timestamp: string }) => Date.parse(start_timestamp) >= since,
    )
    const seconds = wanted.reduce(
      (sum: number, one: { duration_seconds: number }) => sum + one.duration_seconds,
      0,
    )
    const start = encodeURIComponent(new Date(since).toISOString())
    for (const tz of ['UTC', 'Australia/Lord_Howe', 'Asia/Kathmandu'])
      for (const granularity of ['hour', 'day', 'month'])
        for (const group of ['', '&group_by=agent', '&group_by=agent,type&group_by=subaccount']) {
          const { body } = await sandbox.get(
            `accounts/me/analytics/usage?start=${start}&tz=${tz}&granularity=${granularity}${group}`,
          )
          const values = body.data.flatMap((bucket: { values: object[] }) => bucket.values)
          const sum = (field: string) =>
            values.reduce(
              (total: number, value: Record<string, number>) => total + (value[field] ?? 0),
              0,
            )
          expect([sum('conversations'), sum('seconds')]).toEqual([wanted.length, seconds])
        }
  })

  test('is split by what it is grouped by', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get(
      'accounts/me/analytics/usage?granularity=month&group_by=agent,type',
    )
    const values = body.data.flatMap((bucket: { values: object[] }) => bucket.values)
    const keys = values.map(({ dimensions }: { dimensions: object }) =>
      Object.keys(dimensions).join(),
    )
    expect(new Set(keys)).toEqual(new Set(['agent,type']))
    const [month] = body.data.slice(-1)
    const groups = month.values.map(({ dimensions }: { dimensions: object }) =>
      JSON.stringify(dimensions),
    )
    expect(new Set(groups).size).toBe(groups.length)
    expect(groups.length).toBeGreaterThan(3)
  })

  test('covers thirty days by day when not told', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get('accounts/me/analytics/usage')
    expect(body.meta).toMatchObject({
      start: '2026-10-22T12:00:00Z',
      end: '2026-11-21T12:00:00Z',
      granularity: 'day',
    })
    expect(body.data).toHaveLength(31)
  })

  test('has empty buckets, the newest first to be kept, and null dimensions when ungrouped', async () => {
    using sandbox = startSandbox()
    const { body } = await sandbox.get('accounts/me/analytics/usage?granularity=hour&limit=3')
    expect(body.data.map(({ ts }: { ts: string }) => ts)).toEqual([
      '2026-11-21T09:00:00Z',
      '2026-11-21T10:00:00Z',
      '2026-11-21T11:00:00Z',
    ])
    expect(body.data[0].values).toEqual([{ seconds: 0, conversations: 0, dimensions: null }])
    expect(body.meta).toMatchObject({
      account_id: account,
      granularity: 'hour',
      group_by: [],
      tz: 'UTC',
    })
  })

  test.each([
    ['tz=Mars%2FOlympus', 'query.tz'],
    ['tz=%2B02:00', 'query.tz'],
    ['limit=501', 'query.limit'],
    ['group_by=agent,phone', 'query.group_by.1'],
    ['start=2026-11-02T00:00:00Z&end=2026-11-01T00:00:00Z', 'query.start'],
  ])('%s is refused by its field', async (query, field) => {
    using sandbox = startSandbox()
    const { status, body } = await sandbox.get(`accounts/me/analytics/usage?${query}`)
    expect(status).toBe(422)
    expect(body.errors[0].field).toBe(field)
  })
})

test('the OpenAPI document is served, without a key', async () => {
  using sandbox = startSandbox()
  const { status, body } = await sandbox.send('GET', 'openapi.json', undefined, { key: null })
  expect(status).toBe(200)
  expect(Object.keys(body.paths)).toContain('/v1/accounts/{account_id}/calls')
})

describe('a new sandbox', () => {
  test('has something to show for every tool', async () => {
    using sandbox = startSandbox()
    const count = async (path: string) => (await sandbox.get(`accounts/me/${path}`)).body.count
    expect(await count('subaccounts')).toBe(2)
    expect(await count('agents')).toBe(3)
    expect(await count('sip-trunks')).toBe(2)
    expect(await count('phone-numbers')).toBe(3)
    const { items } = (await sandbox.get('accounts/me/conversations?limit=1000')).body
    const starts = items.map((one: { start_timestamp: string }) => Date.parse(one.start_timestamp))
    expect((Math.max(...starts) - Math.min(...starts)) / 86_400_000).toBeGreaterThan(58)
  })

  test('has three voice providers with at least twenty voices each', async () => {
    using sandbox = startSandbox()
    for (const provider of ['elevenlabs', 'azure', 'cartesia']) {
      const { body } = await sandbox.get(`accounts/me/providers/voices?provider=${provider}`)
      expect(body.voices.length).toBeGreaterThanOrEqual(20)
      const ids = body.voices.map(({ id }: { id: string }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('catalogs', () => {
  test("hold what the platform's own examples use", async () => {
    using sandbox = startSandbox()
    const models = async (path: string, provider: string) => {
      const { body } = await sandbox.get(`accounts/me/providers/${path}`)
      const entry = body.find(
        (one: { provider: { code: string } }) => one.provider.code === provider,
      )
      return entry.models.map(({ id }: { id: string }) => id)
    }
    for (const provider of ['openai', 'azure_openai', 'anthropic']) {
      expect(await models('models', provider)).not.toEqual([])
    }
    expect(await models('models', 'azure_openai')).toContain('gpt-5-mini')
    for (const provider of ['azure', 'deepgram', 'cartesia', 'elevenlabs']) {
      expect(await models('transcribers', provider)).not.toEqual([])
    }
    expect(await models('transcribers', 'deepgram')).toContain('nova-3:general')
    const { body } = await sandbox.get('accounts/me/providers/voices?provider=elevenlabs')
    expect(body.voices).toContainEqual(expect.objectContaining({ id: 'pMsXgVXv3BLzUgSXRplE' }))
  })

  test('voices are filtered and limited, and an unknown provider is told the known ones', async () => {
    using sandbox = startSandbox()
    const voices = async (query: string) =>
      (await sandbox.get(`accounts/me/providers/voices?${query}`)).body
    expect((await voices('provider=elevenlabs&language=de')).count).toBe(3)
    expect((await voices('provider=elevenlabs&language=DE_de&gender=female')).voices).toHaveLength(
      1,
    )
    expect((await voices('provider=azure&search=polite')).voices[0].name).toBe('Sonia')
    expect((await voices('provider=azure&limit=2')).voices).toHaveLength(2)
    expect((await voices('provider=none')).errors[0].message).toMatch(/azure, cartesia/)
  })
})
