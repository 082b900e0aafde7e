import { describe, expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { accepted, problem, problems } from '../harness/parsed-arguments.ts'

const bodyOf = (name: string, args: Record<string, unknown>) => accepted(name, args).request.body

const change = (more: Record<string, unknown>) => ({ agent_id: 'a', ...more })

describe('null', () => {
  test('for a filter, a path parameter and an option means not given', () => {
    const nulls = { name: null, limit: null, fields: null, account_id: null }
    expect(accepted('list_agents', nulls)).toMatchObject({
      request: { params: { account_id: 'me' }, query: { limit: 20 } },
      options: {},
    })
  })

  test('in a body means not given, at every depth, also in JSON text', () => {
    const voice = { ...newAgent.voice, language: null, settings: { speed: 1, stability: null } }
    const given = {
      ...newAgent,
      note: null,
      metadata: null,
      volume: { web: 0, telephony: null },
      denoising: null,
    }
    const sent = {
      ...newAgent,
      voice: { ...newAgent.voice, settings: { speed: 1 } },
      volume: { web: 0 },
    }
    expect(bodyOf('create_agent', { ...given, voice })).toEqual(sent)
    expect(bodyOf('create_agent', { ...given, voice: JSON.stringify(voice) })).toEqual(sent)
  })

  test('in the objects of a list means not given', () => {
    const calls = [{ to_number: '+12025550100', external_id: null, test_variables: null }]
    const { options } = accepted('place_calls', { agent_id: 'a', from_number: null, calls })
    expect(options).toEqual({ calls: [{ to_number: '+12025550100' }] })
  })

  test('in all fields of an object means that the object is not given; an empty object is given', () => {
    const nulls = { web: null, telephony: null, allow_adjustment: null }
    expect(bodyOf('update_agent', change({ note: 'x', volume: nulls }))).toEqual({ note: 'x' })
    expect(bodyOf('create_agent', { ...newAgent, volume: {}, denoising: '{}' })).toEqual({
      ...newAgent,
      volume: {},
      denoising: {},
    })
  })

  test('in free-form data is data', () => {
    const metadata = { a: null, b: { c: [null] } }
    const voice = { brand_new: null, deep: { x: null } }
    expect(bodyOf('update_agent', change({ metadata, voice }))).toEqual({ metadata, voice })
    const test_variables = { name: null }
    const overrides = { note: null, volume: { web: null } }
    const call = { type: 'web', agent_id: 'a', test_variables, overrides }
    expect(bodyOf('place_call', call)).toEqual(call)
    const calls = [{ to_number: '+12025550100', test_variables }]
    expect(accepted('place_calls', { agent_id: 'a', calls }).options).toEqual({ calls })
  })

  test('for a required argument is reported as missing', () => {
    const isRequired = (argument: string) => [problem(argument, 'required')]
    expect(problems('create_subaccount', { name: null })).toEqual(isRequired('name'))
    expect(problems('get_agent', { agent_id: null })).toEqual(isRequired('agent_id'))
    const model = { ...newAgent.model, provider: null }
    expect(problems('create_agent', { ...newAgent, model })).toEqual(isRequired('model.provider'))
    const calls = [{ to_number: null }]
    expect(problems('place_calls', { agent_id: 'a', calls })).toEqual(
      isRequired('calls.0.to_number'),
    )
  })

  test('is refused as an item of a list', () => {
    expect(problems('update_agent', change({ tags: ['a', null] }))).toEqual([
      problem('tags.1', 'null'),
    ])
  })

  test('alone is no update, and the refusal names the argument clear', () => {
    const nulls = change({ note: null, voice: { language: null } })
    expect(problems('update_agent', nulls)).toEqual([
      problem('arguments', '{"clear":["note","voice.language"]}'),
    ])
    const trunk = { sip_trunk_id: 'x', name: null, termination_uri: null }
    expect(problems('update_sip_trunk', trunk)).toEqual([
      problem('arguments', '{"clear":["name","termination_uri"]}'),
    ])
  })

  test('that was ignored is reported by an update, and by a creation if the setting is nullable', () => {
    const nulls = { name: null, volume: { web: null }, metadata: { a: null }, dry_run: null }
    const { ignoredNulls } = accepted('update_agent', change({ note: 'x', ...nulls }))
    expect(ignoredNulls).toEqual(['name', 'volume.web'])
    const created = accepted('create_agent', {
      ...newAgent,
      note: null,
      ambient_sound: { source: null },
    })
    expect(created.ignoredNulls).toEqual(['ambient_sound.source'])
  })
})

describe('clear', () => {
  test('sends null for the named fields only', () => {
    const clear = ['note', 'ambient_sound.source', 'inactivity_settings.reminder_timeout_ms']
    const given = { name: null, ambient_sound: { volume: 0.3, source: null }, tags: ['a'] }
    const parsed = accepted('update_agent', change({ ...given, clear }))
    expect(parsed.request.body).toEqual({
      tags: ['a'],
      note: null,
      ambient_sound: { volume: 0.3, source: null },
      inactivity_settings: { reminder_timeout_ms: null },
    })
    expect(parsed.cleared).toEqual(clear)
    // The selection of agents is an option of the tool, not part of the body.
    expect(parsed.options).toEqual({ agent_id: 'a' })
  })

  test("removes a number's trunk and agent, and clears fields of a trunk", () => {
    const clear = ['sip_trunk_id', 'inbound_agent_id']
    expect(bodyOf('update_phone_number', { phone_number_id: 'x', clear })).toEqual({
      sip_trunk_id: null,
      inbound_agent_id: null,
    })
    const trunk = { sip_trunk_id: 'x', name: 'New', clear: '["termination_uri"]' }
    expect(bodyOf('update_sip_trunk', trunk)).toEqual({ name: 'New', termination_uri: null })
  })

  test('of an object and of its fields clears the object', () => {
    const clear = ['ambient_sound.source', 'ambient_sound', 'ambient_sound']
    expect(bodyOf('update_agent', change({ clear }))).toEqual({ ambient_sound: null })
  })

  test('sends null for a setting of a new agent', () => {
    const clear = [
      'ambient_sound.source',
      'inactivity_settings.reminder_timeout_ms',
      'inactivity_settings.end_call_timeout_ms',
    ]
    expect(bodyOf('create_agent', { ...newAgent, clear })).toEqual({
      ...newAgent,
      ambient_sound: { source: null },
      inactivity_settings: { reminder_timeout_ms: null, end_call_timeout_ms: null },
    })
    expect(problems('create_agent', { ...newAgent, clear: ['note'] })).toEqual([
      problem('clear.0', clear.join(', ')),
    ])
  })

  test('leaves keys of free-form data out of the body, and sends null for unknown provider fields', () => {
    const parsed = accepted(
      'update_agent',
      change({ clear: ['metadata.a.b', 'voice.brand_new.x'] }),
    )
    expect(parsed.request.body).toEqual({ voice: { brand_new: { x: null } } })
    expect(parsed.cleared).toContain('metadata.a.b')
  })

  /** A path that no tested path resembles, so it is only in the full list. */
  const unlike = 'inactivity_settings.reminder_timeout_ms'

  test.each([
    ['nte', 'note'],
    ['ambient_sound.sourse', 'ambient_sound.source'],
    ['source', 'ambient_sound.source'],
    ['/ambient_sound/source', 'ambient_sound.source'],
    ['metadata.', 'metadata'],
    ['note.x', 'note'],
    ['voice.langage', 'voice.language'],
  ])('of an unknown path is refused with the closest path: %j', (path, meant) => {
    const found = problems('update_agent', change({ tags: ['x'], clear: [path] }))
    expect(found).toEqual([problem('clear.0', meant)])
    expect(found[0]?.message).not.toContain(unlike)
  })

  test.each([
    ...['agent_id', '', 'voice.__proto__'],
    // Fields that exist but cannot be cleared.
    ...['model.provider', 'voice.voice_id'],
  ])('of a path that resembles no clearable path is refused with all of them: %j', (path) => {
    const found = problems('update_agent', change({ note: 'x', clear: [path] }))
    expect(found).toEqual([problem('clear.0', path)])
    expect(found[0]?.message).toContain(unlike)
  })

  test('of an object that cannot be cleared is refused with its clearable fields', () => {
    const found = problems('update_agent', change({ clear: ['model'] }))
    expect(found).toEqual([problem('clear.0', 'model.max_tokens, model.temperature')])
    expect(found[0]?.message).not.toContain(unlike)
  })

  test('of a field that the platform does not clear is refused with the clearable fields', () => {
    const clear = ['name']
    expect(problems('update_phone_number', { phone_number_id: 'x', clear })).toEqual([
      problem('clear.0', 'inbound_agent_id, sip_trunk_id'),
    ])
  })

  test.each<[object, string]>([
    [{ note: 'x' }, 'note'],
    [{ ambient_sound: { source: 'ac_fan' } }, 'ambient_sound.source'],
    [{ volume: { web: 1 } }, 'volume'],
    [{ metadata: { a: null } }, 'metadata.a'],
    [{ metadata: { a: { b: 1 } } }, 'metadata.a.b'],
    [{ metadata: { 'a.b': 1 } }, 'metadata.a.b'],
    [{ metadata: { a: 1 } }, 'metadata.a.b'],
    [{ voice: { brand_new: null } }, 'voice.brand_new'],
  ])('of a field that is also given is refused: %j and %s', (given, path) => {
    const found = problems('update_agent', change({ ...given, clear: [path] }))
    expect(found).toEqual([problem('clear.0', path)])
    expect(found[0]?.message).not.toContain(unlike)
  })

  test('is not an argument of tools that can clear nothing', () => {
    expect(problems('create_sip_trunk', { clear: ['name'] })).toContainEqual(
      problem('clear', 'name, termination_uri'),
    )
  })

  test('accepts a limited number of paths', () => {
    const many = Array.from({ length: 51 }, (_, at) => `metadata.k${at}`)
    expect(problems('update_agent', change({ clear: many }))).toEqual([problem('clear', '50')])
    expect(problems('update_agent', change({ clear: many.slice(1) }))).toEqual([])
    const long = `metadata.${'x'.repeat(1000)}`
    expect(problems('update_agent', change({ clear: [long] }))).toMatchObject([
      { argument: 'clear.0' },
    ])
  })
})
