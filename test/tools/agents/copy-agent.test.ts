import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson } from '../../harness/answering-client.ts'
import { type ClientKind, connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

const textOf = async (args: Record<string, unknown>, name = 'copy_agent') =>
  (await client.call(name, args)).content[0]?.text ?? ''

const refusal = async (args: Record<string, unknown>) =>
  errorOf(await client.call('copy_agent', args)).fields

/** Replaces ids and times in a text, which vary between runs. */
const stable = (text: string) =>
  text
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '(id)')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)')

/** An agent with no field at its default, including nulls that are values. */
const original = {
  ...newAgent,
  name: 'Original',
  note: 'A note',
  tags: ['a', 'b'],
  metadata: { kept: null, deep: { x: 1 } },
  voice: { ...newAgent.voice, language: 'en-us', settings: { speed: 1.1, stability: 0.3 } },
  allow_auto_hangup: true,
  allow_caller_recording_opt_out: true,
  max_duration_seconds: 300,
  initial_message: { message: 'Hi', mode: 'fixed_message', delay_ms: 7, interruptible: true },
  ambient_sound: { source: 'ac_fan', volume: 0.1 },
  inactivity_settings: {
    ...{ reminder_timeout_ms: 6000, reminder_max_count: 5, end_call_timeout_ms: 20000 },
    reset_on_activity: false,
  },
  response_timing: { min_endpointing_delay_seconds: 0.4 },
  interrupt_settings: { enabled: false, min_words: 3, min_speech_seconds: 0.5 },
  capture_settings: { recording_enabled: false },
  volume: { web: 0, telephony: 0.9, allow_adjustment: false },
  denoising: { web: false, telephony: false },
}

const withoutOwn = (agent: Record<string, unknown>) => {
  const { id: _, account_id: __, created: ___, modified: ____, name: _____, ...rest } = agent
  return rest
}

describe('copy_agent', () => {
  test.each<ClientKind>(['v2 2026-07-28', 'v2 2025', 'v1'])(
    'copies every field that can be written (%s)',
    async (kind) => {
      await using own = await connectPerson(kind, {})
      const clear = { clear: ['inactivity_settings.end_call_timeout_ms', 'ambient_sound.source'] }
      const { id } = await own.value('create_agent', original)
      await own.value('update_agent', { agent_id: id, ...clear })
      const result = await own.call('copy_agent', { agent_id: 'Original', name: 'Copy' })
      expect(await own.flaws('copy_agent', result)).toBeUndefined()
      expect(result.structuredContent).toMatchObject({
        name: 'Copy',
        copied_from: id,
        warnings: [],
      })
      const copy = await own.value('get_agent', { agent_id: 'Copy' })
      expect(copy.id).not.toBe(id)
      const stored = await own.value('get_agent', { agent_id: id })
      expect(withoutOwn(copy)).toEqual(withoutOwn(stored))
      expect(copy).toMatchObject({
        inactivity_settings: { end_call_timeout_ms: null },
        ambient_sound: { source: null },
        metadata: { kept: null },
      })
    },
  )

  test('merges the changes into it, and leaves the original alone', async () => {
    const { id } = await client.value('create_agent', { ...original, name: 'Merged' })
    const changes = { voice: { settings: { speed: 1.4 } }, tags: ['new'], metadata: { more: 1 } }
    const copy = await client.value('copy_agent', { agent_id: id, name: 'With changes', changes })
    expect(copy.saved).toEqual({
      ...{ 'voice.settings.speed': 1.4, tags: ['new'] },
      metadata: { ...original.metadata, more: 1 },
    })
    expect(await client.value('get_agent', { agent_id: copy.id })).toMatchObject({
      ...{ tags: ['new'], metadata: { ...original.metadata, more: 1 }, note: 'A note' },
      voice: { ...original.voice, settings: { speed: 1.4, stability: 0.3 } },
    })
    expect(await client.value('get_agent', { agent_id: id })).toMatchObject({ tags: ['a', 'b'] })
  })

  test('creates it in another account, which is named by id or name', async () => {
    const { id } = await client.value('create_agent', { ...original, name: 'For a branch' })
    const { id: branch } = await client.value('create_subaccount', { name: 'Branch Berlin' })
    const args = { agent_id: id, name: 'Berlin desk', to_account_id: 'Branch Berlin' }
    const { content, structuredContent } = await client.call('copy_agent', args)
    expect(structuredContent).toMatchObject({ account_id: branch, name: 'Berlin desk' })
    expect(content[0]?.text).toContain(`Account: ${branch}`)
    const found = { agent_id: 'Berlin desk', account_id: branch }
    expect(await client.value('get_agent', found)).toMatchObject({ note: 'A note' })
    expect((await client.value('list_agents', { name: 'Berlin desk' })).total).toBe(0)
    expect(await refusal({ ...args, to_account_id: 'Berlin' })).toEqual([
      {
        argument: 'to_account_id',
        message: expect.stringMatching(/404.*Did you mean Branch Berlin \(/),
      },
    ])
  })

  test('says what was saved, so that it need not be read again', async () => {
    const { id } = await client.value('create_agent', { ...original, name: 'Told' })
    const changes = { tags: ['new'], max_duration_seconds: 600, volume: { web: 0 } }
    const changed = { agent_id: id, name: 'Told anew', changes }
    const texts = [await textOf({ agent_id: id, name: 'Told again' }), await textOf(changed)]
    expect(stable(texts.join('\n\n'))).toMatchSnapshot()
  })

  test('refuses a new value that is a mistake, and a field that does not exist', async () => {
    const total = async () => (await client.value('list_agents', { name: 'Wrong' })).total
    const copy = { agent_id: seedIds.supportAgent, name: 'Wrong' }
    const refused = (changes: object) => refusal({ ...copy, changes })
    expect(await refused({ model: { model: 'gpt-4.1-mni' } })).toEqual([
      { argument: 'model.model', message: expect.stringMatching(/gpt-4\.1-mni\b.*gpt-4\.1-mini/) },
    ])
    expect(await refused({ initial_message: { message: '{{' } })).toEqual([
      { argument: 'initial_message.message', message: expect.stringMatching(/^line 1/) },
    ])
    expect(await refused({ voise: {} })).toEqual([
      { argument: 'changes.voise', message: expect.stringContaining('voice') },
    ])
    expect(await total()).toBe(0)
  })

  test('copies an archived agent as an active one, and says so', async () => {
    const { id } = await client.value('create_agent', { ...newAgent, name: 'Resting' })
    await client.value('archive_agent', { agent_id: id })
    const { warnings } = await client.value('copy_agent', { agent_id: id, name: 'Awake' })
    expect(warnings).toEqual([expect.stringContaining('archived')])
    expect((await client.value('list_agents', { name: 'Awake' })).total).toBe(1)
  })

  test('stays in the account that the operator has pinned', async () => {
    await using pinned = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_ACCOUNT: seedIds.subaccount },
    })
    const { id } = await pinned.value('create_agent', { ...newAgent, name: 'Inside' })
    const copy = { agent_id: id, name: 'Outside', to_account_id: 'me' }
    expect(errorOf(await pinned.call('copy_agent', copy))).toMatchObject({
      kind: 'bad_arguments',
      fields: [{ argument: 'to_account_id' }],
    })
    const { inputSchema } =
      (await pinned.listTools()).find(({ name }) => name === 'copy_agent') ?? {}
    expect(Object.keys(Object(inputSchema).properties)).not.toContain('to_account_id')
  })
})

