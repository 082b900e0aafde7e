import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, type Person, tokenOf, yes } from '../harness/answering-client.ts'
import { type ClientKind, clientKinds } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { accepted, problems } from '../harness/parsed-arguments.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'

function meant(name: string, args: Record<string, unknown>) {
  const { request, options, coercions } = accepted(name, args)
  return { sent: { ...request.query, ...request.body, ...options }, coercions, request }
}

const refused = (name: string, args: Record<string, unknown>) =>
  problems(name, args).map(({ argument }) => argument)

describe('arguments with a single reading are coerced:', () => {
  test.each<[string, string, object, object, string]>([
    ['a number', 'list_agents', { limit: '3' }, { limit: 3 }, 'limit: "3" as 3'],
    [
      'yes or no',
      'list_agents',
      { is_archived: 'True' },
      { is_archived: true },
      'is_archived: "True" as true',
    ],
    ['one of a list', 'list_agents', { tags: 'vip' }, { tags: ['vip'] }, 'tags as '],
    [
      'several',
      'list_agents',
      { tags: 'vip, de' },
      { tags: ['vip', 'de'] },
      'tags: "vip, de" as ["vip","de"]',
    ],
    [
      'several long ones',
      'list_agents',
      { tags: `${'x'.repeat(80)},y` },
      { tags: ['x'.repeat(80), 'y'] },
      'x…" as [',
    ],
    ['all fields', 'list_calls', { fields: '*' }, { fields: ['*'] }, 'fields as '],
    [
      'a choice',
      'get_usage',
      { granularity: 'Day' },
      { granularity: 'day' },
      'granularity: "Day" as "day"',
    ],
    [
      'choices',
      'get_usage',
      { group_by: 'agent,type' },
      { group_by: ['agent', 'type'] },
      'group_by: "agent,type" as ["agent","type"]',
    ],
    ['an id', 'get_conversation', { conversation_id: 'x' }, { id: 'x' }, 'conversation_id as id'],
  ])('%s', (_, name, args, sent, reading) => {
    const read = meant(name, { ...args })
    expect(read.sent).toMatchObject(sent)
    expect(read.coercions).toEqual([expect.stringContaining(reading)])
  })

  test('names and objects of a reply', () => {
    const trunk = { id: 't', name: 'Main', is_managed: false }
    const given = { id: 'n', friendly_name: 'Desk', sip_trunk: trunk, inbound_agent: { id: 'a' } }
    const { request, coercions } = meant('update_phone_number', given)
    expect(request.params).toMatchObject({ phone_number_id: 'n' })
    expect(request.body).toEqual({ name: 'Desk', sip_trunk_id: 't', inbound_agent_id: 'a' })
    expect(coercions).toContain('friendly_name as name')
  })

  test('a model, languages and a voice as the catalogs list them', () => {
    const { sent } = meant('create_agent', {
      model: { provider: { code: 'openai', name: 'OpenAI' }, id: 'gpt-4.1' },
      transcriber: { provider: 'azure', languages: [{ code: 'de', name: 'German' }] },
      voice: { provider: 'elevenlabs', id: 'v', settings: { speed: '1.1' } },
    })
    expect(sent).toEqual({
      model: { provider: 'openai', model: 'gpt-4.1' },
      transcriber: { provider: 'azure', languages: ['de'] },
      voice: { provider: 'elevenlabs', voice_id: 'v', settings: { speed: 1.1 } },
    })
  })

  test('one object for a list of one', () => {
    const call = { to_number: '+12025550100', test_variables: { count: '3' } }
    expect(
      meant('place_calls', { agent_id: 'a', from_number: '+12025550110', calls: call }),
    ).toMatchObject({
      sent: { calls: [call] },
      coercions: [expect.stringContaining('calls as ')],
    })
  })

  test('numbers for calls to them, and no other text', () => {
    const common = { agent_id: 'a', from_number: '+12025550110' }
    const calls = ['+12025550100', { to_number: '+12025550101' }]
    expect(meant('place_calls', { ...common, calls })).toMatchObject({
      sent: { calls: [{ to_number: '+12025550100' }, { to_number: '+12025550101' }] },
      coercions: ['calls.0: "+12025550100" as {"to_number":"+12025550100"}'],
    })
    expect(refused('place_calls', { ...common, calls: ['Ada'] })).toEqual(['calls.0'])
    for (const other of ['2025550100', '+12025550100, +12025550101'])
      expect(refused('place_calls', { ...common, calls: [other] })).toEqual(['calls.0.to_number'])
    expect(refused('create_agent', { ...newAgent, model: '+12025550100' })).toEqual(['model'])
  })
})

