import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import {
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../../harness/fake-platform.ts'
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
    expect(again.warnings).toEqual([
      'max_duration_seconds: the platform still has 1200, which may be its default',
    ])
  })

  test('warns that a key to clear does not exist, and names the closest one', async () => {
    const { id: agent_id } = await makeAgent({ metadata: { customer: { tier: 1 } } })
    const text = await textOf({ agent_id, note: 'x', clear: ['metadata.customer.teir'] })
    expect(text).toMatch(/^Updated agent/)
    expect(text).toContain(
      'Warning: clear: there is no metadata.customer.teir; did you mean metadata.customer.tier?',
    )
    // A repeated request is not an error.
    await textOf({ agent_id, clear: ['metadata.customer'] })
    expect(await textOf({ agent_id, clear: ['metadata.customer'] })).toMatch(/^Nothing to change/)
  })

  test('refuses a path that matches two keys', async () => {
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

  test('refuses if the agent was changed since it was read', async () => {
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

  test('says that there is nothing to change', async () => {
    const { id: agent_id, name } = await makeAgent()
    expect(await textOf({ agent_id, name })).toMatch(
      /^Nothing to change: agent .* has these values already/,
    )
  })

  test('validates a changed greeting first, and names the wrong lines', async () => {
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

  test('has the fields that differ only, and whole objects where the platform replaces them', async () => {
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

  test('has nothing for a cleared field that the agent does not have, nor for what would hold it', async () => {
    const clear = ['voice.other.speed', 'voice.constructor.x', 'voice.unknown']
    const { result, bodies } = await sent({ clear })
    expect(bodies).toEqual([])
    expect(result.structuredContent).toMatchObject({
      applied: false,
      changes: [],
      warnings: clear.map((path) => `clear: the agent has no ${path}`),
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
    expect(result.structuredContent?.warnings).toEqual([
      'voice.new_field: the platform still has 1, which may be its default',
    ])
  })

  test('gives a warning for a change that the platform ignored', async () => {
    const { result } = await sent({ volume: { web: 1 } })
    expect(result.content[0]?.text).toMatch(/Warning: volume\.web: the platform has 0\.5, not 1/)
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

  /** What one update sent, where the platform stores each PATCH by `save`, or refuses it. */
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

  test('puts back with one PATCH of the whole part what the first one took, and says so', async () => {
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
      'transcriber.language, transcriber.keywords, voice.voice_id: the platform dropped these fields with the change; a second request put all back',
    ])
  })

  test('does not put back what was cleared, what was null, or what another provider has not', async () => {
    const clear = ['transcriber.language', 'transcriber.keywords']
    const cleared = await update({ clear, model: { temperature: 1, model: 'gpt-4.1-mini' } })
    expect(cleared.bodies).toHaveLength(2)
    expect(cleared.bodies[1]).toEqual({
      transcriber: { ...before.transcriber, language: null, keywords: null },
    })
    const moved = await update({ voice: { provider: 'cartesia', voice_id: 'c' } })
    expect(moved.bodies).toEqual([{ voice: { provider: 'cartesia', voice_id: 'c' } }])
  })

  test('says what is lost if the second PATCH fails or changes nothing, and sends no third', async () => {
    const failed = await update({ transcriber: { model: 'nova-2' } }, (agent, patch, earlier) =>
      earlier === 0 ? { ...agent, ...patch } : 'refused',
    )
    expect([failed.bodies.length, failed.applied]).toEqual([2, true])
    expect(failed.warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^transcriber\.language, .* failed: .* HTTP 422 .*Not so$/),
        'transcriber.language: the platform has nothing, not "de"',
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
    expect(stubborn.warnings).toEqual(
      expect.arrayContaining([expect.stringMatching(/a second request did not put all back$/)]),
    )
  })

  test('puts nothing back where the platform merges', async () => {
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
