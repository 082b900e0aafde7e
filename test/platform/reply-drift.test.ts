import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectHttp, errorOf, type TestClient } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { envelope, type FakePlatform, json, startFakePlatform } from '../harness/fake-platform.ts'
import { jsonLog } from '../harness/json-log.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'

let platform: FakePlatform
let program: Program & { url: string }
let client: TestClient
beforeAll(async () => {
  platform = await startFakePlatform(() => undefined, { account: 'own' })
  program = await startHttpProgram({
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_LOG: 'json',
  })
  client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': 'sk-0123456789' })
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await program[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

/** Replies by the end of the path; 404 for all other paths. */
const answer = (replies: Record<string, unknown>) => {
  platform.seen.length = 0
  platform.behave(({ url }, res) => {
    const path = url.split('?', 1)[0] ?? ''
    const found = Object.entries(replies).find(([end]) => path.endsWith(end))
    if (found) json(res, 200, found[1])
    else json(res, 404, envelope('not_found'))
  })
}

const textOf = async (name: string, args: object) => {
  const { isError, content } = await client.call(name, { ...args })
  return { isError: isError ?? false, text: content[0]?.text ?? '' }
}

const id = '00000000-0000-4000-8000-000000000001'
const agent = { id, ...newAgent }

describe('a reply', () => {
  test('to a template check needs only `valid`: absent lists are empty', async () => {
    for (const more of [{}, { errors: null, warnings: null, variables: null }]) {
      answer({ 'validate-template': { valid: true, ...more } })
      expect(await client.value('validate_agent_template', { template: 'Hi' })).toMatchObject({
        valid: true,
        errors: [],
        warnings: [],
        variables: [],
        unknown_variables: [],
      })
    }
    answer({ 'validate-template': { valid: false } })
    const initial_message = { message: 'Hi {{ x' }
    const refused = await textOf('create_agent', { ...newAgent, initial_message })
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toMatch(/^- initial_message\.message: .*\btemplate\b/m)
    answer({ 'validate-template': { errors: [] } })
    expect((await textOf('validate_agent_template', { template: 'Hi' })).text).toMatch(
      /undocumented shape \(valid: /,
    )
  })

  test('may have messages without a role, which keep their text', async () => {
    const messages = [{ role: 'agent', message: 'Hello' }, { message: 'Yes?' }, { role: null }]
    answer({ 'calls/c1': { id: 'c1', messages } })
    const { transcript, summary } = await client.value('get_call', { call_id: 'c1' })
    expect(transcript).toMatchObject({
      turns: 3,
      spoken: [
        { turn: 1, role: 'agent', message: 'Hello' },
        { turn: 2, role: 'unknown', message: 'Yes?' },
        { turn: 3, role: 'unknown' },
      ],
    })
    expect(summary).toContain('3 turns, 1 spoken')
  })

  test('may have a catalog with eu_hosted null, a code as provider, and no list of models', async () => {
    answer({
      'providers/models': [
        { provider: { code: 'custom', eu_hosted: null }, models: [{ id: 'm1', name: null }] },
        { provider: 'other' },
        { provider: { code: 'third', eu_hosted: 'yes' }, models: null },
      ],
    })
    const { total, providers } = await client.value('list_models', {})
    expect(total).toBe(1)
    expect(providers).toMatchObject([
      { provider: { code: 'custom', eu_hosted: null }, models: [{ id: 'm1' }] },
      { provider: 'other', models: [] },
      { provider: { code: 'third' }, models: [] },
    ])
  })

  test.each<[string, unknown, unknown[], object]>([
    ['another key', { count: 1, results: [{ id: 'v' }] }, [{ id: 'v' }], { count: 1 }],
    ['a key after another list', { languages: ['de'], list: [{ id: 'v' }] }, [{ id: 'v' }], {}],
    [
      'voices, beside another list',
      { other: [{ x: 1 }], voices: [{ id: 'v' }] },
      [{ id: 'v' }],
      {},
    ],
    ['items', { items: [{ id: 'v' }] }, [{ id: 'v' }], {}],
    ['no key: the body itself', [{ id: 'v' }], [{ id: 'v' }], {}],
    ['a key with nothing', { provider: 'azure', found: [] }, [], {}],
    ['voices, null', { voices: null }, [], {}],
    ['a key beside voices, null', { voices: null, results: [{ id: 'v' }] }, [{ id: 'v' }], {}],
    ['a key beside items, empty', { items: [], results: [{ id: 'v' }] }, [{ id: 'v' }], {}],
    ['a key beside two empty lists', { voices: [], a: [], b: [{ id: 'v' }] }, [{ id: 'v' }], {}],
  ])('may have voices under %s', async (_, reply, voices, rest) => {
    answer({ 'providers/voices': reply })
    const result = await client.value('list_voices', { provider: 'azure' })
    expect(result).toMatchObject({ returned: voices.length, voices, ...rest })
  })

  test('loses its mistyped optional parts, and keeps the rest', async () => {
    const odd = {
      name: 7,
      note: 'Kept',
      tags: ['a', 5, null],
      model: 'gpt',
      volume: [1],
      new: { x: [1] },
    }
    answer({
      [`agents/${id}`]: { ...agent, ...odd },
      agents: { count: '2', items: [{ ...agent, ...odd }] },
    })
    const shown = await client.value('get_agent', { agent_id: id })
    const { name: _, model: __, ...kept } = agent
    expect(shown).toEqual({
      ...kept,
      account_id: 'own',
      note: 'Kept',
      tags: ['a'],
      new: { x: [1] },
    })
    expect(await client.value('list_agents', {})).toMatchObject({
      total: null,
      items: [{ id, tags: ['a'] }],
    })
  })

  test('is an error if a required part is missing, or if a sum would be wrong', async () => {
    answer({ agents: { items: [{ id: 'a1' }, { name: 'No id' }] } })
    expect((await textOf('list_agents', {})).text).toMatch(/undocumented shape \(items\.1\.id: /)
    const tolerated = { id: 'n1', number: 5, friendly_name: 6, sip_trunk: 7 }
    answer({ 'phone-numbers': { items: [tolerated, { number: '+12025550110' }] } })
    expect((await textOf('list_phone_numbers', {})).text).toContain(
      'undocumented shape (items.1.id: expected string, found nothing)',
    )
    answer({ agents: { count: 0 } })
    expect((await textOf('list_agents', {})).text).toMatch(/undocumented shape \(items: /)
    const bucket = { ts: '2026-11-01T00:00:00Z', values: [{ seconds: '60', conversations: 1 }] }
    answer({ usage: { data: [bucket] } })
    expect((await textOf('get_usage', {})).text).toMatch(/undocumented shape .*seconds: /)
  })
})

describe('a dropped part of a reply', () => {
  test('is logged once, without its value', async () => {
    answer({
      'sip-trunks': {
        items: [1, 2, 3].map((at) => ({
          id: `t${at}`,
          name: 4711,
          sip_auth_username: { secret: 'S' },
        })),
      },
    })
    for (let times = 0; times < 3; times++) await client.value('list_sip_trunks', {})
    await expect
      .poll(() =>
        jsonLog(program.stderr()).filter((line) => /sip_trunks\.list/.test(String(line.message))),
      )
      .toMatchObject([
        {
          level: 'warn',
          message: expect.stringContaining('items.*.name: expected string, found number'),
        },
        {
          level: 'warn',
          message: expect.stringContaining(
            'items.*.sip_auth_username: expected string, found object',
          ),
        },
      ])
    expect(program.stderr()).not.toMatch(/4711|secret/)
  })

  test('is not overwritten: single tags of an incomplete list cannot be changed', async () => {
    answer({ [`agents/${id}`]: { ...agent, tags: ['a', 5] } })
    const refused = await textOf('update_agent', { agent_id: id, add_tags: ['b'] })
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain('add_tags: ')
    expect(platform.seen.map(({ method }) => method)).toEqual(['GET'])
    await client.value('update_agent', { agent_id: id, tags: ['b'] })
    expect(platform.seen.map(({ method }) => method)).toContain('PATCH')
  })

  test('is named in the result of a copy that lacks it', async () => {
    answer({
      [`agents/${id}`]: { ...agent, tags: 'a,b', note: 5 },
      agents: { ...agent, id: 'a2', items: [] },
    })
    const { warnings } = await client.value('copy_agent', { agent_id: id, name: 'Copy' })
    expect(warnings).toEqual([expect.stringMatching(/^not copied, .*: note, tags$/)])
  })

  test('does not make an agent unused', async () => {
    answer({
      [`agents/${id}`]: agent,
      'phone-numbers': { items: [{ id: 'n1', inbound_agent: id }] },
      calls: { items: [] },
    })
    const kept = await client.call('archive_agent', { agent_ids: [id], unused_only: true })
    expect(errorOf(kept).kind).toBe('all_failed')
    expect(kept.content[0]?.text).toMatch(/\bundocumented\b/)
    expect(platform.seen.some(({ method }) => method === 'DELETE')).toBe(false)
  })
})