describe('arguments with two possible meanings are refused:', () => {
  const agent = { agent_id: 'a' }
  test.each<[string, string, object, string]>([
    [
      'both names of a field',
      'update_phone_number',
      { phone_number_id: 'n', name: 'a', friendly_name: 'b' },
      'friendly_name',
    ],
    [
      'a keyword that may hold the comma',
      'create_agent',
      { ...newAgent, transcriber: { provider: 'azure', keywords: 'a, b' } },
      'transcriber.keywords',
    ],
    ['an empty text for a list', 'update_agent', { ...agent, tags: '' }, 'tags'],
    ['an empty tag', 'update_agent', { ...agent, tags: 'a,,b' }, 'tags'],
    ['a list in Python', 'update_agent', { ...agent, tags: "['a','b']" }, 'tags'],
    [
      'a number with a unit',
      'update_agent',
      { ...agent, max_duration_seconds: '5 min' },
      'max_duration_seconds',
    ],
    ['a number with digits to group', 'list_agents', { limit: '1,000' }, 'limit'],
    [
      'a number that loses digits',
      'create_agent',
      { ...newAgent, model: { ...newAgent.model, temperature: '0.12345678901234567890' } },
      'model.temperature',
    ],
    ['1 for true', 'update_agent', { ...agent, allow_auto_hangup: 1 }, 'allow_auto_hangup'],
    [
      'a telephone number without its plus',
      'place_call',
      { type: 'phone', ...agent, from_number: 12_025_550_110, to_number: '+12025550100' },
      'from_number',
    ],
    [
      'a number out of bounds',
      'update_agent',
      { ...agent, max_duration_seconds: '5' },
      'max_duration_seconds',
    ],
  ])('%s', (_, name, args, argument) => {
    expect(refused(name, { ...args })).toEqual([argument])
  })

  test('only the remaining problems are reported', () => {
    expect(refused('list_agents', { limit: '3', offset: 'x', tags: 'a' })).toEqual(['offset'])
  })
})

describe.each<ClientKind>(clientKinds)('for %s', (kind) => {
  let program: Program & { url: string }
  beforeAll(async () => {
    program = await startHttpProgram({ VOICE_AGENT_CONFIRM: 'auto' })
  })
  afterAll(() => program[Symbol.asyncDispose]())

  const everywhere: [string, () => Promise<Person>][] = [
    ['over stdio', () => connectPerson(kind, {})],
    ['over HTTP', () => connectPerson(kind, { url: program.url })],
  ]
  test.each(everywhere)(
    '%s a result, an error and a preview say what was read',
    async (_, connect) => {
      await using person = await connect()
      const list = await person.call('list_agents', { limit: '2', fields: 'note' })
      expect(list.structuredContent).toMatchObject({
        returned: 2,
        read_as: ['limit: "2" as 2', expect.stringContaining('fields as ')],
      })
      for (const reading of Object(list.structuredContent).read_as)
        expect(list.content.at(-1)?.text).toContain(reading)
      expect(await person.flaws('list_agents', list)).toBeUndefined()

      const missing = '00000000-0000-4000-8000-000000000000'
      const failed = await person.call('get_agent', { id: missing })
      expect(failed.isError).toBe(true)
      expect(failed.content.at(-1)?.text).toContain('id as agent_id')

      const made = await person.value('create_phone_number', {
        sip_trunk_id: seedIds.trunk,
        friendly_name: 'Desk',
      })
      const preview = await person.call('delete_phone_number', { id: made.id })
      expect(tokenOf(preview)).toBeDefined()
      expect(preview.content.at(-1)?.text).toContain('id as phone_number_id')
      const confirm_token = tokenOf(preview)
      const gone = await person.call('delete_phone_number', {
        phone_number_id: made.id,
        confirm_token,
      })
      expect(gone.isError, gone.content[0]?.text).toBeFalsy()
      expect(gone.structuredContent).not.toHaveProperty('read_as')
    },
  )

  test('a result after a confirmation reports coercions too', async () => {
    await using person = await connectPerson(kind, { answer: yes })
    const { id } = await person.value('create_phone_number', { sip_trunk_id: seedIds.trunk })
    const gone = await person.call('delete_phone_number', { id })
    expect(person.asked).toHaveLength(1)
    expect(gone.structuredContent).toMatchObject({ read_as: ['id as phone_number_id'] })
  })
})
