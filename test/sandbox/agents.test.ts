import { describe, expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { seedIds, startSandbox } from '../harness/sandbox.ts'

const { supportAgent } = seedIds

describe('agents', () => {
  test('need model.model and voice.voice_id when they are created; an update needs neither', async () => {
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

  test('get the default of each field that is null on creation', async () => {
    using sandbox = startSandbox()
    const { name: _, ...required } = newAgent
    const create = async (more: object) =>
      (await sandbox.send('POST', 'accounts/me/agents', { ...required, ...more })).body
    const { id: __, ...plain } = await create({})
    const { id: ___, ...cleared } = await create({ ...nulls, ...partsWithNulls })
    expect(cleared).toEqual(plain)
    expect(Object.keys(plain)).toEqual(expect.arrayContaining(optional))
  })

  test('get the default of each field that is null in an update', async () => {
    using sandbox = startSandbox()
    const { name: _, ...required } = newAgent
    const { body: plain } = await sandbox.send('POST', 'accounts/me/agents', required)
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

  /** Settings in which null restores the default; in all others null is a value. */
  const settings = {
    initial_message: { mode: 'user_first', delay_ms: 100, interruptible: true },
    ambient_sound: { volume: 1 },
    inactivity_settings: { reminder_max_count: 9, reset_on_activity: false },
    response_timing: { min_endpointing_delay_seconds: 1 },
    interrupt_settings: { enabled: false, min_words: 3, min_speech_seconds: 1 },
    capture_settings: { recording_enabled: false },
    volume: { web: 1, telephony: 1, allow_adjustment: false },
    denoising: { web: false, telephony: false },
  }
  const tuning = { similarity_boost: 1, stability: 1, speed: 1, style: 1, use_speaker_boost: true }
  const listening = { model: 'nova-3', language: 'de', keywords: ['x'] }
  const nullsOf = (value: object) =>
    Object.fromEntries(Object.keys(value).map((name) => [name, null]))

  test('get the default of each field that is null within a setting, the transcriber or the voice', async () => {
    using sandbox = startSandbox()
    const create = async (more: object) =>
      (await sandbox.send('POST', 'accounts/me/agents', { ...newAgent, ...more })).body
    const { id: _, ...plain } = await create({})
    const inner = Object.entries(settings).map(([name, value]) => [name, nullsOf(value)])
    const nullsWithin = {
      ...Object.fromEntries(inner),
      transcriber: { provider: 'deepgram', ...nullsOf(listening) },
      voice: { ...newAgent.voice, settings: nullsOf(tuning) },
    }
    const { id, ...created } = await create(nullsWithin)
    expect(created).toEqual({
      ...plain,
      transcriber: { provider: 'deepgram' },
      voice: { ...newAgent.voice, settings: {} },
    })
    const path = `accounts/me/agents/${id}`
    const transcriber = { provider: 'deepgram', ...listening }
    const voice = { ...newAgent.voice, settings: tuning }
    const changed = await sandbox.send('PATCH', path, { ...settings, transcriber, voice })
    expect(changed.body).toMatchObject({ ...settings, transcriber, voice })
    expect((await sandbox.send('PATCH', path, nullsWithin)).body).toEqual({ id, ...created })
  })

  test('are restored by is_archived: false', async () => {
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

  test('that are archived are listed only if the request asks for them', async () => {
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
