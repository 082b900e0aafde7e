import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { type FakePlatform, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startPlatformProgram } from '../../harness/program.ts'
import { sandboxKeys } from '../../harness/sandbox.ts'
import { newAgent } from '../../harness/story.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

let made = 0
const makeAgent = async (more: object = {}) =>
  client.value('create_agent', { ...newAgent, name: `Agent ${made++}`, ...more })

const textOf = async (args: Record<string, unknown>) =>
  (await client.call('update_agent', args)).content[0]?.text ?? ''

describe('update_agent', () => {
  test('changes a part of a nested object and leaves its neighbours alone', async () => {
    const { id: agent_id } = await makeAgent({
      voice: { ...newAgent.voice, settings: { speed: 1, stability: 0.4 } },
      inactivity_settings: { reminder_max_count: 7 },
    })
    const { changes, applied } = await client.value('update_agent', {
      agent_id,
      voice: { settings: { speed: 1.2 } },
      inactivity_settings: { reset_on_activity: false },
    })
    expect(applied).toBe(true)
    expect(changes).toEqual([
      { field: 'voice.settings.speed', before: 1, after: 1.2 },
      { field: 'inactivity_settings.reset_on_activity', before: true, after: false },
    ])
    expect(await client.value('get_agent', { agent_id })).toMatchObject({
      voice: { voice_id: newAgent.voice.voice_id, settings: { speed: 1.2, stability: 0.4 } },
      inactivity_settings: { reminder_max_count: 7, reset_on_activity: false },
    })
  })

  test('clears what is named, and takes keys out of metadata', async () => {
    const { id: agent_id } = await makeAgent({
      note: 'Old',
      metadata: { keep: 1, drop: 2, deep: { keep: null, drop: 3 }, 'a.b': { c: 4 } },
      ambient_sound: { source: 'ac_fan', volume: 0.2 },
    })
    const change = {
      agent_id,
      metadata: { more: null },
      clear: [
        'note',
        'ambient_sound.source',
        'metadata.drop',
        'metadata.deep.drop',
        'metadata.a.b',
      ],
    }
    const changes = [
      { field: 'metadata.drop', before: 2 },
      { field: 'metadata.deep.drop', before: 3 },
      { field: 'metadata.a.b', before: { c: 4 } },
      { field: 'metadata.more', after: null },
      { field: 'note', before: 'Old', after: null },
      { field: 'ambient_sound.source', before: 'ac_fan', after: null },
    ]
    const dry = await client.call('update_agent', { ...change, dry_run: true })
    expect(dry.structuredContent?.changes).toEqual(changes)
    expect(dry.content[0]?.text).toContain('metadata.drop: 2 → nothing')
    expect(dry.content[0]?.text).toContain('note: "Old" → null')
    const done = await client.value('update_agent', change)
    expect(done.changes).toHaveLength(changes.length)
    expect(done.changes).toEqual(expect.arrayContaining(changes))
    expect(done.warnings).toEqual([])
    expect(await client.value('get_agent', { agent_id })).toMatchObject({
      note: null,
      metadata: { keep: 1, deep: { keep: null }, more: null },
      ambient_sound: { source: null, volume: 0.2 },
    })
    const { metadata } = await client.value('get_agent', { agent_id })
    expect(metadata).toEqual({ keep: 1, deep: { keep: null }, more: null })
  })

  test('shows what a field that is cleared is afterwards: the default of the platform', async () => {
    const { id: agent_id } = await makeAgent({
      tags: ['a'],
      volume: { web: 0.8 },
      max_duration_seconds: 60,
    })
    const clear = ['volume', 'max_duration_seconds', 'tags']
    const dry = await textOf({ agent_id, clear, dry_run: true })
    expect(dry).toContain('max_duration_seconds: 60 → null')
    const { changes, warnings } = await client.value('update_agent', { agent_id, clear })
    expect(changes).toHaveLength(3)
    expect(changes).toEqual(
      expect.arrayContaining([
        { field: 'volume.web', before: 0.8, after: 0.5 },
        { field: 'max_duration_seconds', before: 60, after: 1200 },
        { field: 'tags', before: ['a'], after: [] },
      ]),
    )
    expect(warnings).toEqual([])
    const again = await client.value('update_agent', { agent_id, clear: ['max_duration_seconds'] })
    expect(again.warnings).toEqual([
      'max_duration_seconds: the platform still has 1200, which may be its default',
    ])
  })

  test('told to take out a key that is not there says so, with the nearest that is', async () => {
    const { id: agent_id } = await makeAgent({ metadata: { customer: { tier: 1 } } })
    const text = await textOf({ agent_id, note: 'x', clear: ['metadata.customer.teir'] })
    expect(text).toMatch(/^Updated agent/)
    expect(text).toContain(
      'Warning: clear: there is no metadata.customer.teir; did you mean metadata.customer.tier?',
    )
    // Asking again for what is done already is no mistake.
    await textOf({ agent_id, clear: ['metadata.customer'] })
    expect(await textOf({ agent_id, clear: ['metadata.customer'] })).toMatch(/^Nothing to change/)
  })

  test('does not guess which of two keys is meant', async () => {
    const { id: agent_id } = await makeAgent({ metadata: { 'a.b': 1, a: { b: 2 } } })
    const text = await textOf({ agent_id, clear: ['metadata.a.b'] })
    expect(text).toContain('clear: two keys match a.b: ["a.b"] and ["a","b"]')
  })

  test('says which nulls it ignored', async () => {
    const { id: agent_id } = await makeAgent({ note: 'kept' })
    const text = await textOf({ agent_id, name: 'Named', note: null, voice: { language: null } })
    expect(text).toMatch(/^Ignored nulls: note, voice\.language\. .*name fields in clear/m)
    expect(await client.value('get_agent', { agent_id })).toMatchObject({ note: 'kept' })
  })

  test('shows with dry_run what would change, and saves nothing', async () => {
    const before = await makeAgent()
    const text = await textOf({ agent_id: before.id, note: 'New', dry_run: true })
    expect(text).toMatch(/^Dry run, nothing saved/)
    expect(text).toContain('note: null → "New"')
    const { account_id: _, ...stored } = await client.value('get_agent', { agent_id: before.id })
    expect(before).toMatchObject(stored)
  })

  test('refuses when somebody else changed the agent since', async () => {
    const { id: agent_id, modified } = await makeAgent()
    const expected = { agent_id, expected_modified: modified }
    const changed = await client.value('update_agent', { ...expected, note: 'first' })
    const late = await client.call('update_agent', { ...expected, note: 'second' })
    expect(late.isError).toBe(true)
    expect(late.content[0]?.text).toMatch(/was changed since: modified is .+ nothing was sent/)
    expect(late._meta?.['voice-agent-mcp/error']).toMatchObject({ kind: 'conflict' })
    expect((await client.value('get_agent', { agent_id })).note).toBe('first')
    const next = { agent_id, expected_modified: changed.modified, note: 'second' }
    expect(await client.value('update_agent', next)).toMatchObject({ applied: true })
  })

  test('says so when there is nothing to change', async () => {
    const { id: agent_id, name } = await makeAgent()
    expect(await textOf({ agent_id, name })).toMatch(
      /^Nothing to change: agent .* has these values already/,
    )
  })

  test('validates a changed greeting first, and tells the lines that are wrong', async () => {
    const { id: agent_id } = await makeAgent({ note: 'kept' })
    const message = 'Hello\n{% if contact.first_name %}\nyou'
    const text = await textOf({ agent_id, note: 'lost?', initial_message: { message } })
    expect(text).toMatch(/^update_agent failed: .*nothing was sent/)
    expect(text).toMatch(/- initial_message\.message: line \d+: /)
    expect((await client.value('get_agent', { agent_id })).note).toBe('kept')
    const odd = await textOf({ agent_id, initial_message: { message: 'Hi {{ custmer.name }}' } })
    expect(odd).toMatch(/^Updated agent/)
    expect(odd).toMatch(/Warning: initial_message\.message .*custmer/)
  })
})