describe('the creation of a copy', () => {
  const stored = {
    id: 'a',
    name: 'A',
    note: null,
    model: { provider: 'own', model: 'm' },
    shine: 3,
  }

  test.each([
    [
      'answers 500',
      (res: import('node:http').ServerResponse) => json(res, 500, envelope('internal_error')),
    ],
    ['breaks off', (res: import('node:http').ServerResponse) => res.destroy()],
  ])(
    'is sent once, also where the platform %s, and the error says where to look',
    async (_, fail) => {
      await using platform = await startFakePlatform(
        ({ method, url }, res) => {
          if (method === 'POST' && url.endsWith('/agents')) return fail(res)
          if (url.includes('providers')) return json(res, 200, [])
          return json(res, 200, url.endsWith('/agents/a') ? stored : { count: 0, items: [] })
        },
        { account: 'own' },
      )
      await using wired = await connectStdio('v2 2026-07-28', {
        env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
      })
      const copy = { agent_id: 'a', name: 'B', to_account_id: 'other' }
      expect(errorOf(await wired.call('copy_agent', copy))).toMatchObject({
        kind: 'unknown_outcome',
        next: expect.stringMatching(/list_agents, name "B", account_id other/),
      })
      const posts = platform.seen.filter(({ method }) => method === 'POST')
      expect(posts.map(({ url }) => url)).toEqual(['/v1/accounts/other/agents'])
      expect(JSON.parse(posts[0]?.body ?? '')).toEqual({ model: stored.model, name: 'B' })
    },
  )

  test('says what it could not copy', async () => {
    await using platform = await startFakePlatform(
      ({ method, url, body }, res) => {
        if (method === 'POST') return json(res, 201, { ...JSON.parse(body), id: 'b' })
        if (url.includes('providers')) return json(res, 200, [])
        return json(res, 200, url.endsWith('/agents/a') ? stored : { count: 0, items: [] })
      },
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    const { warnings } = await wired.value('copy_agent', { agent_id: 'a', name: 'B' })
    expect(warnings).toEqual([expect.stringMatching(/: shine$/)])
  })
})

describe('create_agent', () => {
  test.each([['Hi {{ nobody }}'], ['Hi {{ nobody.name }}']])(
    'says of %s what a call does',
    async (message) => {
      const given = { ...newAgent, name: 'Gap', initial_message: { message } }
      const { warnings } = await client.value('create_agent', given)
      expect(warnings).toEqual([expect.stringContaining('test_variables')])
      expect(warnings).toMatchSnapshot()
    },
  )

  test('shows the values that the platform saved differently', async () => {
    await using platform = await startFakePlatform(
      (_, res) => json(res, 201, { ...newAgent, id: 'a', max_duration_seconds: 700, volume: null }),
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    const given = {
      ...newAgent,
      max_duration_seconds: 600,
      volume: { web: 0.1 },
      allow_unlisted: true,
    }
    const { content } = await wired.call('create_agent', given)
    expect(content[0]?.text).toContain(
      'Saved: max_duration_seconds 700 (sent: 600), volume.web nothing (sent: 0.1).',
    )
  })

  test('reports no gap if the template has a default', async () => {
    const initial_message = { message: "Hi {{ contact.nickname | default('you') }}" }
    const { warnings } = await client.value('create_agent', { ...newAgent, initial_message })
    expect(warnings).toEqual([expect.stringMatching(/'contact\.nickname'$/)])
  })

  test('says what was saved and what was left to the platform', async () => {
    const given = {
      ...{ ...newAgent, name: 'Desk', tags: ['t'], max_duration_seconds: 60, note: 'N' },
      initial_message: { message: 'Hi', mode: 'fixed_message', delay_ms: 0 },
      metadata: { shop: 1 },
    }
    expect(stable(await textOf(given, 'create_agent'))).toMatchSnapshot()
    const without = { ...newAgent, name: 'No tags', tags: [] }
    expect(await textOf(without, 'create_agent')).toContain('tags none')
  })
})
