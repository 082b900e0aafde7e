import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startPlatformProgram } from '../../harness/program.ts'
import { sandboxKeys } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

describe('a value that is stored already', () => {
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
  ])('is not checked when another field changes: %j', async (more) => {
    const result = await change(more)
    expect(result.isError, result.content[0]?.text).toBeFalsy()
    expect(result.structuredContent?.warnings).toEqual([])
  })

  test.each<[object, string, string]>([
    [{ voice: { voice_id: 'sbx-en-us-adb' } }, 'voice.voice_id', 'sbx-en-us-adb'],
    [{ model: { model: 'gtp-4.1' } }, 'model.model', 'gtp-4.1'],
    [{ transcriber: { languages: ['en-UX', 'de-DX'] } }, 'transcriber.languages', 'de-DX'],
    [{ transcriber: { model: 'nova-3:general' } }, 'transcriber.languages', 'en-UX'],
    [{ initial_message: { message: '{{ x ' } }, 'initial_message.message', 'line 1'],
  ])('does not prevent the check of new values: %j', async (more, argument, named) => {
    expect(errorOf(await change(more))).toMatchObject({
      kind: 'bad_arguments',
      fields: [{ argument, message: expect.stringContaining(named) }],
    })
  })

  test('is checked if its provider changes', async () => {
    const result = await change({ voice: { provider: 'cartesia' } })
    expect(result.structuredContent?.warnings).toEqual([
      expect.stringMatching(/^voice\.voice_id: .*sbx-en-us-adam/),
    ])
  })
})

const created = (more: object) => client.call('create_agent', { ...newAgent, ...more })

describe('a value that is not in its catalog', () => {
  test.each<[object, string, string, string]>([
    [{ model: { provider: 'opanai', model: 'x' } }, 'model.provider', 'opanai', 'openai'],
    [{ model: { provider: 'openai', model: 'gtp-4.1' } }, 'model.model', 'gtp-4.1', 'gpt-4.1'],
    [
      { model: { provider: 'OpenAI', model: 'gpt-4.1-nimi' } },
      ...(['model.model', 'gpt-4.1-nimi', 'gpt-4.1-mini'] as const),
    ],
    [
      { transcriber: { provider: 'deepgram', model: 'nova2:genral' } },
      ...(['transcriber.model', 'nova2:genral', 'nova-2:general'] as const),
    ],
    [
      { transcriber: { provider: 'deepgram', model: 'nova-2:general', language: 'en-UX' } },
      ...(['transcriber.language', 'en-UX', 'en-us'] as const),
    ],
    [
      { voice: { provider: 'elevenlabs', voice_id: 'ada' } },
      ...(['voice.voice_id', 'ada', 'sbx-en-us-ada'] as const),
    ],
    [
      { voice: { provider: 'elevenlab', voice_id: 'x' } },
      ...(['voice.provider', 'elevenlab', 'elevenlabs'] as const),
    ],
  ])('%j is refused as a misspelling, with the entry that is meant', async (more, ...named) => {
    const [argument, given, meant] = named
    const before = (await client.value('list_agents')).total
    const { kind, fields } = errorOf(await created(more))
    expect(kind).toBe('bad_arguments')
    const { message = '' } = fields.find((field) => field.argument === argument) ?? {}
    const words = message.split(/[\s()?;]+/)
    expect(words).toContain(given)
    expect(words).toContain(meant)
    expect((await client.value('list_agents')).total).toBe(before)
  })

  test.each([
    [
      { model: { provider: 'openai', model: 'gpt-5' } },
      /^model\.model: (?!.*gpt-4).*gpt-5\b.*gpt-5-mini/,
    ],
    [{ model: { provider: 'openai', model: 'gpt-5.1' } }, /^model\.model: .*gpt-5\.1\b.*gpt-4/],
    [{ model: { provider: 'openai', model: 'gpt-4' } }, /^model\.model: .*gpt-4\b/],
    [{ model: { provider: 'openai', model: 'gpt-4.1-nano' } }, /^model\.model: .*gpt-4\.1-nano/],
    [
      { model: { provider: 'openai', model: 'ft:my-company:support' } },
      /^model\.model: .*ft:my-company:support/,
    ],
    [
      { transcriber: { provider: 'deepgram', model: 'nova-3:medical' } },
      /^transcriber\.model: .*nova-3:medical/,
    ],
    [
      { transcriber: { provider: 'azure', model: 'azure-speech', languages: ['es-US'] } },
      /^transcriber\.languages: .*es-US/,
    ],
    [
      { transcriber: { provider: 'azure', model: 'azure-speech', languages: ['de'] } },
      /^transcriber\.languages: (?!.*en-us).*\bde\b.*de-de/,
    ],
    [
      { transcriber: { provider: 'azure', languages: ['de'] } },
      /^transcriber\.languages: (?!.*en-us).*\bde\b.*de-de/,
    ],
  ])('%j is saved with a warning, because the catalog may be outdated', async (more, expected) => {
    const result = await created(more)
    expect(result.isError, result.content[0]?.text).toBeFalsy()
    expect(result.structuredContent).toMatchObject({
      ...more,
      warnings: [expect.stringMatching(expected)],
    })
  })

  test('a language is offered by the other models of the provider where the model is not listed', async () => {
    const transcriber = { provider: 'azure', model: 'our-own', languages: ['de', 'en-us'] }
    const { structuredContent } = await created({ transcriber })
    expect(structuredContent?.warnings).toEqual([
      expect.stringMatching(/^transcriber\.model: .*our-own/),
      expect.stringMatching(/^transcriber\.languages: (?!.*en-us).*\bde\b.*de-de/),
    ])
  })

  test('is saved although it looks misspelt, with allow_unlisted, which the refusal names', async () => {
    const model = { provider: 'openai', model: 'gtp-4.1' }
    expect((await created({ model })).content[0]?.text).toContain('allow_unlisted: true')
    const made = await created({ model, allow_unlisted: true })
    expect(made.structuredContent).toMatchObject({ model, warnings: [expect.any(String)] })
    const agent_id = made.structuredContent?.id
    const voice = { voice_id: 'sbx-en-us-adb' }
    const refused = await client.call('update_agent', { agent_id, voice })
    expect(refused.content[0]?.text).toContain('allow_unlisted: true')
    const change = { voice, allow_unlisted: true }
    expect(await client.value('update_agent', { agent_id, ...change })).toMatchObject({
      changes: [{ field: 'voice.voice_id', after: 'sbx-en-us-adb' }],
    })
    const copy = { agent_id, name: 'Copy', changes: { model: { model: 'gpt-4p' } } }
    expect((await client.call('copy_agent', copy)).isError).toBe(true)
    const copied = await client.call('copy_agent', { ...copy, allow_unlisted: true })
    expect(copied.isError, copied.content[0]?.text).toBeFalsy()
  })
})