describe('what was stored before, by other means,', () => {
  const model = { provider: 'openai', model: 'gpt-4.1-2024', temperature: 0.2 }
  const stored = {
    model,
    transcriber: { ...newAgent.transcriber, languages: ['en-UX'] },
    voice: { ...newAgent.voice, voice_id: 'sbx-en-us-adam' },
    initial_message: { message: 'Hi {{ contact.first_name ' },
  }
  let sandbox: Awaited<ReturnType<typeof startPlatformProgram>>
  let old: TestClient
  let agent_id: string
  beforeAll(async () => {
    sandbox = await startPlatformProgram()
    const reply = await fetch(`${sandbox.url}/v1/accounts/me/agents`, {
      method: 'POST',
      headers: { 'x-api-key': sandboxKeys.main, 'content-type': 'application/json' },
      body: JSON.stringify({ ...newAgent, ...stored }),
    })
    agent_id = String(Object(await reply.json()).id)
    old = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: sandboxKeys.main, VOICE_AGENT_BASE_URL: sandbox.url },
    })
  })
  afterAll(async () => {
    await old[Symbol.asyncDispose]()
    await sandbox[Symbol.asyncDispose]()
  })
  const change = (more: object) => old.call('update_agent', { agent_id, dry_run: true, ...more })

  test.each([
    { voice: { settings: { speed: 1.1 } } },
    { model: { temperature: 0.4 } },
    { transcriber: { keywords: ['Acme'] } },
    { transcriber: { languages: ['en-UX', 'en-us'] } },
    { initial_message: { interruptible: true } },
  ])('is not judged when something beside it changes: %j', async (more) => {
    const result = await change(more)
    expect(result.isError, result.content[0]?.text).toBeFalsy()
    expect(result.structuredContent?.warnings).toEqual([])
  })

  test.each<[object, RegExp]>([
    [{ voice: { voice_id: 'sbx-en-us-adb' } }, /voice\.voice_id: there is no sbx-en-us-adb/],
    [{ model: { model: 'gpt-4.l' } }, /model\.model: there is no gpt-4\.l/],
    [{ transcriber: { languages: ['en-UX', 'de-DX'] } }, /transcriber\.language: .*no de-DX;/],
    [{ transcriber: { model: 'nova-3' } }, /transcriber\.language: .*no en-UX/],
    [{ initial_message: { message: '{{ x ' } }, /initial_message\.message: line 1/],
  ])('does not keep what is new from being judged: %j', async (more, told) => {
    const result = await change(more)
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(told)
  })

  test('is judged anew where its provider changes', async () => {
    const result = await change({ voice: { provider: 'cartesia' } })
    expect(result.structuredContent?.warnings).toEqual([
      expect.stringMatching(/^voice\.voice_id: sbx-en-us-adam is not in the catalog/),
    ])
  })
})

