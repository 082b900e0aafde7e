import { describe, expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { parse, problem, problems } from '../harness/parsed-arguments.ts'

/** Matcher of a problem with an unknown argument, which suggests `meant` and not `other`. */
const unknown = (argument: string, meant: string, other = 'account_id') => ({
  argument,
  message: expect.stringMatching(new RegExp(`^(?!.*\\b${other}\\b).*\\b${meant}\\b`)),
})

describe('arguments', () => {
  test('go to path, query and body as the route defines', () => {
    expect(parse('update_agent', { agent_id: 'a', account_id: 'b', note: 'x' })).toMatchObject({
      ok: true,
      request: { params: { account_id: 'b', agent_id: 'a' }, query: {}, body: { note: 'x' } },
      options: {},
    })
    expect(parse('list_agents', { name: 'x', limit: 5 })).toMatchObject({
      ok: true,
      request: { params: { account_id: 'me' }, query: { name: 'x', limit: 5 } },
      options: {},
    })
  })

  test('that belong to the tool itself are not sent', () => {
    const parsed = parse('update_agent', { agent_id: 'a', note: 'x', dry_run: true })
    expect(parsed).toMatchObject({ request: { body: { note: 'x' } }, options: { dry_run: true } })
    expect(problems('update_agent', { agent_id: 'a', dry_run: true })).toMatchObject([
      { argument: 'arguments' },
    ])
  })

  test('that are omitted are not sent, because the platform has the defaults', () => {
    const parsed = parse('create_agent', newAgent)
    expect(parsed).toMatchObject({ ok: true })
    expect(parsed.ok && parsed.request.body).toEqual(newAgent)
  })

  test('keep false, 0, the empty string and unknown provider fields', () => {
    const body = {
      name: '',
      allow_auto_hangup: false,
      volume: { web: 0 },
      voice: { provider: 'new', brand_new: { deep: [0, false, null] } },
    }
    const parsed = parse('update_agent', { agent_id: 'a', ...body })
    expect(parsed.ok && parsed.request.body).toEqual(body)
  })

  test('that are unknown are reported with the closest known one', () => {
    expect(problems('list_agents', { nam: 'x' })).toEqual([unknown('nam', 'name')])
    expect(problems('get_agent', { agentId: 'x' })).toContainEqual(unknown('agentId', 'agent_id'))
    expect(problems('update_agent', { agent_id: 'a', volume: { webb: 1 } })).toEqual([
      unknown('volume.webb', 'web', 'telephony'),
    ])
  })

  test('that are unknown and resemble no known one are reported with all known ones', () => {
    expect(problems('get_call', { call_id: 'x', zzz: 1 })).toEqual([
      problem('zzz', 'call_id, from_turn, to_turn, search, account_id'),
    ])
  })

  test.each([
    ['2026-11-01', '2026-11-01'],
    ['today', new Date().toISOString().slice(0, 10)],
    ['Yesterday', new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)],
  ])('%s for a time is refused with the time at which that day begins', (start, day) => {
    expect(problems('get_usage', { start })).toEqual([problem('start', `${day}T00:00:00Z`)])
  })

  test('a text for a list whose names may contain commas is refused with the list', () => {
    const text = { phone_number_ids: 'Main line, Sales', name: 'x' }
    expect(problems('update_phone_number', text)).toEqual([
      problem('phone_number_ids', '["Main line","Sales"]'),
    ])
    expect(problems('update_phone_number', { ...text, phone_number_ids: 5 })).toMatchObject([
      { argument: 'phone_number_ids', message: expect.not.stringContaining('[') },
    ])
    const long = { agent_ids: 'x, '.repeat(1000), add_tags: ['a'] }
    expect(problems('update_agent', long)).toEqual([problem('agent_ids', '["one","other"]')])
  })

  test('names of Object.prototype are unknown arguments', () => {
    expect(problems('get_current_account', JSON.parse('{"__proto__": 1}'))).toEqual([
      problem('arguments', '__proto__'),
    ])
    expect(problems('get_current_account', { constructor: 1, toString: 2 })).toHaveLength(2)
  })

  test('objects and arrays may come as JSON text, at any depth', () => {
    const voice = { provider: 'elevenlabs', settings: { speed: 1.1 } }
    const parsed = parse('update_agent', {
      agent_id: 'a',
      voice: JSON.stringify({ ...voice, settings: JSON.stringify(voice.settings) }),
      tags: '["a"]',
    })
    expect(parsed.ok && parsed.request.body).toEqual({ voice, tags: ['a'] })
  })

  test('text that only looks like JSON stays text if the schema expects text', () => {
    const parsed = parse('update_agent', { agent_id: 'a', note: '{"not": "unpacked"}' })
    expect(parsed.ok && parsed.request.body).toEqual({ note: '{"not": "unpacked"}' })
    expect(problems('update_agent', { agent_id: 'a', voice: '{broken' })).toMatchObject([
      { argument: 'voice' },
    ])
  })

  test('a known field in another spelling is reported even if unknown fields are kept', () => {
    expect(
      problems('update_agent', { agent_id: 'a', voice: { voiceId: 'x', brandNew: 1 } }),
    ).toEqual([unknown('voice.voiceId', 'voice_id', 'provider')])
  })

  test('values that JSON cannot keep exactly are refused', () => {
    const metadata = (text: string) =>
      problems('create_agent', { ...newAgent, metadata: JSON.parse(text) })
    const isInexact = [{ argument: 'arguments', message: expect.not.stringContaining('__proto__') }]
    expect(metadata('{"n":12345678901234567890}')).toEqual(isInexact)
    expect(metadata('{"n":1e400}')).toEqual(isInexact)
    expect(metadata('{"a":{"__proto__":{"b":1}}}')).toEqual([problem('arguments', '__proto__')])
    expect(metadata(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)).toEqual([
      problem('arguments', '100'),
    ])
    expect(metadata('{"n":0.1,"i":9007199254740991}')).toEqual([])
  })

  test('an unpaired surrogate is refused in every text, with the name of the argument', () => {
    const call = { type: 'phone', agent_id: 'a', from_number: '+12025550110' }
    const mine = { ...call, to_number: '+12025550130', external_id: 'order \ud800' }
    expect(problems('place_call', mine)).toMatchObject([{ argument: 'external_id' }])
    expect(problems('place_call', { ...mine, external_id: 'order \u{1f4de}' })).toEqual([])
    const metadata = { 'name \udc00': 1 }
    expect(problems('create_agent', { ...newAgent, metadata })).toMatchObject([
      { argument: 'metadata' },
    ])
  })

  test('thousands of unknown names are reported briefly', () => {
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`x${at}`, 1]))
    expect(problems('list_agents', many).length).toBeLessThanOrEqual(21)
  })

  test('too many values are refused before they are parsed', () => {
    const tags = (count: number) =>
      problems('update_agent', { agent_id: 'x', tags: Array(count).fill('t') })
    expect(tags(9000)).toEqual([])
    expect(tags(10_000)).toEqual([problem('arguments', '10000')])
    expect(tags(300_000)).toEqual([problem('arguments', '10000')])
  })

  test('a missing required choice is reported with the choices', () => {
    expect(problems('place_call', { agent_id: 'a' })).toEqual([problem('type', 'phone, web')])
    expect(problems('get_agent', { agent: 'x' })).toContainEqual(unknown('agent', 'agent_id'))
  })

  test('an update that changes nothing is reported before it is sent', () => {
    expect(problems('update_sip_trunk', { sip_trunk_id: 'x' })).toEqual([
      {
        argument: 'arguments',
        message: expect.stringMatching(/name, termination_uri, allowed_ips\b.*\bclear\b/),
      },
    ])
  })

  test('all problems are reported at once', () => {
    const given = { nme: 'x', model: {}, voice: { provider: '', voice_id: 'x' } }
    const named = problems('create_agent', given).map(({ argument }) => argument)
    const wanted = ['nme', 'model.provider', 'model.model', 'transcriber', 'voice.provider']
    expect(named).toEqual(wanted)
  })
})
