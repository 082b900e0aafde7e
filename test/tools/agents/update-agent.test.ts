import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import {
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../../harness/fake-platform.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

let made = 0
const makeAgent = async (more: object = {}) =>
  client.value('create_agent', { ...newAgent, name: `Agent ${made++}`, ...more })

const update = (args: Record<string, unknown>) => client.value('update_agent', args)

const textOf = async (args: Record<string, unknown>) =>
  (await client.call('update_agent', args)).content[0]?.text ?? ''

/** Matcher of a warning that the platform stored this value instead of the sent one. */
const keeps = (field: string, value: unknown) =>
  expect.stringMatching(new RegExp(`^${field}: .* ${JSON.stringify(value)},`))

describe('update_agent', () => {
  test('shows each given field as saved, changed or not', async () => {
    const { id: agent_id } = await makeAgent({ max_duration_seconds: 600 })
    const given = { max_duration_seconds: 600, initial_message: { mode: 'fixed_message' } }
    const text = await textOf({ agent_id, ...given, note: 'N', tags: ['a'] })
    expect(text).toContain('note: null → "N"')
    expect(text).toContain(
      'As before: max_duration_seconds 600, initial_message.mode "fixed_message".',
    )
    const changed = await textOf({ agent_id, metadata: { crm: { id: 1 } } })
    expect(changed).toContain('metadata.crm: nothing → {"id":1}')
    expect(changed).not.toContain('As before')
    const inPart = await textOf({ agent_id, metadata: { crm: { id: 1 }, 'a.b': 2 } })
    expect(inPart).toContain('As before: metadata.crm {"id":1}.')
    const again = await textOf({ agent_id, tags: ['a'] })
    expect(again).toContain('As before: tags ["a"].')
  })

  test('shows how long a shortened value is, without its quotation marks', async () => {
    const { id: agent_id } = await makeAgent({ note: `"${'n'.repeat(599)}` })
    const text = await textOf({ agent_id, note: 'N'.repeat(500) })
    expect(text).toContain(`${'n'.repeat(499)}"… (600 characters) → "${'N'.repeat(500)}"\n`)
  })

  test('changes one field of a nested object and keeps the others', async () => {
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

  test('clears the named fields, and removes keys from metadata', async () => {
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

  test('shows the value of a cleared field afterwards: the default of the platform', async () => {
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
    expect(again.warnings).toEqual([keeps('max_duration_seconds', 1200)])
  })

  test('warns that a key to clear does not exist, and names the closest one', async () => {
    const { id: agent_id } = await makeAgent({ metadata: { customer: { tier: 1 } } })
    expect(await update({ agent_id, note: 'x', clear: ['metadata.customer.teir'] })).toMatchObject({
      applied: true,
      warnings: [
        expect.stringMatching(/^clear: .*metadata\.customer\.teir\b.*metadata\.customer\.tier\b/),
      ],
    })
    // A repeated request succeeds.
    await update({ agent_id, clear: ['metadata.customer'] })
    expect(await update({ agent_id, clear: ['metadata.customer'] })).toMatchObject({
      applied: false,
      changes: [],
    })
  })

  test('refuses a path that matches two keys', async () => {
    const { id: agent_id } = await makeAgent({ metadata: { 'a.b': 1, a: { b: 2 } } })
    const result = await client.call('update_agent', { agent_id, clear: ['metadata.a.b'] })
    const { kind, fields } = errorOf(result)
    expect(kind).toBe('bad_arguments')
    expect(fields).toEqual([
      { argument: 'clear', message: expect.stringMatching(/\["a\.b"\].*\["a","b"\]/) },
    ])
  })

  test('says which nulls it ignored', async () => {
    const { id: agent_id } = await makeAgent({ note: 'kept' })
    const nulls = { note: null, voice: { language: null } }
    const result = await client.call('update_agent', { agent_id, name: 'Named', ...nulls })
    expect(result.structuredContent?.ignored_nulls).toEqual(['note', 'voice.language'])
    const line = result.content[0]?.text.split('\n').find((one) => one.includes('voice.language'))
    expect(line).toMatchSnapshot()
    expect(await client.value('get_agent', { agent_id })).toMatchObject({ note: 'kept' })
  })

  test('shows with dry_run what would change, and saves nothing', async () => {
    const before = await makeAgent()
    const dry = { agent_id: before.id, note: 'New', dry_run: true }
    expect(await update(dry)).toMatchObject({ applied: false, changes: [{ after: 'New' }] })
    expect(await textOf(dry)).toContain('note: null → "New"')
    const { account_id: _, ...stored } = await client.value('get_agent', { agent_id: before.id })
    expect(before).toMatchObject(stored)
  })

  test('refuses if the agent was changed since it was read', async () => {
    const { id: agent_id, modified } = await makeAgent()
    const expected = { agent_id, expected_modified: modified }
    const changed = await client.value('update_agent', { ...expected, note: 'first' })
    const late = await client.call('update_agent', { ...expected, note: 'second' })
    expect(errorOf(late).kind).toBe('conflict')
    expect(late.content[0]?.text).toContain(String(changed.modified))
    expect((await client.value('get_agent', { agent_id })).note).toBe('first')
    const next = { agent_id, expected_modified: changed.modified, note: 'second' }
    expect(await client.value('update_agent', next)).toMatchObject({ applied: true })
  })

  test('says that there is nothing to change', async () => {
    const { id: agent_id, name } = await makeAgent()
    expect(await update({ agent_id, name })).toMatchObject({
      applied: false,
      changes: [],
      warnings: [],
    })
  })

  test('validates a changed greeting first, and names the wrong lines', async () => {
    const { id: agent_id } = await makeAgent({ note: 'kept' })
    const message = 'Hello\n{% if contact.first_name %}\nyou'
    const wrong = { agent_id, note: 'lost?', initial_message: { message } }
    expect(errorOf(await client.call('update_agent', wrong))).toMatchObject({
      kind: 'bad_arguments',
      fields: [
        { argument: 'initial_message.message', message: expect.stringMatching(/^line \d+: /) },
      ],
    })
    expect((await client.value('get_agent', { agent_id })).note).toBe('kept')
    const odd = { agent_id, initial_message: { message: 'Hi {{ custmer.name }}' } }
    expect(await update(odd)).toMatchObject({
      applied: true,
      warnings: [expect.stringMatching(/^initial_message\.message .*custmer/)],
    })
  })
})

describe('the request of an update', () => {
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

  test('has only the fields that differ, and whole objects if the platform replaces them', async () => {
    const { bodies } = await sent({
      name: 'Wired',
      tags: ['a'],
      voice: { settings: { speed: 1.5 } },
      volume: { web: 1 },
    })
    expect(bodies).toEqual([
      {
        voice: { provider: 'azure', settings: { speed: 1.5, stability: 0.5 } },
        volume: { web: 1, telephony: 0.5, allow_adjustment: true },
      },
    ])
  })

  test('has null for cleared fields, and for no others', async () => {
    const { bodies } = await sent({
      volume: { web: null, telephony: 1 },
      clear: ['note', 'ambient_sound.source', 'voice.new_field', 'metadata.key'],
    })
    expect(bodies).toEqual([
      {
        volume: { web: 0.5, telephony: 1, allow_adjustment: true },
        note: null,
        ambient_sound: { source: null },
        voice: { provider: 'azure', new_field: null },
      },
    ])
  })

  test('has neither a cleared field that the agent lacks, nor an object around it', async () => {
    const clear = ['voice.other.speed', 'voice.constructor.x', 'voice.unknown']
    const { result, bodies } = await sent({ clear })
    expect(bodies).toEqual([])
    expect(result.structuredContent).toMatchObject({
      applied: false,
      changes: [],
      warnings: clear.map((path) => expect.stringMatching(`^clear: .*${path}$`)),
    })
    const besides = await sent({ clear, voice: { settings: { speed: 1.5 } } })
    expect(besides.bodies).toEqual([
      { voice: { provider: 'azure', settings: { speed: 1.5, stability: 0.5 } } },
    ])
  })

  test('has whole metadata without the removed key', async () => {
    stored.metadata = { keep: null, drop: 1 }
    const { bodies } = await sent({ clear: ['metadata.drop'] })
    expect(bodies).toEqual([{ metadata: { keep: null } }])
  })

  test('gives a warning for a cleared field that keeps its value, which may be its default', async () => {
    const { result } = await sent({ clear: ['voice.new_field'] })
    expect(result.structuredContent?.warnings).toEqual([keeps('voice.new_field', 1)])
  })

  test('gives a warning for a change that the platform ignored', async () => {
    const { result } = await sent({ volume: { web: 1 } })
    expect(result.structuredContent?.warnings).toEqual([keeps('volume\\.web', 0.5)])
  })
})

describe('on a platform that replaces what it should merge', () => {
  const before = {
    id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11',
    name: 'Wired',
    modified: '2026-11-01T00:00:00Z',
    model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.2, max_tokens: null },
    transcriber: { provider: 'deepgram', model: 'nova-3', language: 'de', keywords: ['Anna'] },
    voice: { provider: 'azure', voice_id: 'v', settings: { speed: 1, stability: 0.5 } },
  }
  type Stored = Record<string, unknown>
  let stored: Stored
  let platform: FakePlatform
  let wired: TestClient
  beforeAll(async () => {
    platform = await startFakePlatform(() => undefined, { account: 'own' })
    wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
  })
  afterAll(async () => {
    await wired[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })

  /**
   * Bodies of one update's requests, on a platform that stores each PATCH by `save`, or refuses it.
   */
  const update = async (
    change: object,
    save: (agent: Stored, patch: Stored, earlier: number) => Stored | 'refused' = (
      agent,
      patch,
    ) => ({
      ...agent,
      ...patch,
    }),
  ) => {
    stored = { ...before }
    const bodies: Stored[] = []
    platform.behave(({ method, url, body }, res) => {
      if (url.includes('voices')) return json(res, 200, { voices: [] })
      if (url.includes('providers')) return json(res, 200, [])
      if (method !== 'PATCH') return json(res, 200, stored)
      const patch = JSON.parse(body)
      const saved = save(stored, patch, bodies.length)
      bodies.push(patch)
      if (saved === 'refused') return json(res, 422, envelope('validation_error', 'Not so'))
      stored = saved
      json(res, 200, stored)
    })
    const result = await wired.value('update_agent', { agent_id: before.id, ...change })
    const { applied, changes, warnings } = result
    return { bodies, applied, changes, warnings }
  }

  test('restores lost fields with one PATCH of the whole object, and says so', async () => {
    const { bodies, applied, changes, warnings } = await update({
      transcriber: { model: 'nova-2' },
      voice: { settings: { speed: 1.5 } },
      name: 'New',
    })
    expect(bodies).toEqual([
      {
        transcriber: { provider: 'deepgram', model: 'nova-2' },
        voice: { provider: 'azure', settings: { speed: 1.5, stability: 0.5 } },
        name: 'New',
      },
      {
        transcriber: { ...before.transcriber, model: 'nova-2' },
        voice: { provider: 'azure', voice_id: 'v', settings: { speed: 1.5, stability: 0.5 } },
      },
    ])
    expect(applied).toBe(true)
    expect(stored).toEqual({ ...before, ...bodies[1], name: 'New' })
    expect(changes).toEqual([
      { field: 'name', before: 'Wired', after: 'New' },
      { field: 'transcriber.model', before: 'nova-3', after: 'nova-2' },
      { field: 'voice.settings.speed', before: 1, after: 1.5 },
    ])
    expect(warnings).toEqual([
      expect.stringMatching(/^transcriber\.language, transcriber\.keywords, voice\.voice_id: /),
    ])
  })

  test('does not restore cleared fields, nulls, or fields of another provider', async () => {
    const clear = ['transcriber.language', 'transcriber.keywords']
    const cleared = await update({ clear, model: { temperature: 1, model: 'gpt-4.1-mini' } })
    expect(cleared.bodies).toHaveLength(2)
    expect(cleared.bodies[1]).toEqual({
      transcriber: { ...before.transcriber, language: null, keywords: null },
    })
    const moved = await update({ voice: { provider: 'cartesia', voice_id: 'c' } })
    expect(moved.bodies).toEqual([{ voice: { provider: 'cartesia', voice_id: 'c' } }])
  })

  test('names the lost fields if the second PATCH fails or changes nothing, and sends no third', async () => {
    const failed = await update({ transcriber: { model: 'nova-2' } }, (agent, patch, earlier) =>
      earlier === 0 ? { ...agent, ...patch } : 'refused',
    )
    expect([failed.bodies.length, failed.applied]).toEqual([2, true])
    expect(failed.warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^transcriber\.language, .*422.*Not so$/),
        expect.stringMatching(/^transcriber\.language: .*"de"$/),
      ]),
    )
    const stubborn = await update(
      { transcriber: { model: 'nova-2' } },
      (agent, { transcriber }) => ({
        ...agent,
        transcriber: { ...Object(transcriber), language: undefined },
      }),
    )
    expect(stubborn.bodies).toHaveLength(2)
    // One warning for the settings that the platform dropped, one for the setting that could not be
    // restored.
    expect(stubborn.warnings).toEqual([
      expect.stringMatching(/^transcriber\.language, transcriber\.keywords: /),
      expect.stringMatching(/^transcriber\.language: .*"de"$/),
    ])
    expect(stored).toMatchObject({ transcriber: { model: 'nova-2', language: undefined } })
  })

  test('restores nothing if the platform merges', async () => {
    const { bodies, warnings } = await update(
      { transcriber: { model: 'nova-2' }, model: { temperature: 1 } },
      (agent, patch) => ({
        ...agent,
        transcriber: { ...Object(agent.transcriber), ...Object(patch.transcriber) },
        model: { ...Object(agent.model), ...Object(patch.model) },
      }),
    )
    expect(bodies).toHaveLength(1)
    expect(warnings).toEqual([])
  })
})