describe('what does not exist', () => {
  const failing = async (more: object) => {
    const result = await client.call('create_agent', { ...newAgent, ...more })
    expect(result.isError).toBe(true)
    return result.content[0]?.text ?? ''
  }

  test.each([
    [
      { model: { provider: 'opanai', model: 'gpt-4.1' } },
      /model\.provider: there is no opanai; did you mean .*openai/,
    ],
    [
      { model: { provider: 'openai', model: 'gpt-4.l' } },
      /model\.model: there is no gpt-4\.l; did you mean .*gpt-4\.1/,
    ],
    [
      { transcriber: { provider: 'deepgram', model: 'nova2' } },
      /transcriber\.model: there is no nova2; did you mean .*nova-2/,
    ],
    [
      { voice: { provider: 'elevenlabs', voice_id: 'Ada' } },
      /voice\.voice_id: there is no Ada; did you mean .*sbx-en-us-ada/,
    ],
    [
      { model: { provider: 'OpenAI', model: 'gpt-4.l' } },
      /model\.provider: there is no OpenAI; it is written openai\n- model\.model: there is no gpt-4\.l; did you mean .*gpt-4\.1/,
    ],
    [
      { model: { provider: 'openai', model: 'GPT-4.1' } },
      /model\.model: there is no GPT-4\.1; it is written gpt-4\.1/,
    ],
    [
      { transcriber: { provider: 'Deepgram', model: 'nova-2', languages: ['EN-us', 'en-uk'] } },
      /transcriber\.provider: .*written deepgram\n- transcriber\.language: there is no en-uk/,
    ],
    [
      { voice: { provider: 'ElevenLabs', voice_id: 'sbx-en-us-ada' } },
      /voice\.provider: there is no ElevenLabs; it is written elevenlabs/,
    ],
    [
      { voice: { provider: 'elevenlab', voice_id: 'x' } },
      /voice\.provider: .*did you mean elevenlabs/,
    ],
  ])('%j is answered with what does', async (more, told) => {
    const before = (await client.value('list_agents')).total
    expect(await failing(more)).toMatch(told)
    expect((await client.value('list_agents')).total).toBe(before)
  })

  test('but is like nothing there is passed on with a warning: it may be the customer’s own', async () => {
    const model = { provider: 'openai', model: 'ft:my-company:support-2026-11' }
    const result = await client.call('create_agent', { ...newAgent, model })
    expect(result.isError).toBeFalsy()
    expect(result.content[0]?.text).toMatch(/Warning: model\.model: .* not in the catalog/)
    expect(result.structuredContent).toMatchObject({ warnings: [expect.any(String)] })
  })

  test.each([
    ['get_agent', { agent_id: 'Suport line' }, /Did you mean Support line \(/],
    ['archive_agent', { agent_id: 'no such thing at all' }, /There are|Some that exist/],
    ['get_sip_trunk', { sip_trunk_id: 'office trunk' }, /Did you mean Office trunk \(/],
    [
      'get_phone_number',
      { phone_number_id: '+12025550111' },
      /Did you mean .*\+12025550110|\(0000/,
    ],
    ['get_subaccount', { subaccount_id: 'Berlin' }, /There are|Did you mean/],
    [
      'update_phone_number',
      { phone_number_id: '00000000-0000-4000-8004-000000000001', inbound_agent_id: 'Suport line' },
      /inbound_agent_id: .*Did you mean Support line/,
    ],
  ])('%s %j is told the nearest', async (name, args, told) => {
    const result = await client.call(name, args)
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(told)
  })
})

describe("an agent's exact name", () => {
  test('is taken wherever its id is', async () => {
    const { id, name } = await makeAgent()
    expect(await client.value('get_agent', { agent_id: name })).toMatchObject({ id })
    expect(await client.value('update_agent', { agent_id: name, note: 'x' })).toMatchObject({
      agent_id: id,
    })
    const { items } = await client.value('list_phone_numbers')
    const [number] = items as { id: string; inbound_agent: unknown }[]
    const phone_number_id = number?.id
    await client.value('update_phone_number', { phone_number_id, inbound_agent_id: name })
    expect(await client.value('get_phone_number', { phone_number_id })).toMatchObject({
      inbound_agent: { id },
    })
    expect(await client.value('list_calls', { agent_id: name })).toMatchObject({ total: 0 })
    await client.value('archive_agent', { agent_id: name })
    expect(await client.value('get_agent', { agent_id: id })).toMatchObject({ is_archived: true })
  })

  test('is not guessed at when two agents have it', async () => {
    const name = 'Twin'
    const ids = [await makeAgent({ name }), await makeAgent({ name })].map(({ id }) => String(id))
    const result = await client.call('get_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const id of ids) expect(result.content[0]?.text).toContain(id)
  })

  test('is not guessed at when its twin is behind hundreds of others', async () => {
    const name = 'Bot'
    const older = await makeAgent({ name })
    for (let at = 0; at < 101; at++) await makeAgent({ name: `Bot ${at}` })
    const newer = await makeAgent({ name })
    const result = await client.call('archive_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const { id } of [older, newer]) expect(result.content[0]?.text).toContain(id)
  })

  test('is not taken where not all agents could be read, or the platform repeats itself', async () => {
    const agent = (id: number) => ({ id: `agent-${id}`, name: 'Bot' })
    let page = 0
    await using platform = await startFakePlatform(
      (_, res) => json(res, 200, { count: 1e6, items: [{ ...agent(page), name: `x${page++}` }] }),
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    const endless = await wired.call('get_agent', { agent_id: 'Bot' })
    expect(endless.isError).toBe(true)
    expect(endless.content[0]?.text).toMatch(/not certain which one is meant; give the id/)
    platform.behave(({ url }, res) =>
      json(res, 200, url.includes('/agents/') ? agent(1) : { items: [agent(1)] }),
    )
    expect(await wired.value('get_agent', { agent_id: 'Bot' })).toMatchObject({ id: 'agent-1' })
  })
})

describe('on the wire', () => {
  const stored = {
    id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11',
    name: 'Wired',
    modified: '2026-11-01T00:00:00Z',
    voice: {
      provider: 'azure',
      voice_id: 'v',
      settings: { speed: 1, stability: 0.5 },
      new_field: 1,
    },
    volume: { web: 0.5, telephony: 0.5, allow_adjustment: true },
    tags: ['a'],
    metadata: {},
  }
  let platform: FakePlatform
  let wired: TestClient
  beforeAll(async () => {
    platform = await startFakePlatform(
      ({ method, url }, res) =>
        json(res, 200, url.includes('voices') ? { voices: [] } : { ...stored, method }),
      { account: 'own' },
    )
    wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
  })
  afterAll(async () => {
    await wired[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })

  const sent = async (change: object) => {
    platform.seen.length = 0
    const result = await wired.call('update_agent', { agent_id: stored.id, ...change })
    const patches = platform.seen.filter(({ method }) => method === 'PATCH')
    return { result, bodies: patches.map(({ body }) => JSON.parse(body)) }
  }

  test('only what differs is sent, objects that the platform replaces whole', async () => {
    const { bodies } = await sent({
      name: 'Wired',
      tags: ['a'],
      voice: { settings: { speed: 1.5 } },
      volume: { web: 1 },
    })
    expect(bodies).toEqual([
      {
        voice: { settings: { speed: 1.5, stability: 0.5 } },
        volume: { web: 1, telephony: 0.5, allow_adjustment: true },
      },
    ])
  })

  test('what is cleared is sent as null, and nothing else is', async () => {
    const { bodies } = await sent({
      volume: { web: null, telephony: 1 },
      clear: ['note', 'ambient_sound.source', 'voice.new_field', 'metadata.key'],
    })
    expect(bodies).toEqual([
      {
        volume: { web: 0.5, telephony: 1, allow_adjustment: true },
        note: null,
        ambient_sound: { source: null },
        voice: { new_field: null },
      },
    ])
  })

  test('metadata is sent whole without the key that is taken out', async () => {
    stored.metadata = { keep: null, drop: 1 }
    const { bodies } = await sent({ clear: ['metadata.drop'] })
    expect(bodies).toEqual([{ metadata: { keep: null } }])
  })

  test('a field that is cleared and keeps its value is told; it may be its default', async () => {
    const { result } = await sent({ clear: ['voice.new_field'] })
    expect(result.structuredContent?.warnings).toEqual([
      'voice.new_field: the platform still has 1, which may be its default',
    ])
  })

  test('a change that the platform did not take is told', async () => {
    const { result } = await sent({ volume: { web: 1 } })
    expect(result.content[0]?.text).toMatch(/Warning: volume\.web: the platform has 0\.5, not 1/)
  })
})