describe('the exact, unique name of a model or voice', () => {
  const named = {
    model: { provider: 'OpenAI', model: 'GPT-4.1 mini' },
    transcriber: { provider: 'Deepgram', model: 'Nova 2 General', languages: ['EN-us'] },
    voice: { provider: 'ElevenLabs', voice_id: 'Ada' },
  }

  test('becomes its id, and the result says so', async () => {
    const { structuredContent } = await created(named)
    expect(structuredContent).toMatchObject({
      model: { provider: 'openai', model: 'gpt-4.1-mini' },
      transcriber: { provider: 'deepgram', model: 'nova-2:general' },
      voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada' },
    })
    expect(structuredContent).not.toHaveProperty('warnings')
    expect(structuredContent?.read_as).toEqual(
      expect.arrayContaining([
        'model.model: "GPT-4.1 mini" as "gpt-4.1-mini"',
        'voice.voice_id: "Ada" as "sbx-en-us-ada"',
      ]),
    )
  })

  test('changes nothing if the agent already has its id', async () => {
    const made = await client.value('create_agent', newAgent)
    const one = { agent_id: made.id, voice: { voice_id: 'Ada' } }
    expect(await client.value('update_agent', one)).toMatchObject({ applied: false, changes: [] })
    const many = { agent_ids: [made.id], voice: { voice_id: 'River' } }
    expect(await client.value('update_agent', many)).toMatchObject({
      agents: [{ changes: [{ field: 'voice.voice_id', after: 'sbx-en-us-river' }] }],
      read_as: ['voice.voice_id: "River" as "sbx-en-us-river"'],
    })
    const copy = { agent_id: made.id, name: 'Copy', changes: { voice: { voice_id: 'Maya' } } }
    const { id: agent_id } = await client.value('copy_agent', copy)
    expect(await client.value('get_agent', { agent_id })).toMatchObject({
      voice: { voice_id: 'sbx-en-us-maya' },
    })
  })

  test('is saved unchanged with allow_unlisted, and with a warning', async () => {
    const voice = { provider: 'elevenlabs', voice_id: 'Ada' }
    const { structuredContent } = await created({ voice, allow_unlisted: true })
    expect(structuredContent).toMatchObject({
      voice,
      warnings: [expect.stringContaining('sbx-en-us-ada')],
    })
  })
})

test('a name that two voices have is refused with the ids of both', async () => {
  const voices = ['v-1', 'v-2'].map((id) => ({ id, name: 'Ada' }))
  await using platform = await startFakePlatform(
    ({ url }, response) =>
      url.includes('/voices?') ? json(response, 200, { voices }) : json(response, 200, []),
    { account: 'acc-1' },
  )
  await using own = await connectStdio('v2 2025', {
    env: { VOICE_AGENT_API_KEY: 'key', VOICE_AGENT_BASE_URL: platform.url },
  })
  const voice = { provider: 'elevenlabs', voice_id: 'Ada' }
  const result = await own.call('create_agent', { ...newAgent, voice })
  expect(errorOf(result).fields).toMatchObject([
    { argument: 'voice.voice_id', message: expect.stringMatching(/Ada \(v-1\).*Ada \(v-2\)/) },
  ])
  expect(platform.seen.some(({ method }) => method === 'POST')).toBe(false)
})
