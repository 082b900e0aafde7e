import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../tools/index.ts'
import { connectStdio, type TestClient } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'

let client: TestClient
let ids: Record<string, unknown>
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
  const agent = await client.value('create_agent', newAgent)
  const trunk = await client.value('create_sip_trunk', { termination_uri: 'sip.example.com' })
  const number = await client.value('create_phone_number', {
    number: '+12025550173',
    sip_trunk_id: trunk.id,
    inbound_agent_id: agent.id,
  })
  const subaccount = await client.value('create_subaccount', { name: 'Branch' })
  ids = {
    agent_id: agent.id,
    sip_trunk_id: trunk.id,
    phone_number_id: number.id,
    subaccount_id: subaccount.id,
  }
})
afterAll(() => client[Symbol.asyncDispose]())

const clearing = tools.filter(({ clearable }) => clearable.length > 0)

/** Required arguments of a tool, without those to be cleared. */
const requiredOf = (name: string) =>
  name === 'create_agent'
    ? newAgent
    : Object.fromEntries(
        Object.keys(clearing.find((tool) => tool.name === name)?.route.params.shape ?? {})
          .filter((id) => id in ids)
          .map((id) => [id, ids[id]]),
      )

describe('what can be cleared', () => {
  test.each(clearing.flatMap(({ name, clearable }) => clearable.map((path) => [name, path])))(
    '%s clears %s',
    async (name, path) => {
      const result = await client.call(name, { ...requiredOf(name), clear: [path] })
      expect(result.isError, result.content[0]?.text).toBeFalsy()
    },
  )

  test('is empty afterwards: trunk and agent of a number, settings of a new agent', async () => {
    const { phone_number_id } = ids
    const number = await client.value('get_phone_number', { phone_number_id })
    expect(number).toMatchObject({ sip_trunk: null, inbound_agent: null })
    const clear = clearing.find(({ name }) => name === 'create_agent')?.clearable
    expect(await client.value('create_agent', { ...newAgent, clear })).toMatchObject({
      ambient_sound: { source: null, volume: 0.5 },
      inactivity_settings: { reminder_timeout_ms: null, end_call_timeout_ms: null },
    })
  })

  test('is named if only nulls are given: the refusal shows how to clear these fields', async () => {
    const { agent_id } = ids
    const paths = [
      'transcriber.language',
      'transcriber.model',
      'transcriber.keywords',
      'voice.settings.speed',
      'voice.settings.use_speaker_boost',
      'capture_settings.recording_enabled',
    ]
    const nulls = {
      transcriber: { language: null, model: null, keywords: null },
      voice: { settings: { speed: null, use_speaker_boost: null } },
      capture_settings: { recording_enabled: null },
    }
    const refused = await client.call('update_agent', { agent_id, ...nulls })
    expect(refused.content[0]?.text).toContain(JSON.stringify({ clear: paths }))
    await client.value('update_agent', {
      agent_id,
      transcriber: { model: 'nova-3', language: 'de', keywords: ['Anna'] },
      voice: { settings: { speed: 1.2, use_speaker_boost: true } },
      capture_settings: { recording_enabled: false },
    })
    const { applied, warnings } = await client.value('update_agent', { agent_id, clear: paths })
    expect([applied, warnings]).toEqual([true, []])
    const { transcriber, voice, ...agent } = await client.value('get_agent', { agent_id })
    expect(transcriber).toEqual({ provider: 'deepgram', languages: [] })
    expect(voice).toMatchObject({ settings: {} })
    expect(agent).toMatchObject({ capture_settings: { recording_enabled: true } })
  })

  test('is nothing in a subaccount, whose fields null does not change', () => {
    const tool = tools.find(({ name }) => name === 'update_subaccount')
    expect(tool?.clearable).toEqual([])
    expect(Object.keys(tool?.inputSchema().properties ?? {})).not.toContain('clear')
  })

  test('is refused together with a value for it, and nothing is sent', async () => {
    const { agent_id } = ids
    const before = await client.value('get_agent', { agent_id })
    const result = await client.call('update_agent', { agent_id, note: 'x', clear: ['note'] })
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(/nothing was sent.*clear\.0: note is given too/s)
    expect(await client.value('get_agent', { agent_id })).toEqual(before)
  })
})
