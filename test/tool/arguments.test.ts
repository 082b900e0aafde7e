import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../src/tool/arguments.ts'
import { tools } from '../../tools/index.ts'
import { newAgent } from '../harness/story.ts'

function parse(name: string, args: Record<string, unknown>) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return parseArguments(tool, args)
}

function problems(name: string, args: Record<string, unknown>) {
  const parsed = parse(name, args)
  return parsed.ok ? [] : parsed.problems.map(({ argument, message }) => `${argument}: ${message}`)
}

describe('arguments', () => {
  test('go to path, query and body as the route has them', () => {
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

  test("that are the tool's own are kept apart from what is sent", () => {
    const parsed = parse('update_agent', { agent_id: 'a', note: 'x', dry_run: true })
    expect(parsed).toMatchObject({ request: { body: { note: 'x' } }, options: { dry_run: true } })
    expect(problems('update_agent', { agent_id: 'a', dry_run: true })[0]).toMatch(
      /nothing to change/,
    )
  })

  test('that are not given are not sent: the platform has the defaults', () => {
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
    expect(problems('list_agents', { nam: 'x' })).toEqual([
      'nam: no such argument; did you mean name?',
    ])
    expect(problems('get_agent', { agentId: 'x' })).toContain(
      'agentId: no such argument; did you mean agent_id?',
    )
    expect(problems('update_agent', { agent_id: 'a', volume: { webb: 1 } })).toEqual([
      'volume.webb: no such argument; did you mean web?',
    ])
  })

  test('that are unknown and close to none are reported with all known ones', () => {
    expect(problems('get_call', { call_id: 'x', zzz: 1 })).toEqual([
      'zzz: no such argument; known here: call_id, from_turn, to_turn, search, account_id',
    ])
  })

  test.each([
    ['2026-11-01', '2026-11-01'],
    ['today', new Date().toISOString().slice(0, 10)],
    ['Yesterday', new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)],
  ])('%s for a time is refused with the time at which that day begins', (start, day) => {
    expect(problems('get_usage', { start })).toEqual([
      `start: expected a date-time with a time zone: that day begins at ${day}T00:00:00Z in UTC; for another zone give its offset in place of Z, such as +01:00`,
    ])
  })

  test('a text for a list of names that may hold commas is refused with the list', () => {
    const text = { phone_number_ids: 'Main line, Sales', name: 'x' }
    expect(problems('update_phone_number', text)).toEqual([
      'phone_number_ids: expected a list, such as ["Main line","Sales"]',
    ])
    expect(problems('update_phone_number', { ...text, phone_number_ids: 5 })[0]).not.toContain('[')
    const long = { agent_ids: 'x, '.repeat(1000), add_tags: ['a'] }
    expect(problems('update_agent', long)).toEqual([
      'agent_ids: expected a list, such as ["one","other"]',
    ])
  })

  test('names that every object has are unknown too', () => {
    expect(problems('get_current_account', JSON.parse('{"__proto__": 1}'))[0]).toMatch(/__proto__/)
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

  test('text that only looks like JSON stays text where text is wanted', () => {
    const parsed = parse('update_agent', { agent_id: 'a', note: '{"not": "unpacked"}' })
    expect(parsed.ok && parsed.request.body).toEqual({ note: '{"not": "unpacked"}' })
    expect(problems('update_agent', { agent_id: 'a', voice: '{broken' })[0]).toMatch(/^voice: /)
  })

  test('a known field in another spelling is reported even where unknown fields are kept', () => {
    expect(
      problems('update_agent', { agent_id: 'a', voice: { voiceId: 'x', brandNew: 1 } }),
    ).toEqual(['voice.voiceId: no such argument; did you mean voice_id?'])
  })

  test('values that JSON cannot keep exactly are refused', () => {
    const metadata = (text: string) =>
      problems('create_agent', { ...newAgent, metadata: JSON.parse(text) })
    expect(metadata('{"n":12345678901234567890}')[0]).toMatch(/too large to be passed on exactly/)
    expect(metadata('{"n":1e400}')[0]).toMatch(/too large/)
    expect(metadata('{"a":{"__proto__":{"b":1}}}')[0]).toMatch(/__proto__/)
    expect(metadata(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)[0]).toMatch(
      /nested more than 100/,
    )
    expect(metadata('{"n":0.1,"i":9007199254740991}')).toEqual([])
  })

  test('half of a character is refused in every text, with the argument named', () => {
    const call = { type: 'phone', agent_id: 'a', from_number: '+12025550110' }
    const mine = { ...call, to_number: '+12025550130', external_id: 'order \ud800' }
    expect(problems('place_call', mine)).toEqual([
      'external_id: holds half of a character (broken Unicode), which cannot be passed on',
    ])
    expect(problems('place_call', { ...mine, external_id: 'order \u{1f4de}' })).toEqual([])
    const metadata = { 'name \udc00': 1 }
    expect(problems('create_agent', { ...newAgent, metadata })[0]).toMatch(/^metadata: holds half/)
  })

  test('thousands of unknown names are reported briefly', () => {
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`x${at}`, 1]))
    expect(problems('list_agents', many).length).toBeLessThanOrEqual(21)
  })

  test('more values than any request holds are refused before they are looked at', () => {
    const tags = (count: number) =>
      problems('update_agent', { agent_id: 'x', tags: Array(count).fill('t') })
    expect(tags(9000)).toEqual([])
    expect(tags(10_000)).toEqual(['arguments: more than 10000 values'])
    expect(tags(300_000)).toEqual(['arguments: more than 10000 values'])
  })

  test('a missing required choice is reported with the choices', () => {
    expect(problems('place_call', { agent_id: 'a' })).toEqual(['type: required; one of phone, web'])
    expect(problems('get_agent', { agent: 'x' })[0]).toBe(
      'agent: no such argument; did you mean agent_id?',
    )
  })

  test('an update that changes nothing is reported before it is sent', () => {
    expect(problems('update_sip_trunk', { sip_trunk_id: 'x' })).toEqual([
      'arguments: nothing to change; give at least one of name, termination_uri, allowed_ips, or what to clear in clear',
    ])
  })

  test('all problems are reported at once', () => {
    const given = { nme: 'x', model: {}, voice: { provider: '', voice_id: 'x' } }
    const named = problems('create_agent', given).map((problem) => problem.split(':', 1)[0])
    const wanted = ['nme', 'model.provider', 'model.model', 'transcriber', 'voice.provider']
    expect(named).toEqual(wanted)
  })
})
