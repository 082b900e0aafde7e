import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { startPlatformProgram } from '../../harness/program.ts'
import { sandboxKeys } from '../../harness/sandbox.ts'
import { newAgent } from '../../harness/story.ts'

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

  test.each<[object, RegExp]>([
    [{ voice: { voice_id: 'sbx-en-us-adb' } }, /voice\.voice_id: there is no sbx-en-us-adb/],
    [{ model: { model: 'gpt-4.l' } }, /model\.model: there is no gpt-4\.l/],
    [{ transcriber: { languages: ['en-UX', 'de-DX'] } }, /transcriber\.languages: .*no de-DX;/],
    [{ transcriber: { model: 'nova-3' } }, /transcriber\.languages: .*no en-UX/],
    [{ initial_message: { message: '{{ x ' } }, /initial_message\.message: line 1/],
  ])('does not prevent the check of new values: %j', async (more, expected) => {
    const result = await change(more)
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(expected)
  })

  test('is checked if its provider changes', async () => {
    const result = await change({ voice: { provider: 'cartesia' } })
    expect(result.structuredContent?.warnings).toEqual([
      expect.stringMatching(/^voice\.voice_id: sbx-en-us-adam is not in the catalog/),
    ])
  })
})

describe('a value that is not in its catalog', () => {
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
      /transcriber\.provider: .*written deepgram\n- transcriber\.languages: there is no en-uk/,
    ],
    [
      { transcriber: { provider: 'deepgram', model: 'nova-2', language: 'en-uk' } },
      /- transcriber\.language: there is no en-uk/,
    ],
    [
      { voice: { provider: 'ElevenLabs', voice_id: 'sbx-en-us-ada' } },
      /voice\.provider: there is no ElevenLabs; it is written elevenlabs/,
    ],
    [
      { voice: { provider: 'elevenlab', voice_id: 'x' } },
      /voice\.provider: .*did you mean elevenlabs/,
    ],
  ])('%j is refused with the entry that is meant', async (more, expected) => {
    const before = (await client.value('list_agents')).total
    expect(await failing(more)).toMatch(expected)
    expect((await client.value('list_agents')).total).toBe(before)
  })

  test('that resembles no entry is saved with a warning: it may be the customer’s own', async () => {
    const model = { provider: 'openai', model: 'ft:my-company:support-2026-11' }
    const result = await client.call('create_agent', { ...newAgent, model })
    expect(result.isError).toBeFalsy()
    expect(result.content[0]?.text).toMatch(/Warning: model\.model: .* not in the catalog/)
    expect(result.structuredContent).toMatchObject({ warnings: [expect.any(String)] })
  })
})
